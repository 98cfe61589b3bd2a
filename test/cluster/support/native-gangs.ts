import type { Variant } from '../../../src/preemption/variants.ts';
import type { KubeList, KubeObject } from '../control-plane/client.ts';
import type { ControlPlaneOptions } from '../control-plane/control-plane.ts';
import { RELEASE } from '../control-plane/releases.ts';
import type { GangCluster } from './gang-cluster.ts';
import type { Condition } from './gang-objects.ts';
import { NAMESPACE } from './registered-muster.ts';

/** The native gang API of the release that the tests run against, as `config.api` names it. */
export const VERSION = RELEASE.gangApi ?? 'none';
export const HAS_GANGS = RELEASE.gangApi !== undefined;
/** From 1.36 on a PodGroup stands for a gang; in 1.35 the Workload does. */
export const HAS_POD_GROUPS = !['v1alpha1', 'none'].includes(VERSION);
export const GANG_KIND = HAS_POD_GROUPS ? 'PodGroup' : 'Workload';
const API = `/apis/scheduling.k8s.io/${VERSION}/namespaces/${NAMESPACE}`;
export const GANG_OBJECTS = `${API}/${HAS_POD_GROUPS ? 'podgroups' : 'workloads'}`;
export const WORKLOADS = `${API}/workloads`;

/** What a control plane takes to have CompositePodGroups, where the release knows them, and where they are. */
export const WITH_COMPOSITES: ControlPlaneOptions | undefined =
  VERSION === 'v1beta1'
    ? {
        featureGates: { CompositePodGroup: true },
        runtimeConfig: { 'scheduling.k8s.io/v1alpha3': 'true' },
      }
    : undefined;
export const COMPOSITES = `/apis/scheduling.k8s.io/v1alpha3/namespaces/${NAMESPACE}/compositepodgroups`;

/** How each release words the same: the template that a PodGroup is of, and that it was placed once. */
const SINCE_137 = VERSION === 'v1beta1';
export const templateOf = (workloadName: string): object =>
  SINCE_137
    ? { workloadRef: { workloadName, templateName: 'gang' } }
    : { podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName: 'gang' } } };
export const PLACED = SINCE_137 ? 'PodGroupInitiallyScheduled' : 'PodGroupScheduled';
/** Whether the scheduler tries none of a group while one of it is gated, and lets `minCount` change. */
export const COUNTS_RELEASED = SINCE_137;
/** The algorithm of {@link plan} that does what the release's scheduler does. */
export const VARIANT: Variant = SINCE_137 ? 'kube-1.37' : 'kube-1.36';
/** Whether it tries none of a group of which a Pod has another priority than the group. */
export const SAME_PRIORITY = SINCE_137;
/** How a PodGroup says that its Pods are disrupted all together, or each alone. */
export const DISRUPTED = SINCE_137
  ? { together: { all: {} }, alone: { single: {} } }
  : { together: 'PodGroup', alone: 'Pod' };

/** A Workload or a PodGroup. */
export interface NativeGang extends KubeObject {
  readonly spec: {
    readonly podGroups?: readonly { name: string; policy: unknown }[];
    readonly podGroupTemplates?: readonly { name: string; schedulingPolicy: unknown }[];
    readonly schedulingPolicy?: unknown;
    readonly priorityClassName?: string;
    readonly priority?: number;
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** How many Pods the scheduler waits for, by the object that it reads. */
export function policyOf({ spec }: NativeGang): unknown {
  return HAS_POD_GROUPS ? spec.schedulingPolicy : spec.podGroups?.[0]?.policy;
}

/** What a prepared Pod of the gang has in its spec. */
export const linkTo = (gang: string): object =>
  HAS_POD_GROUPS
    ? { schedulingGroup: { podGroupName: gang } }
    : { workloadRef: { name: gang, podGroup: 'gang' } };

export const nativeGang = (cluster: GangCluster, name: string): Promise<NativeGang> =>
  cluster.client.ok<NativeGang>('GET', `${GANG_OBJECTS}/${name}`);

/** Names of all Workloads and PodGroups of the namespace. */
export async function allNative(cluster: GangCluster): Promise<string[]> {
  const lists = await Promise.all(
    [...new Set([WORKLOADS, GANG_OBJECTS])].map((path) => cluster.client.ok<KubeList>('GET', path)),
  );
  return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
}

/** Of a container, in whole CPUs. */
export const cpus = (count: number): object => ({
  containers: [{ name: 'main', image: 'example/train:1', resources: { requests: { cpu: String(count) } } }],
});
