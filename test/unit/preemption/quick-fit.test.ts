/** The quick way to know whether a gang fits says what placing it says, whoever comes and goes between. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { fitOf, isPlain } from '../../../src/preemption/fit.ts';
import { place, undo } from '../../../src/preemption/place.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import { preemptionUnitsOf } from '../../../src/preemption/units.ts';
import { VARIANTS } from '../../../src/preemption/variants.ts';
import { putBack, removed } from '../../../src/preemption/search.ts';
import { searchLength } from '../../support/length.ts';
import { node, planFor, pod, podGroup, snapshotOf, type PodIn } from './small-cluster.ts';

const running = fc.record({
  on: fc.nat(3),
  cpu: fc.integer({ min: 0, max: 3 }),
  port: fc.constantFrom(0, 0, 80),
  group: fc.constantFrom('', '', 'g1', 'g2'),
});
const cluster = fc.record({
  nodes: fc.array(
    fc.record({
      cpu: fc.integer({ min: 1, max: 5 }),
      pods: fc.integer({ min: 1, max: 4 }),
      cordoned: fc.boolean(),
      /** How many taints that only prefer others it has, and whom Pods may prefer it for. */
      soft: fc.nat(2),
      color: fc.constantFrom('red', 'blue'),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  preferring: fc.boolean(),
  running: fc.array(running, { maxLength: 9 }),
  /** Its shapes, one Pod after the other. */
  wanting: fc.array(
    fc.record({ cpu: fc.nat(3), port: fc.constantFrom(0, 0, 80), likes: fc.constantFrom('', 'red', 'blue') }),
    {
      minLength: 1,
      maxLength: 5,
    },
  ),
  min: fc.integer({ min: 1, max: 5 }),
  /** Who is taken off, or put back where he is not there. */
  moves: fc.array(fc.nat(8), { maxLength: 12 }),
});

const likes = (color: string): JsonObject =>
  color === ''
    ? {}
    : {
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 7,
                preference: { matchExpressions: [{ key: 'color', operator: 'In', values: [color] }] },
              },
            ],
          },
        },
      };
const softTaints = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, at) => ({ key: `t${at}`, value: '', effect: 'PreferNoSchedule' }));
const withPort = (port: number): Pick<PodIn, 'spec'> =>
  port === 0 ? {} : { spec: { containers: [{ name: 'c', ports: [{ hostPort: port }] }] } };

test.each([
  ['alike', 1],
  ['of several shapes', 5],
])('a gang of Pods that are %s and mind nobody', (_, most) => {
  let fitting = 0;
  let runs = 0;
  fc.assert(
    fc.property(cluster, ({ nodes, preferring, running: there, wanting, min, moves }) => {
      const { snapshot, read } = snapshotOf([
        ...nodes.map(({ cpu, pods, cordoned, soft, color }, index) => {
          const taints = softTaints(preferring ? soft : 0);
          const spec = { unschedulable: cordoned && index > 0, taints };
          return node(`n${index}`, cpu, { pods: String(pods) }, { labels: { color }, spec });
        }),
        ...there
          .filter(({ on }) => on < nodes.length)
          .map(({ on, cpu, port, group }, index) =>
            pod({
              ...{ name: `r${index}`, on: `n${on}`, cpu, prio: 0, ...withPort(port) },
              ...(group === '' ? {} : { podGroup: group }),
            }),
          ),
        podGroup('g1', { prio: 0, mode: 'PodGroup' }),
        podGroup('g2', { prio: 0, mode: 'PodGroup' }),
        podGroup('p', { prio: 50, min: Math.min(min, wanting.length) }),
      ]);
      const pods = wanting.map((_shape, index) => {
        const shape = wanting[index % most] ?? { cpu: 0, port: 0, likes: '' };
        const { spec } = withPort(shape.port);
        const prefers = likes(preferring ? shape.likes : '');
        const more = { spec: { ...spec, ...prefers } };
        return read({ name: `w${index}`, cpu: shape.cpu, prio: 50, podGroup: 'p', ...more });
      });
      const preemptor = preemptorOf(pods, snapshot, 'kube-1.36');
      const state = new ClusterState(snapshot);
      if (most === 1) expect(isPlain(preemptor, state)).toBe(true);
      const fit = fitOf(preemptor, state);
      const units = preemptionUnitsOf(snapshot, preemptor, 'kube-1.36');
      const gone = new Set<number>();
      for (const move of [-1, ...moves]) {
        const unit = units[move];
        if (unit !== undefined) {
          (gone.has(move) ? putBack : removed)(unit, state, fit);
          if (!gone.delete(move)) gone.add(move);
        }
        const placement = place(preemptor, state);
        undo(placement, state);
        runs += 1;
        if (placement.fits) fitting += 1;
        expect(fit.fits()).toBe(placement.fits);
      }
    }),
    { numRuns: searchLength({ short: 500, long: 20_000 }) },
  );
  expect(fitting).toBeGreaterThan(0);
  expect(fitting).toBeLessThan(runs);
});

test('nodes that are liked each in a way of its own', () => {
  const bits = [1, 2, 4, 8, 16, 32, 64];
  const terms = bits.map((weight) => ({
    weight,
    preference: { matchExpressions: [{ key: `bit${weight}`, operator: 'Exists' }] },
  }));
  const names = Array.from({ length: 40 }, (_, at) => `n${at}`);
  const { snapshot, read } = snapshotOf([
    ...names.map((name, at) => {
      const labels = bits.filter((bit) => (at & bit) > 0).map((bit) => [`bit${bit}`, '']);
      return node(name, at % 3, {}, { labels: Object.fromEntries(labels) });
    }),
    ...names.map((name, at) => pod({ name: `on-${name}`, on: name, cpu: at % 2 })),
    podGroup('p', { prio: 50, min: 16 }),
  ]);
  const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms } };
  const wanting = Array.from({ length: 16 }, (_, at) =>
    read({ name: `w${at}`, cpu: 1 + (at % 2), podGroup: 'p', spec: { affinity } }),
  );
  const preemptor = preemptorOf(wanting, snapshot, 'kube-1.36');
  const state = new ClusterState(snapshot);
  const fit = fitOf(preemptor, state);
  const units = preemptionUnitsOf(snapshot, preemptor, 'kube-1.36');
  const said = new Set<boolean>();
  for (const change of [removed, putBack])
    for (const unit of units) {
      change(unit, state, fit);
      const placement = place(preemptor, state);
      undo(placement, state);
      expect(fit.fits()).toBe(placement.fits);
      said.add(placement.fits);
    }
  expect(said.size).toBe(2);
});

describe.each(VARIANTS)('%s', (variant) => {
  test('who wants to be away from the gang goes, although there is room beside him', () => {
    const away = {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'host', labelSelector: { matchLabels: { app: 'gang' } } },
        ],
      },
    };
    const objects = [
      node('n0', 4, {}, { labels: { host: 'n0' } }),
      pod({ name: 'loner', on: 'n0', cpu: 1, prio: 10, spec: { affinity: away } }),
      pod({ name: 'other', on: 'n0', cpu: 1, prio: 5 }),
      podGroup('p', { prio: 50, min: 1 }),
    ];
    const wanting = [
      { name: 'w', cpu: 1, prio: 50, podGroup: 'p', gang: 'p', labels: { app: 'gang' } },
    ] as const;
    const found = planFor(wanting, objects, variant);
    // With nobody there nobody wanted distance, and kube-scheduler 1.37 does not ask again as it puts them back.
    const inVain = variant === 'kube-1.37';
    expect(found.victims.map(({ unit }) => unit.name)).toEqual(inVain ? [] : ['loner']);
    expect([...found.placement]).toEqual(inVain ? [] : [['ns/w', 'n0']]);
    expect(found.refusal?.why).toBe(inVain ? 'EvictsInVain' : undefined);
  });
});

test('a node that nobody goes to decides what a preference is worth elsewhere, while it takes Pods', () => {
  const liked = (weight: number, key: string) => ({
    weight,
    preference: { matchExpressions: [{ key, operator: 'Exists' }] },
  });
  const affinity = {
    nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [liked(10, 'most'), liked(2, 'some')] },
  };
  const { snapshot, read } = snapshotOf([
    node('empty', 10),
    node('used', 10, {}, { labels: { some: '' } }),
    // Its taint weighs more than what it is liked for.
    node('x', 1, {}, { labels: { most: '' }, spec: { taints: softTaints(1) } }),
    pod({ name: 'there', on: 'used', cpu: 8, ask: { memory: '60Gi' }, prio: 90 }),
    pod({ name: 'small', on: 'x', cpu: 1, prio: 0 }),
    podGroup('p', { prio: 50, min: 2 }),
  ]);
  const wanting = [
    read({ name: 'w0', cpu: 1, podGroup: 'p', spec: { affinity } }),
    read({ name: 'w1', cpu: 2, podGroup: 'p', spec: { nodeSelector: { some: '' } } }),
  ];
  const preemptor = preemptorOf(wanting, snapshot, 'kube-1.36');
  const state = new ClusterState(snapshot);
  const fit = fitOf(preemptor, state);
  const [small] = preemptionUnitsOf(snapshot, preemptor, 'kube-1.36').filter(({ name }) => name === 'small');
  if (small === undefined) throw new Error('it runs');
  const said = [fit.fits()];
  for (const change of [removed, putBack, removed]) {
    change(small, state, fit);
    said.push(fit.fits());
    const placement = place(preemptor, state);
    undo(placement, state);
    expect(said.at(-1)).toBe(placement.fits);
  }
  expect(said).toEqual([false, true, false, true]);
});
