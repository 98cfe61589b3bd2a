import { ownString, type JsonObject } from '../../../json/json.ts';
import { MUSTER_SERVICE_ACCOUNT, BINDING_GROUP, MUSTER_GROUP } from '../../../api/names.ts';
import { parseGroupVersion } from '../../../k8s/resource.ts';
import {
  CLUSTERS,
  CLUSTER_RESOURCE_BINDINGS,
  LEASES,
  NAMESPACES,
  RESOURCE_BINDINGS,
  type KubeObject,
  type Resource,
} from '../../../kube/client/resources.ts';
import { readLease } from '../../../kube/loop/lease-record.ts';
import { kindsWith } from '../../../workloads/configured-kinds.ts';
import { checkRights, readRights } from '../read-rights.ts';
import { saying, ABSENT, attempt, type Diagnosis, type Read } from '../diagnosis.ts';
import type { Examination } from '../examine.ts';
import { rightsOf, type ExpectedRule } from '../expected-rights.ts';
import { readConfigured } from '../read-configuration.ts';
import { checkActing, checkBindingTrial, tryBinding } from './check-acting.ts';
import { BINDING_DEFINITIONS, checkFleetDefinitions, QUEUE_DEFINITION } from './check-fleet-definitions.ts';
import { checkHolding } from './check-holding.ts';
import { checkInterpreter } from './check-interpreter.ts';
import { kinds } from '../../../workloads/kinds.ts';

const kindOf = (apiVersion: string, kind: string, namespaced = false): Resource => ({
  ...{ ...parseGroupVersion(apiVersion), kind, namespaced },
  plural: `${kind.toLowerCase().replace(/y$/, 'ie')}s`,
});
const ADMISSION = 'admissionregistration.k8s.io/v1';
const [CONFIG, POLICY] = ['config.karmada.io/v1alpha1', 'policy.karmada.io/v1alpha1'];
const SERVICE = kindOf('v1', 'Service', true);
const DEFINITION = kindOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition');

/**
 * Checks what is registered in Karmada's API server.
 * @throws MusterError CLUSTER_UNREACHABLE, and the errors of a configuration file that is named
 */
export async function examineFleet(
  given: Omit<Examination, 'tryIn' | 'muster'>,
): Promise<{ kubernetes: string; findings: Diagnosis[] }> {
  const { client, config, namespace, now } = given;
  const list = (resource: Resource): Promise<Read<readonly JsonObject[]>> =>
    attempt(async () => (await client.list<JsonObject>(resource)).items);
  const listed = (...parts: Parameters<typeof kindOf>) => list(kindOf(...parts));
  const definition = (name: string): Promise<Read<JsonObject>> =>
    attempt(() => client.get<JsonObject>({ resource: DEFINITION, name }));
  const { configuration, finding } = await readConfigured(client, config, ABSENT, namespace);
  const { fleet, leaderElection } = configuration;
  const wanted = (part: boolean): boolean | undefined => (config === undefined ? undefined : part);
  const [assigner, queues] = [wanted(fleet.assigner.enabled), wanted(fleet.queues.enabled)];
  const place = {
    namespace: leaderElection.resourceNamespace || namespace,
    name: `${leaderElection.resourceName}-fleet`,
  };
  const queue = await definition(QUEUE_DEFINITION);
  const namespaces = await list(NAMESPACES);
  const version = await client.read<JsonObject>('/version');
  const kubernetes = ownString(version, 'gitVersion') ?? '';
  const account = `system:serviceaccount:${namespace}:${MUSTER_SERVICE_ACCOUNT}`;
  const rules = [
    ...(assigner === false ? [] : ASSIGNER_RULES),
    ...(queues === false || (queues === undefined && queue.state === 'absent') ? [] : QUEUE_RULES),
  ];
  const findings = [
    // Karmada's API server prepares no gangs, so any version is good.
    saying('cluster', 'version').ok(`Kubernetes ${kubernetes}`),
    finding,
    ...checkFleetDefinitions(
      {
        bindings: await Promise.all(
          BINDING_DEFINITIONS.map(async (name) => [name, await definition(name)] as const),
        ),
        queue,
      },
      queues,
    ),
    ...(rules.length === 0
      ? []
      : checkRights(
          await readRights(client, account, rightsOf([...rules, ...LEADER_RULES], place)),
          'kubectl apply -k manifests/karmada/assigner, and -k manifests/karmada/queues for queues',
        )),
    ...checkInterpreter(
      {
        webhooks: await listed(CONFIG, 'ResourceInterpreterWebhookConfiguration'),
        customizations: await listed(CONFIG, 'ResourceInterpreterCustomization'),
      },
      kindsWith(fleet.kinds),
      wanted(fleet.interpreter),
    ),
    ...checkHolding(
      {
        webhooks: await listed(ADMISSION, 'MutatingWebhookConfiguration'),
        policies: await listed(ADMISSION, 'ValidatingAdmissionPolicy'),
        policyBindings: await listed(ADMISSION, 'ValidatingAdmissionPolicyBinding'),
        definition: queue,
        service: await attempt(() =>
          client.get<JsonObject>({ resource: SERVICE, namespace, name: MUSTER_SERVICE_ACCOUNT }),
        ),
      },
      queues,
    ),
    ...(queue.state === 'found' && queues !== false
      ? [checkBindingTrial(namespaces, await tryBinding(client, namespaces))]
      : []),
    ...checkActing({
      ...{ now, assigner, queues, schedulerName: fleet.assigner.schedulerName },
      lease: leaderElection.enabled
        ? {
            key: `${place.namespace}/${place.name}`,
            read: await attempt(async () =>
              readLease(await client.get<KubeObject>({ resource: LEASES, ...place })),
            ),
          }
        : undefined,
      policies: [
        await listed(POLICY, 'PropagationPolicy', true),
        await listed(POLICY, 'ClusterPropagationPolicy'),
      ],
      bindings: [await list(RESOURCE_BINDINGS), await list(CLUSTER_RESOURCE_BINDINGS)],
      clusters: await list(CLUSTERS),
    }),
  ];
  return { kubernetes, findings };
}

const BINDINGS = ['resourcebindings', 'clusterresourcebindings'];
const EVENTS: ExpectedRule = {
  ...{ group: 'events.k8s.io', resources: ['events'], verbs: ['create', 'patch'] },
  why: 'says what became of a binding',
};
/** The built-in kinds of workloads of a fleet, by their API group. */
const workloads = Map.groupBy(
  kinds.filter(({ fleet }) => fleet !== undefined),
  ({ group }) => group,
);

/** Rules of the Role in manifests/karmada/assigner and in manifests/karmada/queues. */
const LEADER_RULES: readonly ExpectedRule[] = [
  {
    ...{ group: 'coordination.k8s.io', resources: ['leases'], verbs: ['create'], lease: 'namespace' },
    why: 'one replica at a time acts',
  },
  {
    ...{ group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'update'], lease: 'name' },
    why: 'the same',
  },
];

/** Rules of the ClusterRole in manifests/karmada/assigner; a test compares both. */
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

/** Rules of the ClusterRole in manifests/karmada/queues; a test compares both. */
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
