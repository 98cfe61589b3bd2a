import { own, ownObject, ownString, type JsonObject } from '../api/json.ts';
import { groupVersionOf } from '../api/resource.ts';
import type { GangKind } from './gang-kind.ts';
import { gangKinds } from './gang-kinds.ts';

/** What controls the Pods of a workload: for most it is the workload itself. */
export interface Controlling {
  readonly workload: JsonObject;
  readonly kind: GangKind;
  /** Where the fields of `workload` stand in the object that was given: '', or `spec.jobTemplate.`. */
  readonly at: string;
}

/**
 * The workload by which Pods are marked. What a controller still makes in between is taken for made: the ReplicaSet of a
 * Deployment, whose name ends with a hash of the template (`hash` stands for it), and a Job of a CronJob, whose name ends
 * with its minute (`0`).
 */
export function controlling(object: JsonObject, kinds = gangKinds): Controlling | undefined {
  const apiVersion = ownString(object, 'apiVersion') ?? '';
  const { group } = groupVersionOf(apiVersion);
  const name = nameOf(object);
  const between = (kind: string, suffix: string, spec: JsonObject | undefined): JsonObject => ({
    ...{ apiVersion, kind },
    metadata: { name: `${name}-${suffix}` },
    ...(spec && { spec }),
  });
  const spec = ownObject(object, 'spec');
  const title = `${group}/${ownString(object, 'kind') ?? ''}`;
  const ofRuns = title === 'batch/CronJob';
  const workload =
    title === 'apps/Deployment'
      ? between('ReplicaSet', 'hash', spec)
      : ofRuns
        ? between('Job', '0', ownObject(own(spec, 'jobTemplate'), 'spec'))
        : object;
  const kind = kinds.find((one) => one.group === group && one.kind === ownString(workload, 'kind'));
  return kind && { workload, kind, at: ofRuns ? 'spec.jobTemplate.' : '' };
}

export const nameOf = (object: JsonObject): string => ownString(own(object, 'metadata'), 'name') || 'unnamed';
