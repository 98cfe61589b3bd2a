import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { node, pod, podGroup, type PodIn } from './small-cluster.ts';

/** Topology keys: few domains, several nodes in each, and every node one of its own. */
const key = fc.constantFrom('zone', 'rack', 'host');
const app = fc.constantFrom('gang', 'other');

const constraints = fc.record({
  spread: fc.array(
    fc.record({
      key,
      app,
      skew: fc.integer({ min: 1, max: 3 }),
      domains: fc.constantFrom(1, 1, 3),
      ignores: fc.boolean(),
    }),
    { maxLength: 2 },
  ),
  affinity: fc.array(fc.record({ key, app: fc.constantFrom('gang', 'gang', 'other') }), { maxLength: 1 }),
  away: fc.array(fc.record({ key, app }), { maxLength: 1 }),
});
type Minding = typeof constraints extends fc.Arbitrary<infer T> ? T : never;
const unminding: Minding = { spread: [], affinity: [], away: [] };

/** Clusters in which it matters who is near. */
export const neighbours = fc.record({
  nodes: fc.array(
    fc.record({
      cpu: fc.integer({ min: 1, max: 5 }),
      zone: fc.constantFrom('a', 'b', ''),
      rack: fc.constantFrom<string>('1', '2', '3', '4'),
      taint: fc.constantFrom('', '', '', 'NoSchedule', 'PreferNoSchedule'),
    }),
    { minLength: 1, maxLength: 7 },
  ),
  running: fc.array(
    fc.record({
      on: fc.nat(6),
      cpu: fc.integer({ min: 0, max: 2 }),
      app: fc.constantFrom('gang', 'other', 'none'),
      prio: fc.constantFrom(0, 10, 20, 100),
      group: fc.constantFrom('', '', 'g1'),
      leaving: fc.nat(9).map((one) => one === 0),
      away: fc.constantFrom('', '', '', 'zone', 'rack', 'host'),
    }),
    { maxLength: 12 },
  ),
  shapes: fc.array(fc.record({ cpu: fc.integer({ min: 0, max: 2 }), minding: constraints, app }), {
    minLength: 1,
    maxLength: 2,
  }),
  pods: fc.integer({ min: 1, max: 5 }),
  min: fc.integer({ min: 1, max: 5 }),
  prefers: fc.boolean(),
});
export type Neighbours = typeof neighbours extends fc.Arbitrary<infer T> ? T : never;

const term = (one: { readonly key: string; readonly app: string }): JsonObject => ({
  topologyKey: one.key,
  labelSelector: { matchLabels: { app: one.app } },
});
const only = (terms: readonly JsonObject[]): JsonObject => ({
  requiredDuringSchedulingIgnoredDuringExecution: [...terms],
});

const specOf = ({ spread, affinity, away }: Minding, prefers: boolean): JsonObject => ({
  topologySpreadConstraints: spread.map((one) => ({
    ...{ topologyKey: one.key, labelSelector: { matchLabels: { app: one.app } } },
    ...{ maxSkew: one.skew, minDomains: one.domains, whenUnsatisfiable: 'DoNotSchedule' },
    ...{ nodeTaintsPolicy: one.ignores ? 'Ignore' : 'Honor' },
  })),
  affinity: {
    podAffinity: only(affinity.map(term)),
    podAntiAffinity: only(away.map(term)),
    ...(prefers
      ? {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 5,
                preference: { matchExpressions: [{ key: 'rack', operator: 'In', values: ['1', '2'] }] },
              },
            ],
          },
        }
      : {}),
  },
});

export const clusterOf = ({ nodes, running, pods, min }: Neighbours): JsonObject[] => [
  ...nodes.map(({ cpu, zone, rack, taint }, at) =>
    node(
      `n${at}`,
      cpu,
      {},
      {
        labels: { host: `n${at}`, rack, ...(zone === '' ? {} : { zone }) },
        spec: taint === '' ? {} : { taints: [{ key: 't', value: '', effect: taint }] },
      },
    ),
  ),
  ...running
    .filter(({ on }) => on < nodes.length)
    .map(({ on, cpu, prio, group, leaving, away, ...one }, at) =>
      pod({
        ...{ name: `r${at}`, on: `n${on}`, cpu, prio, leaving, labels: { app: one.app } },
        ...(group === '' ? {} : { podGroup: group }),
        ...(away === '' ? {} : { spec: specOf({ ...unminding, away: [{ key: away, app: 'gang' }] }, false) }),
      }),
    ),
  podGroup('g1', { prio: 0, mode: 'PodGroup' }),
  podGroup('p', { prio: 50, min: Math.min(min, pods) }),
];

export const gangOf = ({ shapes, pods, prefers }: Neighbours): PodIn[] =>
  Array.from({ length: pods }, (_, at) => {
    const shape = shapes[at % shapes.length];
    const { cpu = 0, minding = unminding } = shape ?? {};
    const labels = { app: shape?.app ?? 'gang', index: String(at) };
    return { name: `w${at}`, cpu, prio: 50, podGroup: 'p', labels, spec: specOf(minding, prefers) };
  });
