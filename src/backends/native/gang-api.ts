import type { Json, JsonObject } from '../../json/json.ts';
import type { Resource } from '../../k8s/resource.ts';
import type { PodPatch, PodReader } from '../backend.ts';
import type { NativeGang } from './native-gangs.ts';

/** The API group of native gangs. PriorityClass is in the same group, in versions of the same names. */
export const SCHEDULING_GROUP = 'scheduling.k8s.io';

export const NATIVE_DISRUPTION_MODES = ['pod', 'gang'] as const;
/** What one preemption evicts: a Pod or a whole PodGroup. */
export type NativeDisruptionMode = (typeof NATIVE_DISRUPTION_MODES)[number];

/** One version of the native gang API. Each release of Kubernetes since 1.35 has changed its fields. */
export interface GangApi {
  readonly version: 'v1beta1' | 'v1alpha3' | 'v1alpha2' | 'v1alpha1';
  readonly workloads: Resource;
  /** undefined in a version whose Workload lists the groups, without PodGroup objects. */
  readonly podGroups: Resource | undefined;
  /** Names of fields in a Workload's spec, and in each entry of its list. */
  readonly templates: 'podGroupTemplates' | 'podGroups';
  readonly policy: 'schedulingPolicy' | 'policy';
  /** Reference from a PodGroup's spec to its template. */
  templateRef(workloadName: string, template: string): JsonObject;
  readonly disruptionMode: Readonly<Record<NativeDisruptionMode, Json>> | undefined;
  /**
   * Whether `minCount` of a stored PodGroup may change. Every other field that Muster writes is immutable, and so are
   * templates.
   */
  readonly minCountChanges: boolean;
  /** Whether the scheduler tries no Pod of a group while an unbound Pod of the group has a gate. */
  readonly waitsForGated: boolean;
  /** Whether PodGroups of this version may be in a CompositePodGroup. */
  readonly nests: boolean;
  /** Reference of a Pod to its gang, in the form of `GangPod.nativeGang`. */
  linkOf(gang: string, unit: Pick<NativeGang, 'template' | 'podGroup'>): string;
  /** Reference in a Pod under review, in the same form; undefined when the Pod names no gang. */
  linkIn(pod: PodReader): string | undefined;
  /** Field of the Pod that names the gang. */
  readonly linkField: string;
  link(patch: PodPatch, gang: string, unit: Pick<NativeGang, 'template' | 'podGroup'>): void;
}

const WHY = 'the native gang that the scheduler counts it for';

const resource = (version: string, plural: string, kind: string): Resource => ({
  group: SCHEDULING_GROUP,
  version,
  plural,
  kind,
  namespaced: true,
});

/** Common part of 1.36 and 1.37: PodGroups are objects, and a Pod names one. */
const withPodGroups = (version: GangApi['version']) =>
  ({
    version,
    workloads: resource(version, 'workloads', 'Workload'),
    podGroups: resource(version, 'podgroups', 'PodGroup'),
    templates: 'podGroupTemplates',
    policy: 'schedulingPolicy',
    linkOf: (_gang, { podGroup }) => podGroup,
    linkIn: (pod) => pod.schedulingGroup,
    linkField: 'spec.schedulingGroup.podGroupName',
    link: (patch, _gang, { podGroup }) => patch.setSchedulingGroup(podGroup, WHY),
  }) satisfies Partial<GangApi>;

const asOf137 = (version: 'v1beta1' | 'v1alpha3'): GangApi => ({
  ...withPodGroups(version),
  templateRef: (workloadName, templateName) => ({ workloadRef: { workloadName, templateName } }),
  disruptionMode: { pod: { single: {} }, gang: { all: {} } },
  minCountChanges: true,
  waitsForGated: true,
  nests: true,
});

const asOf136: GangApi = {
  ...withPodGroups('v1alpha2'),
  templateRef: (workloadName, podGroupTemplateName) => ({
    podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } },
  }),
  disruptionMode: { pod: 'Pod', gang: 'PodGroup' },
  minCountChanges: false,
  waitsForGated: false,
  nests: false,
};

const asOf135: GangApi = {
  version: 'v1alpha1',
  workloads: resource('v1alpha1', 'workloads', 'Workload'),
  podGroups: undefined,
  templates: 'podGroups',
  policy: 'policy',
  templateRef: () => ({}),
  disruptionMode: undefined,
  minCountChanges: false,
  waitsForGated: false,
  nests: false,
  linkOf: (gang, { template }) => `${gang}/${template}`,
  // Copies of a group (`podGroupReplicaKey`) are counted separately, so a Pod of a copy does not belong to Muster's group.
  linkIn: ({ workloadRef }) =>
    workloadRef &&
    [workloadRef.name, workloadRef.podGroup, workloadRef.podGroupReplicaKey ?? []].flat().join('/'),
  linkField: 'spec.workloadRef',
  link: (patch, gang, { template }) => patch.setWorkloadRef({ name: gang, podGroup: template }, WHY),
};

/** Groups several PodGroups of a gang: alpha in 1.37, with a feature gate of its own, in one version only. */
export const COMPOSITE_POD_GROUPS = resource('v1alpha3', 'compositepodgroups', 'CompositePodGroup');

/** Newest first: the order in which a cluster is probed. */
export const GANG_APIS: readonly GangApi[] = [asOf137('v1beta1'), asOf137('v1alpha3'), asOf136, asOf135];

/** For messages: `scheduling.k8s.io/v1alpha2`. */
export const nativeApiVersion = ({ version }: GangApi): string => `${SCHEDULING_GROUP}/${version}`;

/** The kind that shows that a served version of the API group has gangs. */
export const markerKind = (api: GangApi): Resource => api.podGroups ?? api.workloads;
