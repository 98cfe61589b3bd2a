import { countInRanges, type HostRange } from '../../api/host-ranges.ts';
import { hasEnded, isBound, isGated, isLive } from '../../gang/plan/census.ts';
import type { PodRecord } from '../../gang/records.ts';
import type { GroupNumbers } from '../../workloads/gang-numbers.ts';

/** A group of a gang that has yet to form, reduced to the Pods that are left to run. */
export const onlyLeft = (group: GroupNumbers): GroupNumbers => ({
  ...group,
  replicas: group.left,
  minReplicas: Math.min(group.minReplicas, group.left),
});

/** The state of a gang that has formed, which its minimums follow. */
export interface Followed {
  readonly pods: readonly PodRecord[];
  /** Whether its workload counts succeeded Pods, so that `left` excludes them already. */
  readonly countsItself: boolean;
}

/**
 * A group of a gang that has formed, with its new minimum. The minimum follows the Pods left to run only while a Pod of
 * the gang waits for the scheduler, which uses that number; otherwise every Pod that ends would cost a write for
 * nothing.
 * @param now the group's current minimum
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
  // Raising the minimum must not put a running gang below it: some schedulers evict such a gang.
  const runs = working.some((pod) => !isGated(pod));
  const most = Math.max(now, live.filter(isOfGroup).length);
  return { ...left, minReplicas: runs ? Math.min(minReplicas, most) : minReplicas };
}

/** A group of a gang that has formed counts on no more Pods than it has hosts: programs that run know no others. */
export function withinHosts(
  group: GroupNumbers,
  hosts: ReadonlyMap<string, readonly HostRange[]>,
): GroupNumbers {
  const ranges = hosts.get(group.name);
  const most = ranges === undefined ? Infinity : countInRanges(ranges);
  return {
    ...group,
    replicas: Math.min(group.replicas, most),
    minReplicas: Math.min(group.minReplicas, most),
  };
}

/**
 * Lowers the minimum by the succeeded Pods, which schedulers no longer count. The number of Pods in the group stays,
 * since all of them come back after a restart.
 */
const withoutDone = (group: GroupNumbers, done: number, working: number): GroupNumbers => ({
  ...group,
  minReplicas: Math.min(
    group.minReplicas,
    Math.max((group.completions ?? group.replicas) - done, working, 0),
  ),
});

/** Number of Pods of a group that succeeded since the workload's last restart. */
function succeeded(pods: readonly PodRecord[]): number {
  const attempts = pods.map(({ attempt }) => Number(attempt ?? 0));
  const last = Math.max(0, ...attempts);
  return pods.filter((pod, at) => isLive(pod) && pod.phase === 'Succeeded' && attempts[at] === last).length;
}
