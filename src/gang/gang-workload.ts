import { ANNOTATION_WORKLOAD, ANNOTATION_WORKLOAD_RESULT, ANNOTATION_WORKLOAD_UID } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { workloadTitle, type PodOrigin } from '../api/pod-origin.ts';

type Made = Partial<Pick<PodGang, 'annotations'>>;

/** The workload that Muster made a gang for, as `job/train`; undefined for a gang that a user wrote. */
export const workloadOf = ({ annotations }: Made): string | undefined =>
  annotations?.get(ANNOTATION_WORKLOAD);

/**
 * Whether a Pod may be a member of this gang. A gang that was made for a workload takes only Pods of that workload: no Pod
 * that merely names the gang, and no Pod of a later workload of the same name.
 */
export function isOfWorkload(gang: Made, origin: PodOrigin | undefined): boolean {
  const workload = workloadOf(gang);
  if (workload === undefined) return true;
  if (origin === undefined) return false;
  const uid = gang.annotations?.get(ANNOTATION_WORKLOAD_UID);
  // The Pod was admitted while the configuration listed its kind of workload, and has the same controller still.
  if (origin.kind === '') return workload.endsWith(`/${origin.name}`) && uid === origin.controller.uid;
  if (workloadTitle(origin) !== workload) return false;
  return uid === undefined || origin.uid === undefined || origin.uid === uid;
}

/** Whether a Pod belongs to another workload with the kind and name of this gang's workload. */
export const isOfEarlier = (gang: Made, origin: PodOrigin | undefined): boolean =>
  origin !== undefined &&
  origin.kind !== '' &&
  workloadTitle(origin) === workloadOf(gang) &&
  !isOfWorkload(gang, origin);

/** How the workload of a gang ended; undefined where it has not ended, or the gang was not made for a workload. */
export function workloadResult(gang: Made): 'Succeeded' | 'Failed' | undefined {
  const result =
    workloadOf(gang) === undefined ? undefined : gang.annotations?.get(ANNOTATION_WORKLOAD_RESULT);
  return result === 'Succeeded' || result === 'Failed' ? result : undefined;
}
