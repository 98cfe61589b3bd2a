import type { GangStatus } from './gang-status.ts';

/** How many of a gang's parts are ready. */
export interface ReadyCount {
  readonly ready: number;
  readonly total: number;
}

/** Groups with their minimum of ready Pods, of all groups; undefined where the PodGang does not exist. */
export function readyGroups({ summary }: GangStatus): ReadyCount | undefined {
  if (summary === undefined) return undefined;
  const ready = summary.groups.filter((group) => group.ready >= group.minReplicas);
  return { ready: ready.length, total: summary.groups.length };
}

/** Ready Pods, of the expected ones or of the existing ones, whichever are more; undefined where the PodGang does not exist. */
export function readyPods({ summary }: GangStatus): ReadyCount | undefined {
  if (summary === undefined) return undefined;
  let [ready, total] = [0, 0];
  for (const group of summary.groups) {
    ready += group.ready;
    total += Math.max(group.expected, group.present);
  }
  return { ready, total };
}

/** Number of Pods that still have Muster's gate. */
export const gatesLeft = ({ summary, pods }: GangStatus): number =>
  summary?.gatesLeft ?? pods.filter(({ state }) => state === 'gated').length;
