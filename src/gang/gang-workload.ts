import { ANNOTATION_WORKLOAD, ANNOTATION_WORKLOAD_RESULT, ANNOTATION_WORKLOAD_UID } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { workloadTitle, type PodOrigin } from '../api/pod-origin.ts';

type Made = Partial<Pick<PodGang, 'annotations'>>;

/** The workload that Muster made a gang for, as `job/train`; undefined for a gang that somebody wrote. */
export const workloadOf = ({ annotations }: Made): string | undefined =>
  annotations?.get(ANNOTATION_WORKLOAD);

/**
 * Whether a Pod may be of this gang. One that was made for a workload is for that one's Pods alone: neither for a Pod that
 * merely has the gang's name on it, nor for those of a later workload of the same name.
 */
export function isOfWorkload(gang: Made, origin: PodOrigin | undefined): boolean {
  const workload = workloadOf(gang);
  if (workload === undefined) return true;
  if (origin === undefined) return false;
  const uid = gang.annotations?.get(ANNOTATION_WORKLOAD_UID);
  // It was let in while the configuration told of its kind, and whoever controls it is that workload still.
  if (origin.kind === '') return workload.endsWith(`/${origin.name}`) && uid === origin.controller.uid;
  if (workloadTitle(origin) !== workload) return false;
  return uid === undefined || origin.uid === undefined || origin.uid === uid;
}

/** Whether a Pod is of a workload of the same kind and name as that of this gang, and of another one: it goes with that. */
export const isOfEarlier = (gang: Made, origin: PodOrigin | undefined): boolean =>
  origin !== undefined &&
  origin.kind !== '' &&
  workloadTitle(origin) === workloadOf(gang) &&
  !isOfWorkload(gang, origin);

/** How the workload of a gang ended; undefined where it has not, or nobody made the gang for one. */
export function workloadResult(gang: Made): 'Succeeded' | 'Failed' | undefined {
  const result =
    workloadOf(gang) === undefined ? undefined : gang.annotations?.get(ANNOTATION_WORKLOAD_RESULT);
  return result === 'Succeeded' || result === 'Failed' ? result : undefined;
}
