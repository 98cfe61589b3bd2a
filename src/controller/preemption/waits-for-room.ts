import { isBound, isScheduled, takeCensus } from '../../gang/plan/census.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { isInitialized } from '../../gang/rules/initialized.ts';

/** Whether a Pod is let go and has no node. */
export const isWaiting = (pod: PodRecord): boolean => !isBound(pod) && pod.gates.length === 0;

/** Whether the scheduler has looked at it and found no node. */
const isUnschedulable = ({ podScheduled }: PodRecord): boolean =>
  podScheduled?.status === 'False' && podScheduled.reason === 'Unschedulable';

/**
 * Whether a gang could run if there were room: it is complete, as many of its Pods as have to start together are let go,
 * they are not all bound, and of some the scheduler says that no node takes them.
 * @param schedulerName of the gang's backend: Pods of another scheduler do not count
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
