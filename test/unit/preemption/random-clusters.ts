import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { budget, node, pod, podGroup } from './small-cluster.ts';

/** Clusters small enough that every set of victims can be tried. */
export const smallCluster = fc.record({
  nodes: fc.array(fc.record({ cpu: fc.integer({ min: 0, max: 4 }), gpu: fc.integer({ min: 0, max: 2 }) }), {
    minLength: 1,
    maxLength: 4,
  }),
  running: fc.array(
    fc.record({
      on: fc.nat(3),
      cpu: fc.integer({ min: 0, max: 3 }),
      gpu: fc.integer({ min: 0, max: 2 }),
      prio: fc.constantFrom(0, 10, 20, 30, 100),
      group: fc.constantFrom('', '', 'g1', 'g2'),
      app: fc.constantFrom('', '', 'a', 'b'),
      start: fc.option(fc.nat(3), { nil: undefined }),
      /** Wants nobody of those who want room on its node. */
      away: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
    }),
    { maxLength: 8 },
  ),
  groups: fc.record({
    g1: fc.record({ prio: fc.constantFrom(0, 10, 20, 100), all: fc.boolean() }),
    g2: fc.record({ prio: fc.constantFrom(0, 10, 20, 100), all: fc.boolean() }),
  }),
  budgets: fc.record({ a: fc.nat(2), b: fc.nat(2) }),
  wanting: fc.record({
    pods: fc.integer({ min: 1, max: 4 }),
    min: fc.integer({ min: 1, max: 4 }),
    cpu: fc.integer({ min: 0, max: 3 }),
    gpu: fc.integer({ min: 0, max: 2 }),
    prio: fc.constantFrom(10, 20, 30, 50),
  }),
});
export type Small = typeof smallCluster extends fc.Arbitrary<infer T> ? T : never;

const AWAY = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'host', labelSelector: { matchLabels: { app: 'wanting' } } },
    ],
  },
};

export const ask = (gpu: number): Record<string, string> => (gpu === 0 ? {} : { 'x.io/gpu': String(gpu) });

/** All that is there before anybody wants room. */
export const objectsOf = (small: Omit<Small, 'wanting'>): JsonObject[] => [
  ...small.nodes.map(({ cpu, gpu }, index) =>
    node(`n${index}`, cpu, { 'x.io/gpu': String(gpu) }, { labels: { host: `n${index}` } }),
  ),
  ...small.running
    .filter(({ on }) => on < small.nodes.length)
    .map(({ on, cpu, gpu, prio, group, app, start, away }, index) =>
      pod({
        name: `r${index}`,
        on: `n${on}`,
        cpu,
        ask: ask(gpu),
        prio,
        ...(group === '' ? {} : { podGroup: group }),
        ...(app === '' ? {} : { labels: { app } }),
        ...(start === undefined ? {} : { start }),
        ...(away ? { spec: { affinity: AWAY } } : {}),
      }),
    ),
  ...Object.entries(small.groups).map(([name, { prio, all }]) =>
    podGroup(name, { prio, mode: all ? 'PodGroup' : 'Pod' }),
  ),
  ...Object.entries(small.budgets).map(([app, allowed]) => budget(app, allowed)),
];
