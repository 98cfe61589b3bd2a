import { ownString, type JsonObject } from '../json/json.ts';
import { quoted } from '../text/printable.ts';
import { parseGroupVersion } from '../k8s/resource.ts';
import { MusterError } from '../errors.ts';
import type { GangKind, GangTerms, Kind } from './kind.ts';
import { cronJob } from './kinds/cron-job.ts';
import { deployment, replicaSet } from './kinds/deployment.ts';
import { flinkDeployment } from './kinds/flink.ts';
import { podCliqueSet, podGang } from './kinds/grove.ts';
import { job } from './kinds/job.ts';
import { jobSet } from './kinds/jobset.ts';
import { jaxJob, mpiJob, paddleJob, pyTorchJob, tfJob, xgBoostJob } from './kinds/kubeflow.ts';
import { leaderWorkerSet } from './kinds/leader-worker-set.ts';
import { modelServing } from './kinds/model-serving.ts';
import { daemonSet, podTemplate, replicationController } from './kinds/never-a-gang.ts';
import { rayCluster, rayCronJob, rayJob, rayService } from './kinds/ray.ts';
import { roleBasedGroup } from './kinds/role-based-group.ts';
import { statefulSet } from './kinds/stateful-set.ts';
import { clusterTrainingRuntime, trainingRuntime, trainJob } from './kinds/trainer.ts';
import { volcanoJob } from './kinds/volcano.ts';
import { titleOf, type TemplateKind, type WorkloadKind } from './workload-kind.ts';

/**
 * Muster's own kinds. When several kinds may have the same controller, the first one whose label the Pod has is used: a
 * JobSet and an MPIJob create Jobs, so a Job comes after them.
 */
export const kinds: readonly Kind[] = [
  podGang,
  podCliqueSet,
  volcanoJob,
  jobSet,
  leaderWorkerSet,
  ...[pyTorchJob, tfJob, mpiJob, xgBoostJob, paddleJob, jaxJob],
  ...[trainJob, trainingRuntime, clusterTrainingRuntime],
  ...[rayCluster, rayJob, rayService, rayCronJob],
  flinkDeployment,
  roleBasedGroup,
  modelServing,
  ...[deployment, replicaSet],
  statefulSet,
  job,
  cronJob,
  ...[daemonSet, replicationController, podTemplate],
];

/** A kind without its GangTerms and FleetTerms. */
const bare = ({ gang: _, fleet: __, ...rest }: Kind): Omit<Kind, 'gang' | 'fleet'> => rest;

/** Kinds whose Pods may form gangs by the label `muster.dev/gang` alone. */
export const gangKinds: readonly GangKind[] = kinds.flatMap((kind) =>
  isGang(kind.gang) ? [{ ...bare(kind), ...kind.gang }] : [],
);

/** Kinds that Karmada may ask about. */
export const workloadKinds: readonly WorkloadKind[] = kinds.flatMap((kind) =>
  kind.fleet === undefined ? [] : [{ ...bare(kind), ...kind.fleet }],
);

/** Kinds with known Pod templates. */
export const templateKinds: readonly Kind[] = kinds.filter(
  ({ templates, single }) => templates !== undefined || single !== undefined,
);

function isGang(gang: Kind['gang']): gang is GangTerms {
  return gang !== undefined && gang !== 'never';
}

/** The kind of the workload that a PodGang was made for. */
export const gangKindOf = (short: string, known: readonly GangKind[] = gangKinds): GangKind | undefined =>
  known.find((one) => one.short === short);

export const kindOf = (
  object: JsonObject,
  known: readonly WorkloadKind[] = workloadKinds,
): WorkloadKind | undefined => kindAmong(known, object);

/** The kind of an object, regardless of its version: versions of a kind do not differ in their templates. */
export function kindAmong<K extends TemplateKind>(known: readonly K[], object: JsonObject): K | undefined {
  const apiVersion = ownString(object, 'apiVersion') ?? '';
  const { group } = parseGroupVersion(apiVersion);
  const name = ownString(object, 'kind');
  return known.find((one) => one.kind === name && one.group === group);
}

/** @throws MusterError WORKLOAD_UNKNOWN */
export function knownKindOf(
  object: JsonObject,
  known: readonly WorkloadKind[] = workloadKinds,
): WorkloadKind {
  const found = kindOf(object, known);
  if (found !== undefined) return found;
  const title = `${ownString(object, 'apiVersion') ?? ''} ${ownString(object, 'kind') ?? ''}`.trim();
  throw new MusterError(
    'WORKLOAD_UNKNOWN',
    `${quoted(title)} is no workload whose Pod templates are known (known are ${known.map(titleOf).join(', ')})`,
    'tell in the configuration, under fleet.kinds, where this kind keeps its templates',
  );
}

/** Whether the minimum of the workload's gang (`job/train` or `job`) is the work that is left. */
export const countsWhatIsLeft = (workload = ''): boolean =>
  gangKindOf(workload.split('/', 1)[0] ?? '')?.left !== undefined;
