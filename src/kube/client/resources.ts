import {
  BINDING_GROUP,
  BINDING_VERSION,
  HPC_POLICY_GROUP,
  HPC_POLICY_KIND,
  HPC_POLICY_VERSION,
  MUSTER_GROUP,
  MUSTER_VERSION,
  POD_GANG_GROUP,
  POD_GANG_KIND,
  POD_GANG_VERSION,
} from '../../api/names.ts';
import type { Resource } from '../../k8s/resource.ts';

export type { Resource };

/** `metadata` as the API server sends it; further fields are passed on unchanged. */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly ownerReferences?: readonly unknown[];
  readonly finalizers?: readonly string[];
}

/** Any object as raw JSON. There are no model classes: they would drop the fields that they do not know. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** One object, or a subresource of it. */
export interface Target {
  readonly resource: Resource;
  /** Required for namespaced resources. */
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: string;
}

export const NAMESPACES: Resource = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
export const PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
export const SECRETS: Resource = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
};
export const POD_GANGS: Resource = {
  group: POD_GANG_GROUP,
  version: POD_GANG_VERSION,
  plural: 'podgangs',
  kind: POD_GANG_KIND,
  namespaced: true,
};
export const PRIORITY_CLASSES: Resource = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  plural: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
};
export const HPC_POLICIES: Resource = {
  group: HPC_POLICY_GROUP,
  version: HPC_POLICY_VERSION,
  plural: 'hpcpolicies',
  kind: HPC_POLICY_KIND,
  namespaced: true,
};
export const LEASES: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
};
export const EVENTS: Resource = {
  group: 'events.k8s.io',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
};

/** Karmada's Cluster: a member cluster of a fleet. */
export const CLUSTERS: Resource = {
  group: 'cluster.karmada.io',
  version: 'v1alpha1',
  plural: 'clusters',
  kind: 'Cluster',
  namespaced: false,
};
export const RESOURCE_BINDINGS: Resource = {
  group: BINDING_GROUP,
  version: BINDING_VERSION,
  plural: 'resourcebindings',
  kind: 'ResourceBinding',
  namespaced: true,
};
export const CLUSTER_RESOURCE_BINDINGS: Resource = {
  group: BINDING_GROUP,
  version: BINDING_VERSION,
  plural: 'clusterresourcebindings',
  kind: 'ClusterResourceBinding',
  namespaced: false,
};

/** Muster's FleetQueue, which decides in which order gangs of a fleet are placed. */
export const FLEET_QUEUES: Resource = {
  group: MUSTER_GROUP,
  version: MUSTER_VERSION,
  plural: 'fleetqueues',
  kind: 'FleetQueue',
  namespaced: false,
};

/** The path of the collection in one namespace, or in all when none is given. */
export function collectionPath(resource: Resource, namespace?: string): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const inside =
    resource.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}/${resource.version}${inside}/${resource.plural}`;
}

/** @throws when a namespaced object has no namespace: the path would address the whole cluster */
export function objectPath({ resource, namespace, name, subresource }: Target): string {
  if (resource.namespaced && !namespace) throw new TypeError(`${resource.kind} ${name}: no namespace given`);
  if (name === '') throw new TypeError(`${resource.kind}: no name given`);
  const path = `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

const core = (plural: string, kind: string, namespaced: boolean): Resource => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced,
});

const SCHEDULING = 'scheduling.k8s.io';

/** The resources that a plan depends on, each with its versions; of native PodGroups the newest served version is read. */
export const SNAPSHOT_RESOURCES: readonly (readonly Resource[])[] = [
  [core('nodes', 'Node', false)],
  [PODS],
  [NAMESPACES],
  [core('persistentvolumes', 'PersistentVolume', false)],
  [core('persistentvolumeclaims', 'PersistentVolumeClaim', true)],
  [
    {
      group: 'policy',
      version: 'v1',
      plural: 'poddisruptionbudgets',
      kind: 'PodDisruptionBudget',
      namespaced: true,
    },
  ],
  [PRIORITY_CLASSES],
  [POD_GANGS],
  ['v1', 'v1beta1', 'v1alpha3', 'v1alpha2'].map((version) => ({
    group: SCHEDULING,
    version,
    plural: 'podgroups',
    kind: 'PodGroup',
    namespaced: true,
  })),
];

/** The resources that reading a snapshot needs rights for, in messages and pages: `poddisruptionbudgets.policy`. */
export const SNAPSHOT_RIGHTS: readonly string[] = SNAPSHOT_RESOURCES.map(([first]) =>
  first === undefined ? '' : first.group === '' ? first.plural : `${first.plural}.${first.group}`,
);
