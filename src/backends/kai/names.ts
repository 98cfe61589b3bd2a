import type { PodGang } from '../../api/pod-gang.ts';
import type { Resource } from '../../k8s/resource.ts';

/** KAI's names, as they stand in its source; facts about its versions are in README.md. */
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

/** On a Pod, for people: its gang and its group (from the requirements; KAI itself does not read them). */
export const ANNOTATION_POD_GANG = 'kai.scheduler/podgang';
export const ANNOTATION_POD_GROUP = 'kai.scheduler/podgroup';
/** On a Pod, for KAI: no PodGroup of its own making (read from 0.15 on), and the one to join. The bare key is KAI's. */
export const ANNOTATION_SKIP_PODGROUPER = 'kai.scheduler/skip-podgrouper';
export const ANNOTATION_POD_GROUP_NAME = 'pod-group-name';
/** On a Pod, for KAI: the sub-group of that PodGroup; without it a Pod falls into one named `default`. */
export const LABEL_SUBGROUP_NAME = 'kai.scheduler/subgroup-name';

/** On a PodGang, as a label or an annotation: the queue. On a Pod only KAI's own podgrouper reads the label. */
export const KEY_QUEUE = 'kai.scheduler/queue';
/** On a PodGang: the shard of the cluster. KAI reads the PodGroup's label. */
export const LABEL_NODE_POOL = 'kai.scheduler/node-pool';
/** On a PodGang: one of {@link PREEMPTIBILITY}; without it KAI goes by the priority. */
export const LABEL_PREEMPTIBILITY = 'kai.scheduler/preemptibility';
export const PREEMPTIBILITY: readonly string[] = ['preemptible', 'non-preemptible'];

/** On a PodGang: the name of the KAI Topology that its levels belong to. The first that is there counts. */
export const TOPOLOGY_ANNOTATIONS = ['grove.io/topology-name', 'kai.scheduler/topology'] as const;

/** The only place in a Topology where KAI allows this label is the last. */
export const HOSTNAME = 'kubernetes.io/hostname';

/**
 * The PodGroup of a gang. KAI finds groups by name alone, over all namespaces, so the namespace is part of it; a
 * namespace has no dot, so the first one parts the two.
 */
export const podGroupName = (namespace: string, gang: string): string => `${namespace}.${gang}`;

export const podGroupNameOf = ({ namespace, name }: Pick<PodGang, 'namespace' | 'name'>): string =>
  podGroupName(namespace, name);

/** The queue that a PodGang names itself: the label goes before the annotation, and an empty one is none. */
export const ownQueue = ({
  labels,
  annotations,
}: Pick<PodGang, 'labels' | 'annotations'>): string | undefined =>
  labels.get(KEY_QUEUE) || annotations.get(KEY_QUEUE) || undefined;

/** The queue that a gang waits in; undefined where neither it nor the configuration names one. */
export const kaiQueueOf = (gang: PodGang, fallback: string | undefined): string | undefined =>
  ownQueue(gang) ?? fallback;
