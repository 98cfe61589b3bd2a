import { BINDING_GROUP, MUSTER_GROUP } from '../../../api/names.ts';
import { kinds } from '../../../workloads/kinds.ts';
import type { ExpectedRule } from '../expected-rights.ts';

const BINDINGS = ['resourcebindings', 'clusterresourcebindings'];
const EVENTS: ExpectedRule = {
  ...{ group: 'events.k8s.io', resources: ['events'], verbs: ['create', 'patch'] },
  why: 'says what became of a binding',
};
/** The resources of the workloads, by their group. */
const workloads = Map.groupBy(
  kinds.filter(({ fleet }) => fleet !== undefined),
  ({ group }) => group,
);

/** Of its Role: for both. */
export const LEADER_RULES: readonly ExpectedRule[] = [
  {
    ...{ group: 'coordination.k8s.io', resources: ['leases'], verbs: ['create'], lease: 'namespace' },
    why: 'one replica at a time acts',
  },
  {
    ...{ group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'update'], lease: 'name' },
    why: 'the same',
  },
];

/** Of the ClusterRole of manifests/karmada/assigner; a test compares the two. */
export const ASSIGNER_RULES: readonly ExpectedRule[] = [
  { group: BINDING_GROUP, resources: BINDINGS, verbs: ['list', 'watch', 'patch'], why: 'places bindings' },
  {
    group: BINDING_GROUP,
    resources: BINDINGS.map((name) => `${name}/status`),
    verbs: ['patch'],
    why: 'says what became of them',
  },
  {
    group: 'cluster.karmada.io',
    resources: ['clusters'],
    verbs: ['list', 'watch'],
    why: 'where there is room',
  },
  EVENTS,
];

/** Of the ClusterRole of manifests/karmada/queues; a test compares the two. */
export const QUEUE_RULES: readonly ExpectedRule[] = [
  {
    ...{ group: BINDING_GROUP, resources: BINDINGS, verbs: ['get', 'list', 'watch', 'patch'] },
    why: 'lets bindings through',
  },
  { group: MUSTER_GROUP, resources: ['fleetqueues'], verbs: ['list', 'watch'], why: 'who comes when' },
  { group: MUSTER_GROUP, resources: ['fleetqueues/status'], verbs: ['patch'], why: 'says it' },
  { group: '', resources: ['namespaces'], verbs: ['get'], why: 'the queue that a namespace names' },
  {
    ...{ group: 'policy.karmada.io', verbs: ['get'] },
    resources: ['propagationpolicies', 'clusterpropagationpolicies'],
    why: 'the queue that a policy names',
  },
  EVENTS,
  ...[...workloads].map(([group, all]) => ({
    ...{ group, resources: all.map(({ plural }) => plural), verbs: ['get'] },
    why: 'the queue and the least of a workload',
  })),
];
