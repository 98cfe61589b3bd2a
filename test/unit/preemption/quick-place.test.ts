/** Placing a gang, and asking whether somebody can stay beside it, say what looking at every Pod and node anew says. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isObject, type JsonObject } from '../../../src/json/json.ts';
import { ClusterState } from '../../../src/preemption/cluster-state.ts';
import { Assumed } from '../../../src/preemption/assumed.ts';
import { place } from '../../../src/preemption/place.ts';
import { judgeFor } from '../../../src/preemption/predicates/predicates.ts';
import { preemptorOf } from '../../../src/preemption/preemptor.ts';
import { Scores } from '../../../src/preemption/scores.ts';
import type { Pod, Snapshot } from '../../../src/preemption/snapshot.ts';
import { preemptionUnitsOf, type PreemptionUnit } from '../../../src/preemption/units.ts';
import { searchLength } from '../../support/length.ts';
import { node, pod, podGroup, snapshotOf } from './small-cluster.ts';

const app = fc.constantFrom('a', 'b');
const topologyKey = fc.constantFrom('host', 'zone');
const term = fc.record({ topologyKey, labelSelector: fc.record({ matchLabels: fc.record({ app }) }) });
const terms = fc.array(term, { maxLength: 2 });
/** Mostly nothing. */
const social = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 3,
    arbitrary: fc
      .record({ affinity: terms, antiAffinity: terms, spread: terms })
      .map(({ affinity, antiAffinity, spread }): JsonObject => ({
        affinity: {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: affinity },
          podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: antiAffinity },
        },
        topologySpreadConstraints: spread.map((one) => ({
          ...one,
          maxSkew: 1,
          whenUnsatisfiable: 'DoNotSchedule',
        })),
      })),
  },
);
const cluster = fc.record({
  nodes: fc.array(fc.record({ cpu: fc.integer({ min: 1, max: 4 }), zone: fc.constantFrom('x', 'y', 'z') }), {
    minLength: 1,
    maxLength: 4,
  }),
  /** What a node scores depends on the others then. */
  prefers: fc.boolean(),
  running: fc.array(
    fc.record({ on: fc.nat(3), cpu: fc.nat(2), app, social, group: fc.constantFrom('', '', 'g1') }),
    { maxLength: 6 },
  ),
  wanting: fc.array(fc.record({ app, second: fc.boolean() }), { minLength: 1, maxLength: 4 }),
  kinds: fc.tuple(social, social),
  gone: fc.array(fc.nat(5), { maxLength: 4 }),
});

/** Zone z far more than x, and x more than y. */
const preferring = (spec: JsonObject): JsonObject => ({
  ...spec,
  affinity: {
    ...(isObject(spec['affinity']) ? spec['affinity'] : {}),
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: Object.entries({ x: 20, y: 10, z: 100 }).map(
        ([zone, weight]) => ({
          weight,
          preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] },
        }),
      ),
    },
  },
});

/** The same cluster, made anew: nothing is remembered of what was asked before. */
function anew(
  snapshot: Snapshot,
  gone: ReadonlySet<PreemptionUnit>,
  placed: ReadonlyMap<Pod, string>,
): ClusterState {
  const state = new ClusterState(snapshot);
  for (const { pods } of gone) for (const one of pods) state.takeAway(one);
  for (const [one, on] of placed) {
    const there = state.byName.get(on);
    if (there !== undefined) state.put(one, there);
  }
  return state;
}

test('Pods that mind who is near, and others', () => {
  const seen = { placed: 0, without: 0, clash: 0, stays: 0 };
  fc.assert(
    fc.property(cluster, ({ nodes, prefers, running, wanting, kinds, gone }) => {
      const { snapshot, read } = snapshotOf([
        ...nodes.map(({ cpu, zone }, index) =>
          node(
            `n${index}`,
            cpu,
            {},
            {
              labels: { host: `n${index}`, zone },
            },
          ),
        ),
        ...running
          .filter(({ on }) => on < nodes.length)
          .map(({ on, cpu, app: its, social: spec, group }, index) =>
            pod({
              ...{ name: `r${index}`, on: `n${on}`, cpu, labels: { app: its }, spec },
              ...(group === '' ? {} : { podGroup: group }),
            }),
          ),
        podGroup('g1', { prio: 0, mode: 'PodGroup' }),
        podGroup('p', { prio: 50, min: 1 }),
      ]);
      const pods = wanting.map(({ app: its, second }, index) =>
        read({
          ...{ name: `w${index}`, cpu: 1, prio: 50, podGroup: 'p', labels: { app: its } },
          spec: prefers ? preferring(kinds[second ? 1 : 0]) : kinds[second ? 1 : 0],
        }),
      );
      const preemptor = preemptorOf(pods, snapshot, 'kube-1.36');
      const units = preemptionUnitsOf(snapshot, preemptor, 'kube-1.36');
      const away = new Set(gone.flatMap((index) => units[index] ?? []));
      const state = anew(snapshot, away, new Map());
      const placement = place(preemptor, state);

      const expected = new Map<Pod, string>();
      for (const one of preemptor.pods) {
        const now = anew(snapshot, away, expected);
        const judge = judgeFor(one, now);
        const nodesOf = now.nodes.filter((there) => judge(there) === undefined);
        const [best] = new Scores(one, nodesOf, now).best();
        if (best !== undefined) expected.set(one, best.node.name);
        seen[best === undefined ? 'without' : 'placed'] += 1;
      }
      const found = [...placement.nodes].map(([one, there]) => [one.name, there.node.name]);
      expect(found).toEqual([...expected].map(([one, on]) => [one.name, on]));

      const assumed = new Assumed(placement, state);
      for (const unit of [...away]) {
        for (const one of unit.pods) state.putBack(one);
        const clash = assumed.clashWith(unit);
        const back = new Set([...away].filter((other) => other !== unit));
        const fresh = anew(snapshot, back, expected);
        const [first] = [...expected].filter(([one, on]) => {
          const there = fresh.byName.get(on);
          if (there === undefined) return false;
          fresh.take(one, there);
          const refused = judgeFor(one, fresh)(there) !== undefined;
          fresh.put(one, there);
          return refused;
        });
        seen[first === undefined ? 'stays' : 'clash'] += 1;
        expect(clash === undefined).toBe(first === undefined);
        if (clash === undefined) away.delete(unit);
        else for (const one of unit.pods) state.takeAway(one);
      }
    }),
    { numRuns: searchLength({ short: 300, long: 20_000 }) },
  );
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
});

test('what a Pod prefers is compared among the nodes that take it, also where others keep it from the best', () => {
  const there = (name: string, zone: string): JsonObject =>
    node(name, 10, {}, { labels: { host: name, zone } });
  const { snapshot, read } = snapshotOf([
    there('far-best', 'z'),
    there('used', 'x'),
    there('empty', 'y'),
    pod({ name: 'enemy', on: 'far-best', cpu: 1, labels: { app: 'b' } }),
    pod({ name: 'busy', on: 'used', cpu: 6 }),
    podGroup('p', { prio: 50, min: 1 }),
  ]);
  const enemy = { topologyKey: 'host', labelSelector: { matchLabels: { app: 'b' } } };
  const spec = preferring({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [enemy] } },
  });
  const wants = read({ name: 'w', cpu: 1, prio: 50, podGroup: 'p', spec });
  const { nodes } = place(preemptorOf([wants], snapshot, 'kube-1.36'), new ClusterState(snapshot));
  expect(nodes.get(wants)?.node.name).toBe('used');
});
