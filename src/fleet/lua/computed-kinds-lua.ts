import type { WorkloadKind } from '../../workloads/workload-kind.ts';
import { FLINK_DEPLOYMENT } from './flink-lua.ts';
import { POD_CLIQUE_SET, POD_GANG } from './grove-lua.ts';
import { JOB, JOB_SET, LEADER_WORKER_SET } from './job-sets-lua.ts';
import { rayLua } from './ray-lua.ts';
import { TRAIN_JOB } from './train-job-lua.ts';

/**
 * The Lua of the kinds whose rows are code: a function `computed(obj, shape, found)` that adds the templates of an object to
 * `found`, as the row does. A test holds each against its row.
 */
const COMPUTED: Readonly<Record<string, string>> = {
  'PodGang.scheduler.grove.io': POD_GANG,
  'PodCliqueSet.grove.io': POD_CLIQUE_SET,
  'TrainJob.trainer.kubeflow.org': TRAIN_JOB,
  'JobSet.jobset.x-k8s.io': JOB_SET,
  'LeaderWorkerSet.leaderworkerset.x-k8s.io': LEADER_WORKER_SET,
  'RayCluster.ray.io': rayLua('{ "spec" }'),
  'RayJob.ray.io': rayLua('{ "spec", "rayClusterSpec" }'),
  'FlinkDeployment.flink.apache.org': FLINK_DEPLOYMENT,
  'Job.batch': JOB,
};

/** undefined where paths say all of a kind, or nobody wrote it. */
export const computedLua = ({ group, kind, shapes }: WorkloadKind): string | undefined =>
  shapes === undefined ? COMPUTED[`${kind}.${group}`] : undefined;
