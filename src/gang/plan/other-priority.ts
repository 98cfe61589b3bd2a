import { quoted, listed } from '../../text/printable.ts';
import type { GangRecord, GangState, PodRecord } from '../records.ts';
import { classOf } from '../rules/priorities.ts';
import { byName, isMember, mayRun } from './census.ts';
import { CONDITION_PODS_NOT_MATCHING_PRIORITY, type WantedCondition } from './conditions.ts';

/**
 * The condition that Pods have another PriorityClass than their gang: the Pods came before the gang, or name a class of
 * their own. Nobody can change the class of a Pod, so the condition asks people to delete the Pods. A gang that never had
 * such Pods does not get the condition, which keeps its status short.
 */
export function priorityCondition(state: GangState, gang: GangRecord): WantedCondition | undefined {
  const type = CONDITION_PODS_NOT_MATCHING_PRIORITY;
  // Not all Pods of the gang are known.
  if (state.memoryExceeded !== undefined) return undefined;
  const wanted = classOf(gang);
  const counts = (pod: PodRecord): boolean => isMember(gang, pod) && mayRun(pod);
  const others =
    wanted === undefined
      ? []
      : state.pods.filter(
          (pod) => pod.priorityClassName !== undefined && pod.priorityClassName !== wanted && counts(pod),
        );
  const even = state.pods.every(({ priority }) => priority === state.pods[0]?.priority);
  const earlier =
    even || wanted === undefined || others.length > 0 ? [] : ofEarlierValue(state.pods.filter(counts));
  if (earlier.length > 0) {
    const names = listed(
      earlier.map(({ name }) => name),
      'Pods',
    );
    const message = `the PriorityClass ${quoted(wanted)} was made again with another value, and ${earlier.length === 1 ? 'Pod' : 'Pods'} ${names} ${earlier.length === 1 ? 'has' : 'have'} the earlier one: schedulers count a Pod by its own, or refuse the gang; delete ${earlier.length === 1 ? 'it, so that it is' : 'them, so that they are'} made anew`;
    return { type, status: 'True', reason: 'OtherPriorityClass', message };
  }
  if (others.length === 0) {
    const told = gang.conditions.some((condition) => condition.type === type);
    const message = 'no Pod has another PriorityClass than its gang';
    return told ? { type, status: 'False', reason: 'PriorityClassesAgree', message } : undefined;
  }
  const names = listed(
    others.sort(byName).map(({ name }) => name),
    'Pods',
  );
  const one = others.length === 1;
  const message = `${one ? 'Pod' : 'Pods'} ${names} ${one ? 'has' : 'have'} another PriorityClass than ${quoted(wanted)}, that of the gang: schedulers count a Pod by its own, or refuse the gang; delete ${one ? 'it, so that it is' : 'them, so that they are'} made anew, without a priorityClassName in the template`;
  return { type, status: 'True', reason: 'OtherPriorityClass', message };
}

/** Among Pods of one class, the Pods whose priority differs from that of the newest Pod. */
function ofEarlierValue(members: readonly PodRecord[]): PodRecord[] {
  const known = members.filter(({ priority }) => priority !== undefined);
  const made = ({ creationTimestamp = '' }: PodRecord): string => creationTimestamp;
  const last = known.reduce<PodRecord | undefined>(
    (latest, pod) => (latest === undefined || made(pod) >= made(latest) ? pod : latest),
    undefined,
  );
  return known.filter(({ priority }) => priority !== last?.priority).sort(byName);
}
