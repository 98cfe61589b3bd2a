import { definition, int32, list, map, object, resources, string } from './definition.ts';

const strings = list(string());

/** Where Karmada is told whom to ask about which workloads. It has no spec: its webhooks stand at the top. */
export const interpreterWebhookConfigurations = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'resourceinterpreterwebhookconfigurations.config.karmada.io' },
  spec: {
    group: 'config.karmada.io',
    scope: 'Cluster',
    names: {
      plural: 'resourceinterpreterwebhookconfigurations',
      singular: 'resourceinterpreterwebhookconfiguration',
      kind: 'ResourceInterpreterWebhookConfiguration',
      listKind: 'ResourceInterpreterWebhookConfigurationList',
    },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: object(
            {
              apiVersion: string(),
              kind: string(),
              metadata: { type: 'object' },
              webhooks: list(
                object(
                  {
                    name: string(),
                    clientConfig: object({
                      url: string(),
                      caBundle: string({ format: 'byte' }),
                      service: object(
                        { name: string(), namespace: string(), path: string(), port: int32() },
                        { required: ['name', 'namespace'] },
                      ),
                    }),
                    rules: list(
                      object(
                        { operations: strings, apiGroups: strings, apiVersions: strings, kinds: strings },
                        { required: ['operations', 'apiGroups', 'apiVersions', 'kinds'] },
                      ),
                    ),
                    timeoutSeconds: int32(),
                    interpreterContextVersions: strings,
                  },
                  { required: ['name', 'clientConfig', 'interpreterContextVersions'] },
                ),
              ),
            },
            { required: ['webhooks'] },
          ),
        },
      },
    ],
  },
};

const replicaRequirements = object({
  nodeClaim: object({
    nodeSelector: map(string()),
    tolerations: list(object({ key: string(), operator: string(), value: string(), effect: string() })),
    hardNodeAffinity: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }),
  resourceRequest: resources,
  priorityClassName: string(),
});

const time = string({ format: 'date-time' });
const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const componentReplicas = list(
  object({ name: string(), replicas: int32() }, { required: ['name', 'replicas'] }),
);

/** @param given.targetComponents whether `spec.clusters[].components` is kept; no release up to 1.19 has it */
const bindingDefinition = (given: {
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly targetComponents?: boolean;
}) =>
  definition({
    group: 'work.karmada.io',
    version: 'v1alpha2',
    ...given,
    status: true,
    spec: object(
      {
        resource: object(
          {
            apiVersion: string(),
            kind: string(),
            namespace: string(),
            name: string(),
            uid: string(),
            resourceVersion: string(),
          },
          { required: ['apiVersion', 'kind', 'name'] },
        ),
        schedulerName: string(),
        replicas: int32(),
        replicaRequirements,
        components: list(
          object(
            { name: string({ maxLength: 32 }), replicas: int32(), replicaRequirements },
            { required: ['name', 'replicas'] },
          ),
        ),
        clusters: list(
          object(
            {
              name: string(),
              replicas: int32(),
              ...(given.targetComponents && { components: componentReplicas }),
            },
            { required: ['name'] },
          ),
        ),
        placement: object({
          clusterAffinity: free,
          clusterAffinities: list(free),
          clusterTolerations: list(free),
          spreadConstraints: list(
            object({
              spreadByField: string(),
              spreadByLabel: string(),
              minGroups: int32(),
              maxGroups: int32(),
            }),
          ),
          replicaScheduling: object({
            replicaSchedulingType: string({ enum: ['Duplicated', 'Divided'], default: 'Divided' }),
            replicaDivisionPreference: string({ enum: ['Aggregated', 'Weighted'] }),
            weightPreference: free,
          }),
        }),
        gracefulEvictionTasks: list(
          object({ fromCluster: string(), reason: string(), producer: string(), replicas: int32() }),
        ),
        suspension: object({
          scheduling: { type: 'boolean' },
          dispatching: { type: 'boolean' },
          dispatchingOnClusters: object({ clusterNames: strings }),
        }),
        schedulePriority: object({ priority: int32() }),
        rescheduleTriggeredAt: time,
        propagateDeps: { type: 'boolean' },
        conflictResolution: string(),
      },
      { required: ['resource'] },
    ),
    statusSchema: object({
      schedulerObservedGeneration: { type: 'integer', format: 'int64' },
      schedulerObservingAffinityName: string(),
      lastScheduledTime: time,
      conditions: list(
        object(
          { type: string(), status: string(), reason: string(), message: string(), lastTransitionTime: time },
          { required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'] },
        ),
      ),
      aggregatedStatus: list(free),
    }),
  });

/** Karmada's bindings as its releases have them. */
export const resourceBindings = bindingDefinition({
  kind: 'ResourceBinding',
  plural: 'resourcebindings',
  scope: 'Namespaced',
});
export const clusterResourceBindings = bindingDefinition({
  kind: 'ClusterResourceBinding',
  plural: 'clusterresourcebindings',
  scope: 'Cluster',
  targetComponents: true,
});

/** A cluster of the fleet. Karmada serves them from an API server of its own; of the fields none is checked here. */
export const fleetClusters = definition({
  group: 'cluster.karmada.io',
  version: 'v1alpha1',
  kind: 'Cluster',
  plural: 'clusters',
  scope: 'Cluster',
  status: true,
  spec: free,
  statusSchema: free,
});
