import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  gatedGpus,
  podGpus,
  topGangOf,
  topOrdered,
  topReason,
  topTotals,
  type TopPod,
} from '../../../../src/status/top.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import type { GangView } from '../../../../src/controller/watch/gang-view.ts';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { Resources } from '../../../../src/k8s/field-reader.ts';
import { bound, FULL, gang, group, INITIALIZED, pod, PODS, running, statusOf } from '../status/gangs.ts';

const GPU = 'nvidia.com/gpu';
const asks = (gpus: number): Resources =>
  new Map([
    [GPU, gpus],
    ['cpu', 1000],
    ['hugepages-2Mi', 1],
  ]);
const CREATED = Date.parse('2026-06-01T11:59:00Z');

const asking = (resource: string, amount: string): object => ({
  name: 'c',
  resources: { limits: { [resource]: amount } },
});

const rowOf = (of: GangRecord | undefined, pods: readonly PodRecord[], gpus = 2) =>
  topGangOf({
    gang: of,
    status: statusOf(of === undefined ? [] : [of], pods),
    pods: new Map(pods.map(({ name }): [string, TopPod] => [name, { requests: asks(gpus), since: CREATED }])),
  });
const formed = (parts: Partial<GangRecord> = {}): GangRecord =>
  gang({ conditions: [INITIALIZED], groups: FULL, ...parts });
const free = (name: string): PodRecord => pod(name, { gates: [] });
const ended = (name: string, parts: Partial<PodRecord>): PodRecord => bound(name, parts);
const [LEADER, FIRST, SECOND] = ['leader-0', 'workers-0', 'workers-1'] as const;

type Case = readonly [
  what: string,
  gang: GangRecord | undefined,
  pods: readonly PodRecord[],
  found: readonly [reason: string, gated: number, all: number, gpus: number] | undefined,
];

const CASES: readonly Case[] = [
  ['Pods whose PodGang is not there', undefined, [pod(LEADER)], ['PodGang', 1, 1, 2]],
  ['missing Pods', gang(), [pod(FIRST)], ['Pods', 1, 1, 2]],
  ['no Pods at all', gang(), [], ['Pods', 0, 0, 0]],
  ['references', gang(), PODS, ['Initialized', 3, 3, 6]],
  ['gates of a gang that has formed', formed(), PODS, ['gates', 3, 3, 6]],
  ['one gate left', formed(), [running(LEADER), running(FIRST), pod(SECOND)], ['gates', 1, 3, 2]],
  ['a node', formed(), [LEADER, FIRST, SECOND].map(free), ['scheduler', 0, 3, 0]],
  [
    'another gate',
    formed(),
    [running(LEADER), running(FIRST), pod(SECOND, { gates: ['x'] })],
    ['scheduler', 0, 3, 0],
  ],
  ['containers', formed(), [running(LEADER), running(FIRST), bound(SECOND)], ['Ready', 0, 3, 0]],
  ['a Pod below the minimum', formed(), [running(LEADER), running(FIRST)], ['Pods', 0, 2, 0]],
  [
    'a Pod in place of one that ends',
    gang(),
    [...PODS.slice(0, 2), pod(SECOND, { deletionTimestamp: 'x' })],
    ['Pods', 2, 2, 4],
  ],
  [
    'a Pod in place of one that failed',
    gang(),
    [...PODS.slice(0, 2), pod(SECOND, { phase: 'Failed' })],
    ['Pods', 2, 2, 4],
  ],
  [
    'Pods, and one is above what it expects',
    gang(),
    [pod(FIRST), pod(SECOND), pod('workers-2')],
    ['Pods', 2, 2, 4],
  ],
  ['Pods, and one is of no group', gang(), [pod(FIRST), pod('other-0')], ['Pods', 1, 1, 2]],
  ['nothing: it runs', formed(), [LEADER, FIRST, SECOND].map(running), undefined],
  [
    'nothing: a Pod too many is gated',
    formed(),
    [...[LEADER, FIRST, SECOND].map(running), pod('workers-2')],
    undefined,
  ],
  [
    'nothing: its Pods end, and there is no PodGang',
    undefined,
    [ended(LEADER, { deletionTimestamp: 'x' })],
    undefined,
  ],
];

describe('a gang waits for', () => {
  test.each(CASES)('%s', (_what, of, pods, found) => {
    const row = rowOf(of, pods);
    expect(row && [row.reason, row.pods.gated, row.pods.all, row.asked.get(GPU) ?? 0]).toEqual(found);
    if (row !== undefined)
      expect([...row.asked.keys()].filter((name) => name !== GPU && name !== 'cpu')).toEqual([]);
  });

  test.each(CASES)('on a page: %s', (_what, of, pods, found) => {
    const status = statusOf(of === undefined ? [] : [of], pods);
    const known = new Map(pods.map((one) => [one.name, { ...one, gpus: 2 }]));
    const view = { pods: { get: (_: string, name: string) => known.get(name) } } as unknown as Pick<
      GangView,
      'pods'
    >;
    expect(topReason(status)).toBe(found?.[0]);
    expect(gatedGpus(status, view)).toBe(found?.[3] ?? 0);
  });

  test.each<[string, GangRecord | undefined, readonly PodRecord[], string | undefined]>([
    ['its creation', gang(), PODS, '2026-06-01T11:58:00Z'],
    ['that of its first Pod once it has formed', formed(), PODS, '2026-06-01T11:59:00Z'],
    ['that of its first Pod where it is not there', undefined, PODS, '2026-06-01T11:59:00Z'],
    [
      'a condition turned, where no Pod waits',
      formed({ conditions: [INITIALIZED, { ...INITIALIZED, type: 'Ready', status: 'False' }] }),
      [running(LEADER)],
      '2026-06-01T11:00:00Z',
    ],
    ['nobody knows', formed(), [running(LEADER)], undefined],
  ])('since %s', (_what, of, pods, since) => {
    expect(rowOf(of, pods)?.since).toBe(since === undefined ? undefined : Date.parse(since));
  });
});

test.each<[string, object, number]>([
  ['all containers', { containers: [asking('nvidia.com/gpu', '2'), asking('amd.com/gpu', '1')] }, 3],
  ['nothing else', { containers: [asking('cpu', '4'), asking('nvidia.com/gpu.shared', '1')] }, 0],
  ['what an init container needs more', { containers: [], initContainers: [asking(GPU, '4')] }, 4],
  ['nothing that cannot be read', { containers: [asking(GPU, 'many')] }, 0],
  ['nothing of a Pod without a spec', {}, 0],
])('the GPUs of a Pod are those of %s', (_what, spec, gpus) => {
  expect(podGpus({ metadata: { name: 'p' }, spec: spec as JsonObject })).toBe(gpus);
});

test('a gang that has failed holds no GPUs back by a gate that is left', () => {
  const waiting = statusOf([formed()], PODS);
  const view = { pods: { get: () => ({ gpus: 2 }) } } as unknown as Pick<GangView, 'pods'>;
  expect(gatedGpus(waiting, view)).toBe(6);
  const summary = waiting.summary && { ...waiting.summary, phase: 'Failed' as const };
  expect(gatedGpus({ ...waiting, summary }, view)).toBe(0);
});

const KAI = new Map([['kai.scheduler/queue', 'a']]);
const VOLCANO = new Map([['scheduling.grove.io/volcano-queue', ' c ']]);
const queueCases: readonly (readonly [string, string, Partial<GangRecord>, string | undefined])[] = [
  ['the label for KAI', 'kai-scheduler', { labels: KAI }, 'a'],
  ['the annotation for KAI', 'kai-scheduler', { annotations: KAI }, 'a'],
  ['that of Volcano', 'volcano', { annotations: VOLCANO }, 'c'],
  ['none', 'kai-scheduler', {}, undefined],
  ['none that KAI reads', 'kai-scheduler', { annotations: VOLCANO }, undefined],
  ['none that Volcano reads', 'volcano', { labels: KAI }, undefined],
  [
    'both, of a scheduler without queues',
    'default-scheduler',
    { labels: KAI, annotations: VOLCANO },
    undefined,
  ],
];
test.each(queueCases)(
  'the queue that a PodGang names: %s',
  (_what, backend, { labels = [], ...parts }, queue) => {
    const of = { ...parts, labels: new Map([...labels, ['grove.io/scheduler-name', backend]]) };
    expect(statusOf([gang(of)], []).queue).toBe(queue);
  },
);

test('the order is by time, reason or resources', () => {
  const [missing, formedLater, large] = [
    rowOf(gang(), [pod(FIRST)], 1),
    rowOf(formed(), PODS, 1),
    rowOf(gang({ creationTimestamp: undefined }), PODS, 8),
  ].flatMap((row) => row ?? []);
  if (missing === undefined || formedLater === undefined || large === undefined) throw new Error('no rows');
  const rows = [{ ...large, since: undefined }, formedLater, missing];
  const reasons = (by: 'time' | 'reason' | 'resources') => topOrdered(rows, by).map(({ reason }) => reason);
  expect(reasons('time')).toEqual(['Pods', 'gates', 'Initialized']);
  expect(reasons('reason')).toEqual(['Pods', 'Initialized', 'gates']);
  expect(reasons('resources')).toEqual(['Initialized', 'gates', 'Pods']);
});

test.each<[asked: number, free: Resources, idle: number]>([
  [6, new Map([[GPU, 4]]), 4],
  [6, new Map([[GPU, 40]]), 6],
  [6, new Map([['amd.com/gpu', 8]]), 0],
])('of %d GPUs that gates ask for, the free ones are idle because of them', (asked, available, idle) => {
  const row = rowOf(formed(), PODS);
  const totals = topTotals(row === undefined ? [] : [row], available);
  expect([totals.asked.get(GPU), totals.idle?.get(GPU) ?? 0]).toEqual([asked, idle]);
});

const podsOf = fc.uniqueArray(
  fc.record({
    name: fc
      .tuple(fc.constantFrom('leader', 'workers', 'other'), fc.nat(4))
      .map(([of, index]) => `${of}-${index}`),
    state: fc.constantFrom(
      {},
      { gates: [] },
      { gates: [], nodeName: 'n' },
      { gates: [], nodeName: 'n', ready: true, phase: 'Running' },
      { deletionTimestamp: '2026-06-01T12:00:00Z' },
      { phase: 'Failed' },
    ),
  }),
  { selector: ({ name }) => name, maxLength: 12 },
);

test('totals are the sums over gangs, nothing is negative, and no Pod counts that ends or is too many', () => {
  const one = fc.record({
    pods: podsOf,
    isThere: fc.boolean(),
    isFormed: fc.boolean(),
    minimum: fc.nat(4),
    gpus: fc.nat(8),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 5 }), fc.nat(50), (all, available) => {
      const rows = all.flatMap(({ pods, isThere, isFormed, minimum, gpus }) => {
        const of = gang({
          groups: [group('leader', 1), group('workers', minimum)],
          conditions: isFormed ? [INITIALIZED] : [],
        });
        const records = pods.map(({ name, state }) => pod(name, state));
        const row = rowOf(isThere ? of : undefined, records, gpus);
        const gates = records.filter(
          ({ gates: some, deletionTimestamp, phase }) =>
            some.length > 0 && deletionTimestamp === undefined && phase !== 'Failed',
        ).length;
        if (row === undefined) return [];
        const most = isThere ? Math.min(gates, 1 + minimum) : gates;
        expect(row.pods.gated).toBeLessThanOrEqual(most);
        expect(row.pods.gated).toBeLessThanOrEqual(row.pods.all);
        expect(row.asked.get(GPU) ?? 0).toBe(row.pods.gated * gpus);
        return [row];
      });
      const totals = topTotals(rows, new Map([[GPU, available]]));
      const sum = (of: (row: (typeof rows)[number]) => number): number =>
        rows.reduce((before, row) => before + of(row), 0);
      const asked = sum((row) => row.asked.get(GPU) ?? 0);
      expect(totals.asked.get(GPU) ?? 0).toBe(asked);
      expect(totals.gatedPods).toBe(sum((row) => row.pods.gated));
      expect([...totals.reasons.values()].reduce((before, count) => before + count, 0)).toBe(totals.gangs);
      expect(totals.idle?.get(GPU) ?? 0).toBe(Math.min(asked, available));
      expect([...totals.asked.values()].every((count) => count > 0)).toBe(true);
    }),
  );
});
