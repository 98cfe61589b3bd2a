import { isBound, isScheduled, takeCensus } from '../../gang/plan/census.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { isInitialized } from '../../gang/rules/initialized.ts';
import { isDeepStrictEqual } from 'node:util';
import { ANNOTATION_PREEMPTION_PLAN } from '../../api/names.ts';
import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
} from '../../api/preemption-terms.ts';

/** A gang with its Pods. */
export interface GangWithPods {
  readonly gang: GangRecord;
  /** All Pods that name the gang. */
  readonly pods: readonly PodRecord[];
}

/** Whether a Pod has no scheduling gates and no node. */
export const isWaiting = (pod: PodRecord): boolean => !isBound(pod) && pod.gates.length === 0;

/** Whether the scheduler has marked the Pod unschedulable. */
const isUnschedulable = ({ podScheduled }: PodRecord): boolean =>
  podScheduled?.status === 'False' && podScheduled.reason === 'Unschedulable';

/**
 * Whether a gang waits for capacity: it is complete, as many of its Pods are released as have to start together, not
 * all of them are bound, and the scheduler found no node for at least one.
 * @param schedulerName of the gang's backend; Pods of other schedulers do not count
 */
export function waitsForRoom(gang: GangRecord, pods: readonly PodRecord[], schedulerName: string): boolean {
  if (!isInitialized(gang) || gang.deletionTimestamp !== undefined) return false;
  const census = takeCensus(gang, pods, schedulerName);
  const released = census.every(
    ({ present, minReplicas }) => present.filter(({ gates }) => gates.length === 0).length >= minReplicas,
  );
  const asked = census.flatMap(({ present }) => present).filter(isWaiting);
  return released && !isScheduled(census) && asked.some(isUnschedulable);
}

/** The gang's own fields that a plan depends on. */
const termsOf = ({ annotations, spec: { groups, priorityClassName } }: GangRecord): unknown => [
  priorityClassName,
  groups.map(({ name, minReplicas }) => [name, minReplicas]),
  [ANNOTATION_DISRUPTION_MODE, ANNOTATION_PREEMPTION_PRIORITY_CLASS, ANNOTATION_PREEMPTION_POLICY].map(
    (key) => annotations.get(key),
  ),
];

/**
 * Returns why no further victim may be evicted for a gang; undefined when the next unit of its plan may be.
 * @param plan the text of the plan as written into the gang
 */
export function whyStopped(
  before: GangRecord,
  now: GangWithPods | undefined,
  { plan, schedulerName }: { readonly plan: string; readonly schedulerName: string },
): string | undefined {
  if (now === undefined || now.gang.deletionTimestamp !== undefined) return 'the gang was deleted meanwhile';
  if (now.gang.annotations.get(ANNOTATION_PREEMPTION_PLAN) !== plan)
    return 'its plan was taken off meanwhile';
  if (!isDeepStrictEqual(termsOf(now.gang), termsOf(before))) return 'the gang was changed meanwhile';
  return waitsForRoom(now.gang, now.pods, schedulerName) ? undefined : 'it does not wait for room any more';
}
