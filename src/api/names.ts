/**
 * Names that Muster shares with Kubernetes, Grove and users. They are in one file so that a test can compare the
 * documentation and manifests with them.
 */

/** PodGang, the gang API: `scheduler.grove.io/v1alpha1`. */
export const POD_GANG_GROUP = 'scheduler.grove.io';
export const POD_GANG_VERSION = 'v1alpha1';
export const POD_GANG_API_VERSION = `${POD_GANG_GROUP}/${POD_GANG_VERSION}`;
export const POD_GANG_KIND = 'PodGang';

/** Label on a Pod: the name of its PodGang, in the Pod's own namespace. Its presence makes it a gang Pod. */
export const LABEL_POD_GANG = 'grove.io/podgang';
/** Label on a Pod: the name of its group, `spec.podgroups[].name` of its PodGang. */
export const LABEL_POD_CLIQUE = 'grove.io/podclique';
/** Label on a Pod of a scaled gang: the PodGang that has to be scheduled before it. */
export const LABEL_BASE_POD_GANG = 'grove.io/base-podgang';
/** Label on a PodGang or a Pod: the backend that serves it. */
export const LABEL_SCHEDULER_NAME = 'grove.io/scheduler-name';
/** Annotation on a Namespace: the backend of its gangs that name none. The key is that of the label. */
export const ANNOTATION_SCHEDULER_NAME = LABEL_SCHEDULER_NAME;
/** Label on a PodGang: which operator writes its references and conditions and removes its gates. */
export const LABEL_MANAGED_BY = 'app.kubernetes.io/managed-by';
/** Value of {@link LABEL_MANAGED_BY} on gangs of the Grove operator. */
export const MANAGED_BY_GROVE = 'grove-operator';
/** Value of {@link LABEL_MANAGED_BY} on the objects that Muster keeps for a scheduler. */
export const MANAGED_BY_MUSTER = 'muster';

/** The scheduling gate that keeps a gang Pod from its scheduler until the gang is complete. */
export const GATE_POD_GANG_PENDING = 'grove.io/podgang-pending-creation';

/** Annotation of a mirror Pod, set by the kubelet for a static Pod. */
export const ANNOTATION_MIRROR_POD = 'kubernetes.io/config.mirror';

/**
 * Label of a LeaderWorkerSet's Pods: the revision that they were created from (api/leaderworkerset/v1 of
 * kubernetes-sigs/lws). When the revision changes, the whole group of Pods is replaced.
 */
export const LABEL_LWS_REVISION = 'leaderworkerset.sigs.k8s.io/template-revision-hash';

/**
 * Label of a LeaderWorkerSet's Pods: 0 for the leader of a group. The leader controls the StatefulSet of its workers, so the
 * workers are deleted with it (pkg/controllers/pod_controller.go of kubernetes-sigs/lws).
 */
export const LABEL_LWS_WORKER_INDEX = 'leaderworkerset.sigs.k8s.io/worker-index';

/**
 * Label of a JobSet's Pods: how often the JobSet had been restarted when the Pod was created (pkg/constants of
 * kubernetes-sigs/jobset).
 */
export const LABEL_JOBSET_ATTEMPT = 'jobset.sigs.k8s.io/restart-attempt';

/** API group of Muster's own kinds. */
export const MUSTER_GROUP = 'muster.dev';
export const MUSTER_VERSION = 'v1alpha1';
/** Prefix of all of Muster's own keys. */
export const MUSTER_PREFIX = `${MUSTER_GROUP}/`;

/**
 * Annotation on a PodGang, such as `workers=8,leader=1`: how many Pods each group will have before the gang is complete,
 * where that is more than `minReplicas`. Groups that it does not name keep their minimum. Without it Pods beyond the minimum
 * are late Pods, and each may cost a write of references.
 */
export const ANNOTATION_EXPECTED_PODS = `${MUSTER_PREFIX}expected-pods`;

/** Label on the Pod template of a workload, `"true"`: its Pods form a gang, which Muster names and creates. */
export const LABEL_GANG = `${MUSTER_PREFIX}gang`;
/**
 * Label or annotation beside {@link LABEL_GANG} on a JobSet's template: `replicatedjob` makes each replicated job a gang.
 */
export const MARK_GANG_PER = `${MUSTER_PREFIX}gang-per`;
/**
 * Annotation beside {@link LABEL_GANG}: how many Pods the groups have, `leader=1,worker=7`, where Muster has no right to
 * read the workload.
 */
export const ANNOTATION_GANG_SIZE = `${MUSTER_PREFIX}gang-size`;
/** Annotations of a PodGang that Muster made for a workload: the workload (`job/train`), its uid, and how it ended. */
export const ANNOTATION_WORKLOAD = `${MUSTER_PREFIX}workload`;
export const ANNOTATION_WORKLOAD_UID = `${MUSTER_PREFIX}workload-uid`;
export const ANNOTATION_WORKLOAD_RESULT = `${MUSTER_PREFIX}workload-result`;

/** Annotation of a PodGang: the uids of the Pods that Muster is evicting for the gang. */
export const ANNOTATION_PREEMPTION_PLAN = `${MUSTER_PREFIX}preemption-plan`;

/** API group of HPCPolicy, which says how the Pods of a gang are prepared for a program that runs on all of them. */
export const HPC_POLICY_GROUP = MUSTER_GROUP;
export const HPC_POLICY_VERSION = MUSTER_VERSION;
export const HPC_POLICY_API_VERSION = `${HPC_POLICY_GROUP}/${HPC_POLICY_VERSION}`;
export const HPC_POLICY_KIND = 'HPCPolicy';
/** Annotation of a PodGang, or of a workload's Pod template: the HPCPolicy of its namespace that prepares its Pods. */
export const ANNOTATION_HPC_POLICY = `${MUSTER_PREFIX}hpc-policy`;
/** Annotation of a PodGang: the host names of its groups, `main=train-[0-3]`. */
export const ANNOTATION_HOSTS = `${MUSTER_PREFIX}hosts`;
/**
 * Annotation of a Pod: the HPCPolicy by which Muster prepared it, with a hash of the policy's settings that are not
 * defaults.
 */
export const ANNOTATION_PREPARED = `${MUSTER_PREFIX}prepared`;

/** Annotation of a workload or of its PropagationPolicy, copied to its binding: the FleetQueue of the workload. */
export const ANNOTATION_FLEET_QUEUE = `${MUSTER_PREFIX}fleet-queue`;
/** Label of a namespace on Karmada's API server: its bindings wait in a FleetQueue, by default in this one. */
export const LABEL_FLEET_QUEUE = ANNOTATION_FLEET_QUEUE;
/** Annotation of a binding that is held until the loop has read the annotations of its workload and its policy. */
export const ANNOTATION_FLEET_TERMS = `${MUSTER_PREFIX}fleet-terms`;
/** The only value of {@link ANNOTATION_FLEET_TERMS}. */
export const TERMS_UNREAD = 'unread';

/** API group of Karmada's bindings, which say to which clusters of a fleet a workload goes. */
export const BINDING_GROUP = 'work.karmada.io';
export const BINDING_VERSION = 'v1alpha2';
export const BINDING_KINDS: readonly string[] = ['ResourceBinding', 'ClusterResourceBinding'];

/** Prefix of the finalizer on PodGangs of a backend that cleans up after them itself; the backend's name follows. */
export const CLEANUP_FINALIZER_PREFIX = `cleanup.${MUSTER_PREFIX}`;

/** Muster's namespace and account. */
export const MUSTER_NAMESPACE = 'muster-system';
export const MUSTER_SERVICE_ACCOUNT = 'muster';
export const MUSTER_USER = `system:serviceaccount:${MUSTER_NAMESPACE}:${MUSTER_SERVICE_ACCOUNT}`;
/** The Grove operator's account in its chart's default namespace. */
export const GROVE_OPERATOR_USER = 'system:serviceaccount:grove-system:grove-operator';

/** Namespace whose Pods are never touched, besides Muster's own. */
export const SYSTEM_NAMESPACE = 'kube-system';

/** Request paths of the webhooks: `/<verb>-<group>-<version>-<kind>`, the convention of kubebuilder. */
export const PATH_MUTATE_POD = '/mutate-v1-pod';
export const PATH_VALIDATE_POD = '/validate-v1-pod';
export const PATH_MUTATE_POD_GANG = '/mutate-scheduler-grove-io-v1alpha1-podgang';
export const PATH_INTERPRET = '/interpret-config-karmada-io-v1alpha1-resourceinterpretercontext';
export const PATH_MUTATE_BINDING = '/mutate-work-karmada-io-v1alpha2-resourcebinding';
export const PATH_VALIDATE_POD_GANG = '/validate-scheduler-grove-io-v1alpha1-podgang';
export const PATH_VALIDATE_HPC_POLICY = '/validate-muster-dev-v1alpha1-hpcpolicy';
/** Path for every kind that has Pod templates. */
export const PATH_VALIDATE_WORKLOAD = '/validate-workload';

/** The word of a container's command that starts its program under Flux. */
export const FLUX_ENTRYPOINT = '/etc/flux-config/entrypoint.sh';
