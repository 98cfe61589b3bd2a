import { isGated } from '../../gang/plan/census.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import type { Change } from '../../kube/loop/cache.ts';
import type { Urgency, WriteMemory } from './reconcile-memory.ts';

/** How long what nobody waits for is left, so that it is judged together (ms). */
export const SOON_MS = 50;

/**
 * When a gang is to be judged for a change of it. Most changes are our own writes, as the watch shows them: a gang that was
 * judged by the answer already, and a gate that is off. For these nobody waits, and nothing is left to be done before the
 * last of the gates.
 */
export function urgencyOf(
  key: string,
  { old, new: now }: Change<GangRecord> | Change<PodRecord>,
  memory: Pick<WriteMemory, 'showsGang' | 'showsReleased'>,
): Urgency {
  if (old === undefined || now === undefined) return 'now';
  if (!('gates' in now)) return memory.showsGang(key, now);
  if (!('gates' in old) || !hasOnlyLostGates(old, now)) return 'now';
  return isGated(now) ? 'soon' : memory.showsReleased(key, now.uid);
}

function hasOnlyLostGates(old: PodRecord, now: PodRecord): boolean {
  if (now.gates.length >= old.gates.length) return false;
  for (const field of Object.keys(now) as (keyof PodRecord)[]) {
    if (field !== 'gates' && field !== 'resourceVersion' && old[field] !== now[field]) return false;
  }
  return true;
}
