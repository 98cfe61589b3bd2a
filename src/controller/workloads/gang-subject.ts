import { ANNOTATION_WORKLOAD_UID } from '../../api/names.ts';
import type { PodOrigin } from '../../api/pod-origin.ts';
import { workloadOf } from '../../gang/gang-workload.ts';
import type { GangRecord } from '../../gang/records.ts';
import { gangName, maybeGangName } from '../../workloads/gang-names.ts';

/** Name of the gang of a workload. */
export const gangNameFor = ({ kind, name, part }: WorkloadId): string => gangName(kind, name, part);

export type WorkloadId = Pick<PodOrigin, 'kind' | 'name' | 'part'>;

/** The workload that a gang was made for. */
export function workloadIdOf(gang: GangRecord): WorkloadId | undefined {
  const [kind = '', name = ''] = (workloadOf(gang) ?? '').split('/');
  if (name === '') return undefined;
  return { kind, name, part: gang.name === gangName(kind, name) ? undefined : gang.spec.groups[0]?.name };
}

/**
 * Whether Muster made the gang. Its annotations alone do not prove that: whoever may patch a PodGang may write them,
 * and a gang that Muster made is deleted with its workload. So the gang also has to be owned by that workload; or, if
 * the annotations have no uid or the owner was deleted without its Pods, have the name that the workload's gang gets.
 */
export function isMade(gang: GangRecord): boolean {
  const subject = workloadIdOf(gang);
  if (subject === undefined) return false;
  const uid = gang.annotations.get(ANNOTATION_WORKLOAD_UID);
  const { owners = [] } = gang;
  if (owners.length > 0 && uid !== undefined) return owners.includes(uid);
  return maybeGangName(gang.name, subject.kind, subject.name);
}
