import type { Json, JsonObject } from '../../json/json.ts';
import type { Resource } from '../../k8s/resource.ts';
import type { PodPatch, PodReader } from '../backend.ts';
import type { NativeGang } from './native-gangs.ts';

/** The API group of native gangs. It has PriorityClasses too, in versions of the same names. */
export const SCHEDULING_GROUP = 'scheduling.k8s.io';

export const NATIVE_DISRUPTION_MODES = ['pod', 'gang'] as const;
/** What preemption takes at once. */
export type NativeDisruptionMode = (typeof NATIVE_DISRUPTION_MODES)[number];

/** One generation of the native gang API: each release of Kubernetes since 1.35 has worded it anew. */
export interface GangApi {
  readonly version: 'v1beta1' | 'v1alpha3' | 'v1alpha2' | 'v1alpha1';
  readonly workloads: Resource;
  /** undefined where a Workload lists its groups and no object stands for one. */
  readonly podGroups: Resource | undefined;
  /** Fields of a Workload's spec, and of each entry in it. */
  readonly templates: 'podGroupTemplates' | 'podGroups';
  readonly policy: 'schedulingPolicy' | 'policy';
  /** How a PodGroup's spec names the template it is of. */
  templateRef(workloadName: string, template: string): JsonObject;
  readonly disruptionMode: Readonly<Record<NativeDisruptionMode, Json>> | undefined;
  /** Whether `minCount` of a stored PodGroup may change; all else that we write never does, nor do templates. */
  readonly minCountChanges: boolean;
  /** Whether the scheduler tries no Pod of a group while any other of it, bound ones apart, has a gate. */
  readonly waitsForGated: boolean;
  /** Whether a PodGroup of it may be in a CompositePodGroup. */
  readonly nests: boolean;
  /** The gang that a Pod names, as `GangPod.nativeGang` writes it. */
  linkOf(gang: string, unit: Pick<NativeGang, 'template' | 'podGroup'>): string;
  /** The same of a Pod under review; undefined where it names none. */
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

/** What 1.36 and 1.37 have in common: PodGroups are objects, and a Pod names one. */
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
  // Copies of a group count apart, so a Pod of one copy is not of the group that we mean.
  linkIn: ({ workloadRef }) =>
    workloadRef &&
    [workloadRef.name, workloadRef.podGroup, workloadRef.podGroupReplicaKey ?? []].flat().join('/'),
  linkField: 'spec.workloadRef',
  link: (patch, gang, { template }) => patch.setWorkloadRef({ name: gang, podGroup: template }, WHY),
};

/** What holds several PodGroups of a gang together: alpha in 1.37, behind a gate of its own, in one version alone. */
export const COMPOSITE_POD_GROUPS = resource('v1alpha3', 'compositepodgroups', 'CompositePodGroup');

/** Newest first: the order in which a cluster is asked for them. */
export const GANG_APIS: readonly GangApi[] = [asOf137('v1beta1'), asOf137('v1alpha3'), asOf136, asOf135];

/** For people: `scheduling.k8s.io/v1alpha2`. */
export const nativeApiVersion = ({ version }: GangApi): string => `${SCHEDULING_GROUP}/${version}`;

/** The kind by which a version of the API group is known to have gangs at all. */
export const markerKind = (api: GangApi): Resource => api.podGroups ?? api.workloads;
