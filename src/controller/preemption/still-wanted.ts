import { isDeepStrictEqual } from 'node:util';
import { ANNOTATION_PREEMPTION_PLAN } from '../../api/names.ts';
import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
} from '../../api/preemption-terms.ts';
import type { GangRecord } from '../../gang/records.ts';
import type { Scene } from './look.ts';
import { waitsForRoom } from './waits-for-room.ts';

/** What a plan was made for, of the gang itself. */
const termsOf = ({ annotations, spec: { groups, priorityClassName } }: GangRecord): unknown => [
  priorityClassName,
  groups.map(({ name, minReplicas }) => [name, minReplicas]),
  [ANNOTATION_DISRUPTION_MODE, ANNOTATION_PREEMPTION_PRIORITY_CLASS, ANNOTATION_PREEMPTION_POLICY].map(
    (key) => annotations.get(key),
  ),
];

/**
 * Why nobody else is to go for a gang; undefined: the next unit of its plan is.
 * @param plan as it was written into the gang
 */
export function whyStopped(
  before: GangRecord,
  now: Scene | undefined,
  { plan, schedulerName }: { readonly plan: string; readonly schedulerName: string },
): string | undefined {
  if (now === undefined || now.gang.deletionTimestamp !== undefined) return 'the gang was deleted meanwhile';
  if (now.gang.annotations.get(ANNOTATION_PREEMPTION_PLAN) !== plan)
    return 'its plan was taken off meanwhile';
  if (!isDeepStrictEqual(termsOf(now.gang), termsOf(before))) return 'the gang was changed meanwhile';
  return waitsForRoom(now.gang, now.pods, schedulerName) ? undefined : 'it does not wait for room any more';
}
