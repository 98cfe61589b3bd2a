import { hasEnded, isBound, isGated, isLive } from '../../gang/plan/census.ts';
import type { PodRecord } from '../../gang/records.ts';
import type { GroupNumbers } from '../../workloads/gang-numbers.ts';

/** A group as it is to form: what is left of it. */
export const onlyLeft = (group: GroupNumbers): GroupNumbers => ({
  ...group,
  replicas: group.left,
  minReplicas: Math.min(group.minReplicas, group.left),
});

/** A gang that has formed, as its minimums follow it. */
export interface Followed {
  readonly pods: readonly PodRecord[];
  /** Whether its workload counts what has succeeded, so that `left` of its numbers says it. */
  readonly countsItself: boolean;
}

/**
 * A group of a gang that has formed, with the minimum that it is to have. It follows what is left to be done while a Pod of the
 * gang waits for its scheduler, which goes by that number: else nobody does, and each end of a Pod would cost a write.
 * @param now its minimum as it is
 */
export function followed(group: GroupNumbers, now: number, { pods, countsItself }: Followed): GroupNumbers {
  const live = pods.filter((pod) => isLive(pod) && pod.phase !== 'Failed');
  const working = live.filter((pod) => !hasEnded(pod));
  const isOfGroup = (pod: PodRecord): boolean => pod.group === group.name;
  const left = onlyLeft(group);
  const { minReplicas } = countsItself
    ? left
    : withoutDone(left, succeeded(pods.filter(isOfGroup)), working.filter(isOfGroup).length);
  if (now > minReplicas) {
    const waits = working.some((pod) => !isBound(pod));
    return { ...(waits ? left : group), minReplicas: waits ? minReplicas : Math.min(now, group.minReplicas) };
  }
  // A gang that runs is never put below its minimum by raising that: some schedulers evict such a gang.
  const runs = working.some((pod) => !isGated(pod));
  const most = Math.max(now, live.filter(isOfGroup).length);
  return { ...left, minReplicas: runs ? Math.min(minReplicas, most) : minReplicas };
}

/**
 * The minimum without the Pods that have succeeded, which no scheduler counts any more. How many Pods the group has stays, since
 * all of them come again after a restart.
 */
const withoutDone = (group: GroupNumbers, done: number, working: number): GroupNumbers => ({
  ...group,
  minReplicas: Math.min(
    group.minReplicas,
    Math.max((group.completions ?? group.replicas) - done, working, 0),
  ),
});

/** How many Pods of a group have succeeded since its workload was restarted last. */
function succeeded(pods: readonly PodRecord[]): number {
  const attempts = pods.map(({ attempt }) => Number(attempt ?? 0));
  const last = Math.max(0, ...attempts);
  return pods.filter((pod, at) => isLive(pod) && pod.phase === 'Succeeded' && attempts[at] === last).length;
}
