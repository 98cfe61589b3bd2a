import type { PodGang } from '../../api/pod-gang.ts';
import type { Resource } from '../../k8s/resource.ts';

/** KAI's names, as in its source. Facts about its versions are in README.md. */
export const KAI_NAME = 'kai-scheduler';

export const POD_GROUP: Resource = {
  group: 'scheduling.run.ai',
  version: 'v2alpha2',
  plural: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
};
export const POD_GROUP_API_VERSION = 'scheduling.run.ai/v2alpha2';
export const POD_GROUP_CRD = 'podgroups.scheduling.run.ai';

export const TOPOLOGY: Resource = {
  group: 'kai.scheduler',
  version: 'v1alpha1',
  plural: 'topologies',
  kind: 'Topology',
  namespaced: false,
};
export const TOPOLOGIES_PATH = '/apis/kai.scheduler/v1alpha1/topologies';

/** On a Pod, for people: its gang and its group. KAI does not read them. */
export const ANNOTATION_POD_GANG = 'kai.scheduler/podgang';
export const ANNOTATION_POD_GROUP = 'kai.scheduler/podgroup';
/**
 * On a Pod, for KAI: the podgrouper makes no PodGroup for the Pod (read from 0.15 on), and the PodGroup to join. KAI's own
 * key for the latter has no prefix.
 */
export const ANNOTATION_SKIP_PODGROUPER = 'kai.scheduler/skip-podgrouper';
export const ANNOTATION_POD_GROUP_NAME = 'pod-group-name';
/** On a Pod, for KAI: its sub-group in the PodGroup. A Pod without it counts for a sub-group named `default`. */
export const LABEL_SUBGROUP_NAME = 'kai.scheduler/subgroup-name';

/** On a PodGang, as a label or an annotation: the queue. On a Pod only KAI's own podgrouper reads the label. */
export const KEY_QUEUE = 'kai.scheduler/queue';
/** On a PodGang: the shard of the cluster. Copied to the PodGroup, where KAI reads it. */
export const LABEL_NODE_POOL = 'kai.scheduler/node-pool';
/** On a PodGang: one of {@link PREEMPTIBILITY}. Without it KAI decides by the priority. */
export const LABEL_PREEMPTIBILITY = 'kai.scheduler/preemptibility';
export const PREEMPTIBILITY: readonly string[] = ['preemptible', 'non-preemptible'];

/** On a PodGang: the name of the KAI Topology of its levels. The first annotation that is present is used. */
export const TOPOLOGY_ANNOTATIONS = ['grove.io/topology-name', 'kai.scheduler/topology'] as const;

/** KAI accepts this label only as the last level of a Topology. */
export const HOSTNAME = 'kubernetes.io/hostname';

/**
 * Name of a gang's PodGroup. KAI finds PodGroups by name alone, across namespaces, so the namespace is part of the name. A
 * namespace has no dot, so the first dot separates the two parts.
 */
export const podGroupName = (namespace: string, gang: string): string => `${namespace}.${gang}`;

export const podGroupNameOf = ({ namespace, name }: Pick<PodGang, 'namespace' | 'name'>): string =>
  podGroupName(namespace, name);

/** The queue on the PodGang itself: the label before the annotation; an empty value counts as absent. */
export const ownQueue = ({
  labels,
  annotations,
}: Pick<PodGang, 'labels' | 'annotations'>): string | undefined =>
  labels.get(KEY_QUEUE) || annotations.get(KEY_QUEUE) || undefined;

/** The queue of a gang; undefined when neither the gang nor the configuration names one. */
export const kaiQueueOf = (gang: PodGang, fallback: string | undefined): string | undefined =>
  ownQueue(gang) ?? fallback;
