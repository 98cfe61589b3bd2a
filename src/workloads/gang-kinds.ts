import { MARK_GANG_PER } from '../api/names.ts';
import type { GangKind, PodMarks, PodReading } from './gang-kind.ts';
import { jobSetCompletions } from './job-sets.ts';
import { failedIndexes, MAIN } from './plain.ts';

// https://kubernetes.io/docs/reference/labels-annotations-taints/: both are what the controllers of Kubernetes write.
const JOB_NAME = 'batch.kubernetes.io/job-name';
const POD_NAME = 'statefulset.kubernetes.io/pod-name';
// https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#pod-template-hash-label; a Deployment's ReplicaSet
// is called after it, one that stands by itself has none.
const TEMPLATE_HASH = 'pod-template-hash';
// https://jobset.sigs.k8s.io/docs/concepts/#jobset-labels: on Jobs and Pods; a Job is called <JobSet>-<replicated job>-<index>.
const JOBSET = 'jobset.sigs.k8s.io/jobset-name';
const JOBSET_UID = 'jobset.sigs.k8s.io/jobset-uid';
const REPLICATED_JOB = 'jobset.sigs.k8s.io/replicatedjob-name';
const JOB_INDEX = 'jobset.sigs.k8s.io/job-index';
// https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/. Leaders are called <set>-<group>,
// workers <set>-<group>-<index>; pkg/webhooks/pod_webhook.go of kubernetes-sigs/lws writes the group of a leader.
const LWS = 'leaderworkerset.sigs.k8s.io/name';
const LWS_GROUP = 'leaderworkerset.sigs.k8s.io/group-index';
// pkg/apis/kubeflow.org/v1/common_types.go of kubeflow/training-operator; kubeflow/mpi-operator has the same keys
// (pkg/apis/kubeflow/v2beta1/constants.go), and writes the role alone on Pods (defaultLabels in pkg/controller).
const TRAINING_JOB = 'training.kubeflow.org/job-name';
const TRAINING_ROLE = 'training.kubeflow.org/replica-type';
const MPI_ROLE = 'training.kubeflow.org/job-role';
// ray-operator/controllers/ray/utils/constant.go of ray-project/kuberay; which of them a template cannot set itself is said
// by labelPod in controllers/ray/common/pod.go.
const RAY_CLUSTER = 'ray.io/cluster';
const RAY_NODE = 'ray.io/node-type';
const RAY_GROUP = 'ray.io/group';
// staging/src/volcano.sh/apis/pkg/apis/batch/v1alpha1/labels.go of volcano-sh/volcano: labels and annotations.
const VOLCANO_JOB = 'volcano.sh/job-name';
const VOLCANO_TASK = 'volcano.sh/task-spec';

/** What the head of a RayCluster is called in the table of workloads. */
const RAY_HEAD = 'ray-head';

/** The workload controls its Pods itself, and writes its name into a label of theirs. */
const named =
  (key: string, groupOf: (pod: PodMarks) => string | undefined): GangKind['read'] =>
  (pod, { name, uid }): PodReading => {
    if (pod.label(key) !== name) return { differs: key };
    const group = groupOf(pod);
    return group === undefined ? { differs: key } : { name, uid, group };
  };

const training = (short: string, kind: string): GangKind => ({
  short,
  ...{ group: 'kubeflow.org', version: 'v1', kind, plural: `${short}s` },
  // The newer MPI operator starts its launcher as a Job.
  controllers: [`kubeflow.org/${kind}`, ...(short === 'mpijob' ? ['batch/Job'] : [])],
  ...(short === 'mpijob' && { otherVersion: 'v2beta1' }),
  marked: TRAINING_JOB,
  read: (pod, { kind: by, name, uid }) => {
    const job = pod.label(TRAINING_JOB) ?? '';
    const launcher = by === 'Job';
    if (name !== (launcher ? `${job}-launcher` : job)) return { differs: TRAINING_JOB };
    const role = pod.label(TRAINING_ROLE) ?? (short === 'mpijob' ? pod.label(MPI_ROLE) : undefined);
    const group = launcher ? 'launcher' : role?.toLowerCase();
    if (group === undefined) return { differs: TRAINING_ROLE };
    return { name: job, uid: launcher ? undefined : uid, group };
  },
  mark: (name, role) => ({
    labels: { [TRAINING_JOB]: name, [TRAINING_ROLE]: role },
    controller: { apiVersion: 'kubeflow.org/v1', kind, name },
  }),
});

/**
 * The kinds of workloads whose Pods may be gangs by the label `muster.dev/gang` alone. Of several that the same controller
 * may stand for, the first whose label a Pod has counts.
 */
export const gangKinds: readonly GangKind[] = [
  {
    short: 'jobset',
    ...{ group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet', plural: 'jobsets' },
    controllers: ['batch/Job'],
    marked: JOBSET,
    read: (pod, { name: job }) => {
      const [name, group, index] = [JOBSET, REPLICATED_JOB, JOB_INDEX].map((key) => pod.label(key) ?? '');
      if (job !== `${name}-${group}-${index}`) return { differs: JOBSET };
      const per = pod.label(MARK_GANG_PER) ?? pod.annotation(MARK_GANG_PER) ?? 'jobset';
      if (per !== 'jobset' && per !== 'replicatedjob') return { differs: MARK_GANG_PER };
      const uid = pod.label(JOBSET_UID);
      const part = per === 'replicatedjob' ? { part: group ?? '' } : {};
      return { name: name ?? '', uid, group: group ?? '', ...part };
    },
    mark: (name, group) => ({
      labels: { [JOBSET]: name, [REPLICATED_JOB]: group, [JOB_INDEX]: '0' },
      controller: { apiVersion: 'batch/v1', kind: 'Job', name: `${name}-${group}-0` },
    }),
    partIsGroup: true,
    completions: jobSetCompletions,
  },
  training('pytorchjob', 'PyTorchJob'),
  training('tfjob', 'TFJob'),
  training('mpijob', 'MPIJob'),
  training('xgboostjob', 'XGBoostJob'),
  training('paddlejob', 'PaddleJob'),
  training('jaxjob', 'JAXJob'),
  {
    short: 'job',
    ...{ group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs' },
    controllers: ['batch/Job'],
    read: named(JOB_NAME, () => MAIN),
    mark: (name) => ({
      labels: { [JOB_NAME]: name },
      controller: { apiVersion: 'batch/v1', kind: 'Job', name },
    }),
    left: (told, reading) => {
      const completions = reading.countOf('spec.completions', undefined);
      if (completions === undefined) return told;
      const done = reading.countOf('status.succeeded', 0) + failedIndexes(reading);
      return Math.min(told, Math.max(completions - done, 0));
    },
  },
  {
    short: 'lws',
    ...{
      group: 'leaderworkerset.x-k8s.io',
      version: 'v1',
      kind: 'LeaderWorkerSet',
      plural: 'leaderworkersets',
    },
    controllers: ['apps/StatefulSet'],
    marked: LWS,
    read: (pod, { name: set }) => {
      const name = pod.label(LWS) ?? '';
      const part = pod.label(LWS_GROUP);
      // A webhook of LeaderWorkerSet takes it from the leader's name.
      if (part === undefined) return set === name ? { late: LWS_GROUP } : { differs: LWS };
      if (set === `${name}-${part}`) return { name, part, group: 'worker' };
      const isLeader = set === name && (pod.name ?? '') === `${name}-${part}`;
      return isLeader ? { name, part, group: 'leader' } : { differs: LWS };
    },
    mark: (name, group, part = '0') => ({
      labels: { [LWS]: name, [LWS_GROUP]: part },
      controller: {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        name: group === 'leader' ? name : `${name}-${part}`,
      },
      name: group === 'leader' ? `${name}-${part}` : `${name}-${part}-1`,
    }),
    gangs: (reading) => reading.countOf('spec.replicas', 1),
    pods: (group, _, reading) =>
      group === 'leader' ? 1 : Math.max(reading.countOf('spec.leaderWorkerTemplate.size', 1) - 1, 0),
  },
  {
    short: 'statefulset',
    ...{ group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets' },
    controllers: ['apps/StatefulSet'],
    read: (pod, { name, uid }) =>
      pod.label(POD_NAME) === pod.name && pod.name?.startsWith(`${name}-`) === true
        ? { name, uid, group: MAIN }
        : { differs: POD_NAME },
    mark: (name) => ({
      labels: { [POD_NAME]: `${name}-0` },
      controller: { apiVersion: 'apps/v1', kind: 'StatefulSet', name },
      name: `${name}-0`,
    }),
  },
  {
    // Of a Deployment, too: each of its revisions is a gang.
    short: 'replicaset',
    ...{ group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets' },
    countsAs: 'Deployment',
    controllers: ['apps/ReplicaSet'],
    read: (pod, { name, uid }) => {
      const hash = pod.label(TEMPLATE_HASH);
      return hash === undefined || name.endsWith(`-${hash}`)
        ? { name, uid, group: MAIN }
        : { differs: TEMPLATE_HASH };
    },
    mark: (name) => ({ labels: {}, controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name } }),
  },
  {
    short: 'raycluster',
    ...{ group: 'ray.io', version: 'v1', kind: 'RayCluster', plural: 'rayclusters' },
    controllers: ['ray.io/RayCluster'],
    read: named(RAY_CLUSTER, (pod) => (pod.label(RAY_NODE) === 'head' ? RAY_HEAD : pod.label(RAY_GROUP))),
    mark: (name, group) => ({
      labels:
        group === RAY_HEAD
          ? { [RAY_CLUSTER]: name, [RAY_NODE]: 'head', [RAY_GROUP]: 'headgroup' }
          : { [RAY_CLUSTER]: name, [RAY_NODE]: 'worker', [RAY_GROUP]: group },
      controller: { apiVersion: 'ray.io/v1', kind: 'RayCluster', name },
    }),
  },
  {
    short: 'vcjob',
    ...{ group: 'batch.volcano.sh', version: 'v1alpha1', kind: 'Job', plural: 'jobs' },
    controllers: ['batch.volcano.sh/Job'],
    read: named(VOLCANO_JOB, (pod) => pod.label(VOLCANO_TASK) ?? pod.annotation(VOLCANO_TASK)),
    mark: (name, task) => ({
      labels: { [VOLCANO_JOB]: name, [VOLCANO_TASK]: task },
      controller: { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', name },
    }),
  },
];

/** The row by which the PodGang of an origin was made. */
export const gangKindOf = (short: string, kinds: readonly GangKind[] = gangKinds): GangKind | undefined =>
  kinds.find((one) => one.short === short);
