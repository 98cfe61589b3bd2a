import { quoted } from '../../api/printable.ts';
import type { GangRecord, GangState } from '../records.ts';
import { classOf } from '../rules/priorities.ts';
import { listed } from '../status-text.ts';
import { byName, hasEnded, isLive, isMember } from './census.ts';
import { CONDITION_PODS_NOT_MATCHING_PRIORITY, type Wanted } from './conditions.ts';

/**
 * That Pods have another PriorityClass than their gang: they came before it, or name one of their own. Nobody can change
 * that of a Pod, so people are told. Of a gang that never had such Pods nothing is said, which saves each gang the words.
 */
export function priorityCondition(state: GangState, gang: GangRecord): Wanted | undefined {
  const type = CONDITION_PODS_NOT_MATCHING_PRIORITY;
  // Not all of its Pods are known.
  if (state.standstill !== undefined) return undefined;
  const wanted = classOf(gang);
  const others =
    wanted === undefined
      ? []
      : state.pods.filter(
          (pod) =>
            pod.priorityClassName !== undefined &&
            pod.priorityClassName !== wanted &&
            isMember(gang, pod) &&
            isLive(pod) &&
            !hasEnded(pod),
        );
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
