import { fault, type Fault } from '../../api/fault.ts';
import type { PodGang } from '../../api/pod-gang.ts';

/** What an int32 of a CRD holds. */
const MAX_COUNT = 2_147_483_647;

/** How many Pods must start together, over all groups: the one number that every gang scheduler is told. */
export const totalMinimum = ({ spec }: Pick<PodGang, 'spec'>): number =>
  spec.groups.reduce((sum, group) => sum + Math.max(0, group.minReplicas), 0);

/** Each minimum fits an int32; their sum has to as well. */
export function checkTotalMinimum(gang: Pick<PodGang, 'spec'>): Fault[] {
  const total = totalMinimum(gang);
  if (total <= MAX_COUNT) return [];
  const detail = `the sum of minReplicas is at most ${MAX_COUNT}`;
  return [fault('BackendCannotExpress', 'spec.podgroups', { value: total, detail })];
}
