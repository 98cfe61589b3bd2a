import { ANNOTATION_WORKLOAD_UID } from '../../api/names.ts';
import type { PodOrigin } from '../../api/pod-origin.ts';
import { workloadOf } from '../../gang/made-for.ts';
import type { GangRecord } from '../../gang/records.ts';
import { gangName, maybeGangName } from '../../workloads/gang-names.ts';

export const nameFor = ({ kind, name, part }: Subject): string => gangName(kind, name, part);

export type Subject = Pick<PodOrigin, 'kind' | 'name' | 'part'>;

/** The workload that a gang was made for. */
export function subjectOf(gang: GangRecord): Subject | undefined {
  const [kind = '', name = ''] = (workloadOf(gang) ?? '').split('/');
  if (name === '') return undefined;
  return { kind, name, part: gang.name === gangName(kind, name) ? undefined : gang.spec.groups[0]?.name };
}

/**
 * Whether Muster made it, beyond what its annotations say: whoever may patch a PodGang may write those, and it is deleted
 * with its workload. It belongs to that workload; or has a name that the gang of that workload gets, where nobody tells the
 * uid, or it belongs to nobody any more since that was deleted and its Pods were kept.
 */
export function isMade(gang: GangRecord): boolean {
  const subject = subjectOf(gang);
  if (subject === undefined) return false;
  const uid = gang.annotations.get(ANNOTATION_WORKLOAD_UID);
  const { owners = [] } = gang;
  if (owners.length > 0 && uid !== undefined) return owners.includes(uid);
  return maybeGangName(gang.name, subject.kind, subject.name);
}
