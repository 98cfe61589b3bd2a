// A cluster of full nodes, and a gang that needs whole ones of them.
import type { JsonObject } from '../../src/json/json.ts';
import type { Variant } from '../../src/preemption/variants.ts';

const PODS_PER_NODE = 10;
const RACKS = 70;
const ZONES = 3;
const PREFERENCES = 10;

/** Who minds whom. */
export interface Minding {
  /** The Pods of the gang. */
  readonly gang: number;
  /** In a small cluster a gang that has to be together in one of so many domains is smaller, too. */
  readonly domains: number;
  /** The groups of the gang, of which each has to be in a rack by the topology of a PodGang; none: there is no PodGang. */
  readonly groups: number;
  /** What the Pods of the gang say. */
  readonly spec: JsonObject;
  /** What a Pod on a node says. @param index which of the node's Pods it is */
  readonly running: (node: number, index: number) => JsonObject;
  /** Whether plans are made until the budgets are kept, as far as `muster plan` tries that. */
  readonly keepsBudgets: boolean;
  readonly variants: readonly Variant[] | undefined;
}

const takesGang = { matchLabels: { 'grove.io/podgang': 'new' } };
const termOf = (kind: string, topologyKey: string, labelSelector: JsonObject = takesGang): JsonObject => ({
  [kind]: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, namespaces: ['team-0'], labelSelector }],
  },
});
const AWAY = termOf('podAntiAffinity', 'host');
const SPREAD: JsonObject[] = ['host', 'zone'].map((topologyKey) => ({
  ...{ topologyKey, maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', labelSelector: takesGang },
}));
/** Each with a weight of its own, so that nodes are liked in a thousand different ways. */
const PREFERS: JsonObject = {
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: Array.from({ length: PREFERENCES }, (_, bit) => ({
      weight: 2 * bit * bit + 1,
      preference: { matchExpressions: [{ key: `bit-${bit}`, operator: 'Exists' }] },
    })),
  },
};
/** A term of each node's own, by which its first Pod wants to be away from certain Pods of the gang, or of somebody else. */
const ownTerm = (values: readonly string[]): Pick<Minding, 'running'> => ({
  running: (node, index) =>
    index > 0
      ? {}
      : {
          affinity: termOf('podAntiAffinity', 'host', {
            matchExpressions: [
              { key: 'grove.io/podgang', operator: 'In', values: [...values, `app-${node}`] },
            ],
          }),
        },
});

const NOBODY: Minding = {
  gang: 64,
  domains: 1,
  groups: 0,
  spec: {},
  running: () => ({}),
  keepsBudgets: false,
  variants: undefined,
};

const KINDS = {
  nobody: {},
  /** The gang wants to be spread over nodes and zones. */
  spread: { spec: { topologySpreadConstraints: SPREAD } },
  'spread and ten preferences': { spec: { topologySpreadConstraints: SPREAD, affinity: PREFERS } },
  'spread of 1,000 Pods': { gang: 1_000, spec: { topologySpreadConstraints: SPREAD } },
  /** A Pod on each node wants no Pod of the gang there. */
  'anti-affinity': { running: (_, index) => (index === 0 ? { affinity: AWAY } : {}) },
  'a term of anti-affinity on each node': ownTerm(['new']),
  'a term of anti-affinity against others on each node': ownTerm([]),
  affinity: { domains: ZONES, spec: { affinity: termOf('podAffinity', 'zone') } },
  'apart by rack': { spec: { affinity: termOf('podAntiAffinity', 'rack') } },
  'required rack': { domains: RACKS, groups: 1, variants: ['kep'] },
  'a required rack for each of 8 groups': { gang: 320, domains: RACKS, groups: 8, variants: ['kep'] },
  'overdrawn budgets': { keepsBudgets: true, variants: ['kep'] },
} satisfies Record<string, Partial<Minding>>;

export type Near = keyof typeof KINDS;
export const mindingOf = (near: Near): Minding => ({ ...NOBODY, ...KINDS[near] });

/** The number of the gang's Pods in a cluster of this size. */
export const membersIn = (nodes: number, { gang, domains, groups }: Minding): number =>
  Math.min(gang, Math.max(groups, 1) * Math.floor(nodes / domains));

export function* objectsOf(nodes: number, members: number, minding: Minding): Generator<JsonObject> {
  for (let at = 0; at < nodes; at += 1) {
    const name = `node-${String(at).padStart(5, '0')}`;
    const bits = Array.from({ length: PREFERENCES }, (_, bit) => bit).filter((bit) => (at >> bit) % 2 === 1);
    yield {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: {
          host: name,
          zone: `z${at % ZONES}`,
          rack: `r${at % RACKS}`,
          ...Object.fromEntries(bits.map((bit) => [`bit-${bit}`, ''])),
        },
      },
      status: { allocatable: { cpu: '64', memory: '512Gi', pods: '110', 'nvidia.com/gpu': '8' } },
    };
    for (let index = 0; index < PODS_PER_NODE; index += 1)
      yield {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: `pod-${at}-${index}`,
          namespace: `team-${at % 20}`,
          labels: { app: `a${index % 5}` },
        },
        spec: {
          nodeName: name,
          priority: (at * 7 + index) % 40,
          ...minding.running(at, index),
          containers: [
            {
              name: 'c',
              resources: {
                requests: { cpu: '6', memory: '40Gi', ...(index < 8 ? { 'nvidia.com/gpu': '1' } : {}) },
              },
            },
          ],
        },
        status: { phase: 'Running', startTime: new Date(1e12 + at * 1000 + index).toISOString() },
      };
  }
  for (let team = 0; team < 20; team += 1)
    yield {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'a1', namespace: `team-${team}` },
      spec: { selector: { matchLabels: { app: 'a1' } } },
      status: { disruptionsAllowed: 3 },
    };
  yield* minding.groups > 0 ? podGangOf(members, minding) : [nativeGroupOf(members)];
}

const IN_A_RACK = { topologyConstraint: { packConstraint: { required: 'rack' } } };

function* podGangOf(members: number, { groups }: Minding): Generator<JsonObject> {
  yield {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'high' },
    value: 50,
  };
  yield {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name: 'new', namespace: 'team-0' },
    spec: {
      priorityClassName: 'high',
      ...(groups === 1 ? IN_A_RACK : {}),
      podgroups: Array.from({ length: groups }, (_, group) => ({
        name: `worker-${group}`,
        minReplicas: Math.floor((members + group) / groups),
        podReferences: [],
        ...(groups > 1 ? IN_A_RACK : {}),
      })),
    },
  };
}

const nativeGroupOf = (members: number): JsonObject => ({
  apiVersion: 'scheduling.k8s.io/v1alpha2',
  kind: 'PodGroup',
  metadata: { name: 'new', namespace: 'team-0' },
  spec: { priority: 50, schedulingPolicy: { gang: { minCount: members } } },
});

/** @param shape whose Pods ask for a core less than those of the one before */
export const memberOf = (index: number, shape: number, { groups, spec }: Minding): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `new-${index}`,
    namespace: 'team-0',
    labels: { 'grove.io/podgang': 'new', 'grove.io/podclique': `worker-${index % Math.max(groups, 1)}` },
  },
  spec: {
    priority: 50,
    ...(groups > 0 ? {} : { schedulingGroup: { podGroupName: 'new' } }),
    ...spec,
    containers: [{ name: 'c', resources: { requests: { cpu: String(32 - shape), 'nvidia.com/gpu': '8' } } }],
  },
});
