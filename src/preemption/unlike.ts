import type { Refusal } from './refusal.ts';
import type { Pod } from './snapshot.ts';

/**
 * Why kube-scheduler 1.37 does not try a group: a Pod of it that waits or runs has another priority than the group, or
 * another preemption policy than the group or, where the group has none, than the first of its Pods.
 */
export function unlikeGroup(
  pods: Iterable<Pod>,
  group: { readonly priority: number; readonly preempts: boolean },
): Refusal | undefined {
  for (const { namespace, name, priority, preempts } of pods) {
    const pod = { namespace, name };
    if (priority !== group.priority)
      return {
        ...{ why: 'PodUnlikeGroup', pod, field: 'priority' },
        ...{ has: String(priority), group: String(group.priority) },
      };
    if (preempts !== group.preempts)
      return {
        ...{ why: 'PodUnlikeGroup', pod, field: 'preemptionPolicy' },
        ...{ has: policyOf(preempts), group: policyOf(group.preempts) },
      };
  }
  return undefined;
}

const policyOf = (preempts: boolean): string => (preempts ? 'PreemptLowerPriority' : 'Never');
