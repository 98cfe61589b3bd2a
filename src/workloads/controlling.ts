import { isObject, own, ownString, type JsonObject } from '../json/json.ts';
import { groupVersionString, parseGroupVersion } from '../k8s/resource.ts';
import type { GangKind } from './gang-kind.ts';
import { gangKinds } from './gang-kinds.ts';
import { path, valueAt } from './path.ts';

/** What controls the Pods of a workload: for most it is the workload itself. */
export interface Controlling {
  readonly workload: JsonObject;
  readonly kind: GangKind;
  /** Where the `spec` of `workload` stands in the object that was given: `spec`, or `spec.jobTemplate.spec`. */
  readonly spec: string;
}

/** What a controller makes of a workload. */
interface Between {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Of its name; what is not known yet is taken for known. */
  readonly suffix: string;
  /** Where its spec stands; of a Job, `template` where nothing but its Pod template does. */
  readonly spec: string;
  readonly template?: true;
}

/** As in https://www.kubeflow.org/docs/components/trainer/operator-guides/job-template/; it is called as its TrainJob is. */
const OF_RUNTIME: Between = {
  ...{ group: 'jobset.x-k8s.io', version: 'v1alpha2', kind: 'JobSet' },
  ...{ suffix: '', spec: 'spec.template.spec' },
};

const ray = (spec: string): Between => ({
  ...{ group: 'ray.io', version: 'v1', kind: 'RayCluster' },
  ...{ suffix: '-hash', spec },
});
const submitter = (suffix: string, spec: string): Between => ({
  ...{ group: 'batch', version: 'v1', kind: 'Job' },
  ...{ suffix, spec, template: true },
});

/**
 * The ReplicaSet of a Deployment, whose name ends with a hash of the template (`hash` stands for it), a Job of a CronJob,
 * whose name ends with its minute (`0`), and the RayCluster of a RayJob, which has five random letters (`hash`) and a Job
 * beside it that submits (constructRayClusterForRayJob and createNewK8sJob of ray-project/kuberay). A RayService makes one
 * RayCluster, and another for each upgrade (constructRayClusterForRayService), a RayCronJob a RayJob for each time.
 */
const MADE: Readonly<Record<string, readonly Between[]>> = {
  'apps/Deployment': [{ group: 'apps', version: 'v1', kind: 'ReplicaSet', suffix: '-hash', spec: 'spec' }],
  'batch/CronJob': [
    { group: 'batch', version: 'v1', kind: 'Job', suffix: '-0', spec: 'spec.jobTemplate.spec' },
  ],
  'trainer.kubeflow.org/TrainingRuntime': [OF_RUNTIME],
  'trainer.kubeflow.org/ClusterTrainingRuntime': [OF_RUNTIME],
  'ray.io/RayJob': [ray('spec.rayClusterSpec'), submitter('', 'spec.submitterPodTemplate')],
  'ray.io/RayService': [ray('spec.rayClusterConfig')],
  'ray.io/RayCronJob': [
    ray('spec.jobTemplate.rayClusterSpec'),
    submitter('-hash', 'spec.jobTemplate.submitterPodTemplate'),
  ],
};

/** The workloads by which Pods of an object are marked, the first for most of them. */
export function controllersFor(object: JsonObject, kinds: readonly GangKind[] = gangKinds): Controlling[] {
  const { group } = parseGroupVersion(ownString(object, 'apiVersion') ?? '');
  const kind = ownString(object, 'kind') ?? '';
  const made = MADE[`${group}/${kind}`];
  const kindOf = (one: { group: string; kind: string }): GangKind | undefined =>
    kinds.find((known) => known.group === one.group && known.kind === one.kind);
  if (made === undefined) {
    const itself = kindOf({ group, kind });
    return itself === undefined ? [] : [{ workload: object, kind: itself, spec: 'spec' }];
  }
  return made.flatMap((one) => {
    const [known, spec] = [kindOf(one), valueAt(object, path(one.spec))];
    if (known === undefined || !isObject(spec)) return [];
    const workload = {
      ...{ apiVersion: groupVersionString(one), kind: one.kind },
      metadata: { name: `${nameOf(object)}${one.suffix}` },
      spec: one.template === true ? { template: spec } : spec,
    };
    return [{ workload, kind: known, spec: one.spec }];
  });
}

/** The one for most of them. */
export const controlling = (object: JsonObject, kinds?: readonly GangKind[]): Controlling | undefined =>
  controllersFor(object, kinds)[0];

/** Where a field of the workload stands in the object that was given. */
export const placeIn = ({ spec }: Controlling, field: string): string =>
  field.replace(/^spec(?![\w-])/, spec);

export const nameOf = (object: JsonObject): string => ownString(own(object, 'metadata'), 'name') || 'unnamed';
