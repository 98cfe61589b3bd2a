/** The Pods of a gang that come after its first start. */
import { describe, expect, test } from '@jest/globals';
import { countsWhatIsLeft, gangKinds } from '../../../../src/workloads/kinds.ts';
import type { Condition } from '../../../../src/api/pod-gang.ts';
import { CONDITION_SCHEDULED } from '../../../../src/gang/plan/conditions.ts';
import { planGang } from '../../../../src/gang/plan/plan.ts';
import type { GangRecord, PodRecord } from '../../../../src/gang/records.ts';
import { readPodRecord } from '../../../../src/gang/read-records.ts';
import {
  bound,
  FULL,
  gang,
  group,
  INITIALIZED,
  pod,
  reasons,
  released,
  running,
  state,
  written,
} from './gang-states.ts';

const whole = gang({ groups: FULL, conditions: [INITIALIZED] });
const HALF = [group('leader', 1, 'leader-0'), group('workers', 2, 'workers-0')];
const NEXT = ['leader-0', 'workers-0', 'workers-1'].map((name) => pod(name));
const ending = (name: string, parts: Partial<PodRecord> = {}): PodRecord => ({
  ...running(name),
  deletionTimestamp: '2026-06-01T11:59:30Z',
  ...parts,
});
const scheduledIs = (status: 'True' | 'False', reason: string): Condition => ({
  ...{ type: CONDITION_SCHEDULED, status, reason, message: 'as it was' },
  ...{ lastTransitionTime: '2026-06-01T11:59:00Z', observedGeneration: 1 },
});
const KINDS = { 'counts no Pod that ends': false, 'counts Pods until they are gone': true };
const of = (pods: readonly PodRecord[], given: { countsEnding?: boolean; gang?: GangRecord } = {}) =>
  planGang(
    state({
      gang: given.gang ?? whole,
      pods,
      backend: { ...state().backend, countsEnding: given.countsEnding ?? false },
    }),
  );

describe.each(Object.entries(KINDS))('where the scheduler %s', (_what, countsEnding) => {
  test.each<[string, PodRecord[]]>([
    ['runs', [running('leader-9')]],
    ['is let go and has no node yet', [pod('leader-9', { gates: [] })]],
    ['is held by another gate', [pod('leader-9', { gates: ['kueue'] })]],
  ])('a Pod goes at once where another of its gang %s', (_which, others) => {
    expect(released(of([...others, pod('workers-0')], { countsEnding }))).toEqual(['workers-0']);
  });

  test('a gang of which none is left forms anew: each waits for the others, and it says so', () => {
    const half = of(NEXT.slice(0, 2), {
      countsEnding,
      gang: gang({ groups: HALF, conditions: [INITIALIZED] }),
    });
    expect(released(half)).toEqual([]);
    const why = 'the next generation forms: waiting for Pods: workers 1/2';
    expect(reasons(half)).toEqual({ 'leader-0': why, 'workers-0': why });
    expect(written(half, 'Scheduled')).toMatchObject({
      status: 'False',
      reason: 'NextGenerationForming',
      message: `bound leader 0/1, workers 0/2; ${why}`,
    });
    expect(half.summary?.why).toContain(why);
    expect(released(of(NEXT, { countsEnding }))).toEqual(['leader-0', 'workers-0', 'workers-1']);
  });

  test.each<[string, Condition[], string[]]>([
    ['its gang ran a moment ago', [scheduledIs('True', 'PodsBound')], ['Warning']],
    ['its gang has lost its Pods one by one', [scheduledIs('False', 'PodsPending')], ['Normal']],
    ['it has been told, and one more Pod is there', [scheduledIs('False', 'NextGenerationForming')], []],
  ])('an Event tells of it once: %s', (_when, conditions, types) => {
    const formed = gang({ groups: HALF, conditions: [INITIALIZED, ...conditions] });
    const { events } = of(NEXT.slice(0, 2), { countsEnding, gang: formed });
    const told = events.filter(({ reason }) => reason === 'NextGenerationForming');
    expect(told.map(({ type }) => type)).toEqual(types);
  });

  test('Pods that have failed, or were on no node and are on their way out, are none that it waits for or with', () => {
    const former = [
      bound('workers-8', { phase: 'Failed' }),
      ending('workers-9', { nodeName: '', phase: 'Pending' }),
      ending('workers-7', { phase: 'Failed' }),
    ];
    expect(released(of([...former, ...NEXT.slice(0, 2)], { countsEnding }))).toEqual([]);
    expect(released(of([...former, ...NEXT], { countsEnding }))).toHaveLength(3);
  });

  test('it goes on where it was left in the midst of being let go', () => {
    const [leader, ...others] = NEXT as [PodRecord, ...PodRecord[]];
    expect(released(of([{ ...leader, gates: [] }, ...others], { countsEnding }))).toHaveLength(2);
  });

  test('the workers of another revision run no more than those that end', () => {
    const old = ['workers-7', 'workers-8'].map((name) => ({ ...running(name), revision: 'a' }));
    const made = NEXT.map((one) => ({ ...one, revision: 'b' }));
    const one = of([...old, ...made.slice(0, 1)], { countsEnding });
    expect(released(one)).toEqual([]);
    expect(reasons(one)['leader-0']).toBe(
      'the next generation forms: waiting for Pods: workers 0/2; waiting for Pods of the generation before to go: workers-7 on node-1, workers-8 on node-1',
    );
    // A scheduler counts those that live, whatever it does of those that end.
    expect(released(of([...old, ...made], { countsEnding }))).toEqual([]);
    const gone = old.map((pod) => ({ ...pod, deletionTimestamp: '2026-06-01T11:59:30Z' }));
    expect(released(of([...gone, ...made], { countsEnding }))).toHaveLength(countsEnding ? 0 : 3);
    // Of one revision it is a loss that is made good.
    const same = made.map((pod) => ({ ...pod, revision: 'a' }));
    expect(released(of([...old, ...same.slice(0, 1)], { countsEnding }))).toEqual(['leader-0']);
  });

  test('workers that are older than their leader go with the leader before it', () => {
    const [first, second] = ['2026-06-01T11:00:00Z', '2026-06-01T11:59:00Z'];
    const old = ['workers-7', 'workers-8'].map((name) => ({
      ...running(name),
      ...{ revision: 'a', creationTimestamp: first },
    }));
    const made = NEXT.map((one) => ({ ...one, revision: 'a', creationTimestamp: second }));
    const [leader, ...workers] = made.map((one, at) => (at === 0 ? { ...one, leads: true as const } : one));
    if (leader === undefined) throw new Error('there is no leader');
    expect(released(of([...old, leader], { countsEnding }))).toEqual([]);
    expect(released(of([...old, leader, ...workers], { countsEnding }))).toEqual([]);
    expect(released(of([leader, ...workers], { countsEnding }))).toHaveLength(3);
    // A worker alone that was lost is made good.
    const leads = {
      ...running('leader-0'),
      ...{ leads: true as const, revision: 'a', creationTimestamp: first },
    };
    expect(released(of([leads, ...old.slice(1), ...workers.slice(0, 1)], { countsEnding }))).toHaveLength(1);
  });
});

test('the next generation waits for Pods that end where its scheduler counts them', () => {
  const pods = [ending('workers-7'), ending('leader-9'), ...NEXT];
  expect(released(of(pods))).toHaveLength(3);
  const held = of(pods, { countsEnding: true });
  expect(released(held)).toEqual([]);
  expect(held.summary?.why).toContain(
    'the next generation forms: waiting for Pods of the generation before to go: leader-9 on node-1, workers-7 on node-1',
  );
  // A gang that lives is filled up whatever else ends of it.
  expect(released(of([...pods, running('workers-6')], { countsEnding: true }))).toHaveLength(3);
});

describe('the first generation of a workload that was deleted and made again under its name', () => {
  const origin = (uid: string, kind = 'job') => {
    const controller = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid };
    return { kind, name: 'train', uid, part: undefined, size: undefined, controller };
  };
  const made = gang({
    groups: FULL,
    annotations: new Map([
      ['muster.dev/workload', 'job/train'],
      ['muster.dev/workload-uid', 'new'],
    ]),
    conditions: [INITIALIZED],
  });
  const pods = NEXT.map((one) => ({ ...one, origin: origin('new') }));
  const beside = (former: PodRecord, countsEnding: boolean) =>
    of([former, ...pods], { gang: made, countsEnding });
  const waits = 'waiting for Pods of the generation before to go: workers-9 on node-1';

  test.each([true, false])('waits for Pods of the one before that end where they count: %s', (counts) => {
    const found = beside(ending('workers-9', { origin: origin('old') }), counts);
    expect(released(found)).toHaveLength(counts ? 0 : 3);
    if (counts) expect(found.summary?.why).toContain(waits);
  });

  test.each([true, false])('waits for those that nobody has deleted yet, whatever counts: %s', (counts) => {
    const found = beside({ ...running('workers-9'), origin: origin('old') }, counts);
    expect(released(found)).toEqual([]);
    expect(found.summary?.why).toContain(waits);
  });

  test.each<[string, Partial<PodRecord>]>([
    ['has succeeded', { origin: origin('old'), phase: 'Succeeded' }],
    ['has no node', { origin: origin('old'), nodeName: '' }],
    ['is of another workload', { origin: origin('old', 'pytorchjob') }],
    ['is of none any more', { origin: undefined }],
    ['has another gang’s name', { origin: origin('old'), gang: 'other' }],
    ['is of another namespace', { origin: origin('old'), namespace: 'other' }],
  ])('waits for none that %s', (_what, parts) => {
    expect(released(beside({ ...running('workers-9'), ...parts }, true))).toHaveLength(3);
  });
});

test('it waits for as many Pods as the first one did', () => {
  const groups = [group('leader', 1, 'leader-0'), group('workers', 1, 'workers-0', 'workers-1')];
  const annotations = new Map([['muster.dev/expected-pods', 'workers=2']]);
  const half = of(NEXT.slice(0, 2), { gang: gang({ groups, annotations, conditions: [INITIALIZED] }) });
  expect(released(half)).toEqual([]);
  expect(half.summary?.why).toContain('the next generation forms: waiting for Pods: workers 1/2');
  expect(released(of(NEXT, { gang: gang({ groups, annotations, conditions: [INITIALIZED] }) }))).toHaveLength(
    3,
  );
});

test('it waits to be named, too', () => {
  const groups = [group('leader', 1, 'leader-0'), group('workers', 2, 'workers-0')];
  const found = of(NEXT, { gang: gang({ groups, conditions: [INITIALIZED] }) });
  expect(released(found)).toEqual([]);
  expect(reasons(found)['leader-0']).toBe('the next generation forms: the references are being written');
});

describe('a Pod that has succeeded', () => {
  const made = (kind: string, minimum: number): GangRecord =>
    gang({
      groups: [group('workers', minimum, ...[0, 1, 2, 3].map((at) => `workers-${at}`))],
      annotations: new Map([['muster.dev/workload', `${kind}/train`]]),
      conditions: [INITIALIZED],
    });
  const controller = { apiVersion: 'batch/v1', kind: 'Job', name: 'train', uid: 'u' };
  const origin = { name: 'train', uid: 'u', part: undefined, size: undefined, controller };
  const pods = (kind: string): PodRecord[] =>
    [
      ...['workers-0', 'workers-1', 'workers-2'].map((name) => bound(name, { phase: 'Succeeded' })),
      pod('workers-3'),
    ].map((one) => ({ ...one, origin: { ...origin, kind } }));

  test('has done its part of a gang whose minimum says nothing of it', () => {
    expect(released(of(pods('pytorchjob'), { gang: made('pytorchjob', 4) }))).toEqual(['workers-3']);
    expect(released(of(pods('pytorchjob'), { gang: made('pytorchjob', 5) }))).toEqual([]);
  });

  test('counts for none that comes next of a Job, whose minimum is what is left', () => {
    const waits = of(pods('job'), { gang: made('job', 3) });
    expect(released(waits)).toEqual([]);
    expect(waits.summary).toMatchObject({
      why: 'a Pod waits: workers-3: the next generation forms: waiting for Pods: workers 1/3',
    });
    expect(released(of(pods('job'), { gang: made('job', 1) }))).toEqual(['workers-3']);
  });

  test('is named where another of its group waits without a word of the scheduler', () => {
    const free = pods('pytorchjob').map((one) => ({ ...one, gates: [] }));
    expect(of(free, { gang: made('pytorchjob', 4) }).summary?.why).toBe(
      'bound workers 3/4; no word of the scheduler yet: where it counts none of the Pods that have succeeded (3), the minimum is not reached any more',
    );
  });

  test('is told apart for those kinds that say what is left of them', () => {
    expect(
      gangKinds.filter(({ short }) => countsWhatIsLeft(`${short}/train`)).map(({ short }) => short),
    ).toEqual(['job']);
  });
});

test('a gang that runs says why a Pod of it does not', () => {
  const runs = [running('leader-0'), running('workers-0'), running('workers-1')];
  const rejected = { status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available.' };
  const why = (...more: PodRecord[]) => of([...runs, ...more]).summary;
  expect(why()).toMatchObject({ phase: 'Running', why: '' });
  expect(why(pod('workers-2', { gates: [], podScheduled: rejected }))).toMatchObject({
    phase: 'Running',
    why: 'a Pod waits: workers-2: the scheduler says: 0/3 nodes are available.',
  });
  expect(why(pod('workers-2', { gates: [] }), pod('workers-3', { gates: [] }))?.why).toBe(
    '2 Pods wait: workers-2, workers-3: waiting for the scheduler',
  );
});

test('a LeaderWorkerSet says which of its Pods leads, and a JobSet how often it was restarted', () => {
  const of = (labels: Record<string, string>) => readPodRecord({ metadata: { labels } });
  expect(of({ 'leaderworkerset.sigs.k8s.io/worker-index': '0' }).leads).toBe(true);
  expect(of({ 'leaderworkerset.sigs.k8s.io/worker-index': '1' }).leads).toBeUndefined();
  expect(of({ 'jobset.sigs.k8s.io/restart-attempt': '2' }).attempt).toBe('2');
});

test('a LeaderWorkerSet says of its Pods which revision they are of', () => {
  const labels = { 'leaderworkerset.sigs.k8s.io/template-revision-hash': '855d744646' };
  expect(readPodRecord({ metadata: { labels } }).revision).toBe('855d744646');
  expect(readPodRecord({ metadata: {} }).revision).toBeUndefined();
});
