/**
 * Workloads of other projects, as far as gangs go by them: the fields that their references document, so that what a
 * project does not know is pruned here as it is there.
 */
import { definition, int32, list, map, object, string } from './definition.ts';

const ANY = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const BOOLEAN = { type: 'boolean' };
const ANY_LIST = { type: 'array', items: ANY };

/** https://jobset.sigs.k8s.io/docs/reference/jobset.v1alpha2/ */
export const JOB_SETS = definition({
  ...{ group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet', plural: 'jobsets', approved: true },
  status: true,
  spec: object({
    replicatedJobs: list(
      object(
        { name: string(), replicas: int32({ default: 1 }), template: ANY },
        { required: ['name', 'template'] },
      ),
    ),
    suspend: BOOLEAN,
    network: ANY,
    successPolicy: ANY,
    failurePolicy: ANY,
    startupPolicy: ANY,
  }),
  statusSchema: ANY,
});

/** https://lws.sigs.k8s.io/docs/reference/leaderworkerset.v1/ */
export const LEADER_WORKER_SETS = definition({
  ...{
    group: 'leaderworkerset.x-k8s.io',
    version: 'v1',
    kind: 'LeaderWorkerSet',
    plural: 'leaderworkersets',
  },
  approved: true,
  status: true,
  spec: object({
    replicas: int32({ default: 1 }),
    leaderWorkerTemplate: object(
      { leaderTemplate: ANY, workerTemplate: ANY, size: int32({ default: 1 }), restartPolicy: string() },
      { required: ['workerTemplate'] },
    ),
    startupPolicy: string({ default: 'LeaderCreated' }),
    rolloutStrategy: ANY,
    networkConfig: ANY,
  }),
  statusSchema: ANY,
});

/** https://docs.ray.io/en/latest/cluster/kubernetes/references.html */
export const RAY_JOBS = definition({
  ...{ group: 'ray.io', version: 'v1', kind: 'RayJob', plural: 'rayjobs', status: true },
  spec: object({ entrypoint: string(), submitterPodTemplate: ANY, rayClusterSpec: ANY }),
  statusSchema: ANY,
});

/** The same page. */
export const RAY_SERVICES = definition({
  ...{ group: 'ray.io', version: 'v1', kind: 'RayService', plural: 'rayservices', status: true },
  spec: object({ serveConfigV2: string(), rayClusterConfig: ANY }),
  statusSchema: ANY,
});

/** https://www.kubeflow.org/docs/components/trainer/operator-guides/runtime/ */
export const TRAINING_RUNTIMES = definition({
  ...{ group: 'trainer.kubeflow.org', version: 'v1alpha1', kind: 'ClusterTrainingRuntime' },
  ...{ plural: 'clustertrainingruntimes', scope: 'Cluster' },
  spec: object({ mlPolicy: ANY, template: ANY }),
  statusSchema: ANY,
});

/** The same project's guide; its controller makes a JobSet of its name. */
export const TRAIN_JOBS = definition({
  ...{ group: 'trainer.kubeflow.org', version: 'v1alpha1', kind: 'TrainJob', plural: 'trainjobs' },
  status: true,
  spec: object({ runtimeRef: ANY, trainer: ANY, suspend: BOOLEAN }),
  statusSchema: ANY,
});

/** The same page as of RayJobs. */
export const RAY_CLUSTERS = definition({
  ...{ group: 'ray.io', version: 'v1', kind: 'RayCluster', plural: 'rayclusters', status: true },
  spec: object({
    rayVersion: string(),
    suspend: BOOLEAN,
    enableInTreeAutoscaling: BOOLEAN,
    headGroupSpec: object({ serviceType: string(), rayStartParams: map(string()), template: ANY }),
    workerGroupSpecs: list(
      object({
        groupName: string(),
        replicas: int32({ default: 0 }),
        minReplicas: int32({ default: 0 }),
        maxReplicas: int32({ default: 2147483647 }),
        numOfHosts: int32({ default: 1 }),
        rayStartParams: map(string()),
        template: ANY,
      }),
    ),
  }),
  statusSchema: ANY,
});

/** https://www.kubeflow.org/docs/components/trainer/legacy-v1/ */
export const PYTORCH_JOBS = definition({
  ...{ group: 'kubeflow.org', version: 'v1', kind: 'PyTorchJob', plural: 'pytorchjobs', status: true },
  spec: object({
    pytorchReplicaSpecs: map(object({ replicas: int32(), restartPolicy: string(), template: ANY })),
    runPolicy: object({ suspend: BOOLEAN, schedulingPolicy: object({ minAvailable: int32() }) }),
    elasticPolicy: ANY,
  }),
  statusSchema: ANY,
});

/** https://github.com/kubeflow/mpi-operator, manifests/base/kubeflow.org_mpijobs.yaml: it serves this version alone. */
export const MPI_JOBS = definition({
  ...{ group: 'kubeflow.org', version: 'v2beta1', kind: 'MPIJob', plural: 'mpijobs', status: true },
  spec: object({
    slotsPerWorker: int32(),
    mpiReplicaSpecs: map(object({ replicas: int32(), restartPolicy: string(), template: ANY })),
    runPolicy: object({ suspend: BOOLEAN, schedulingPolicy: object({ minAvailable: int32() }) }),
  }),
  statusSchema: ANY,
});

/** The kind of one's own that docs/workloads.md makes up. */
export const TRAINERS = definition({
  ...{ group: 'example.com', version: 'v1', kind: 'Trainer', plural: 'trainers', status: true },
  spec: object({
    suspend: BOOLEAN,
    minMember: int32(),
    driver: object({ template: ANY }),
    roles: list(object({ role: string(), count: int32(), least: int32(), template: ANY })),
  }),
  statusSchema: ANY,
});

/** https://github.com/sgl-project/rbg, api/workloads/v1alpha2 */
export const ROLE_BASED_GROUPS = definition({
  ...{ group: 'workloads.x-k8s.io', version: 'v1alpha2', kind: 'RoleBasedGroup', plural: 'rolebasedgroups' },
  ...{ approved: true, status: true },
  spec: object({ roleTemplates: ANY_LIST, roles: ANY_LIST }),
  statusSchema: ANY,
});

/** The same API: what controls the Pods of a role. */
export const ROLE_INSTANCES = definition({
  ...{ group: 'workloads.x-k8s.io', version: 'v1alpha2', kind: 'RoleInstance', plural: 'roleinstances' },
  approved: true,
  spec: object({ components: ANY_LIST }),
  statusSchema: ANY,
});

/** https://github.com/volcano-sh/kthena, pkg/apis/workload/v1alpha1 */
export const MODEL_SERVINGS = definition({
  ...{ group: 'workload.serving.volcano.sh', version: 'v1alpha1', kind: 'ModelServing' },
  ...{ plural: 'modelservings', status: true },
  spec: object({ replicas: int32({ default: 1 }), schedulerName: string(), template: ANY }),
  statusSchema: ANY,
});
