import type { GangRecord, GangState } from '../records.ts';
import { difference, mergeConditions } from './conditions.ts';
import type { StatusWrite } from './gang-plan.ts';
import type { StatusJudgement } from './plan-status.ts';

/** Words are rewritten at most this often, and only when no Pod has come for a while, or after very long. */
export const MESSAGE_INTERVAL_MS = 5_000;
const QUIET_MS = 3_000;
const MESSAGE_PATIENCE_MS = 30_000;
/**
 * A gang without a status waits so long for the first, since where its Pods follow at once that would only be taken back:
 * two seconds, and one that a time of creation may be short of.
 */
export const FIRST_STATUS_MS = 3_000;
/** So long where its Pods come one after the other all the time, as the controllers of large workloads make them. */
export const FIRST_STATUS_PATIENCE_MS = 30_000;

/**
 * The write that the judgement asks for, if it is due, or how long until it is.
 * @param patient whether all that a young gang waits for usually comes by itself
 */
export function planStatus(
  state: GangState,
  gang: GangRecord,
  judgement: StatusJudgement,
  patient: boolean,
): { write?: StatusWrite; recheckAfterMs?: number | undefined } {
  const { recheckAfterMs } = judgement;
  const conditions = mergeConditions(gang.conditions, judgement.wanted, gang.generation, state.now);
  const change = gang.phase === judgement.phase ? difference(gang.conditions, conditions) : 'turn';
  if (change === 'none') return { recheckAfterMs };
  const first = patient && gang.phase === undefined && gang.conditions.length === 0;
  const delay = change === 'words' ? wordsDelay(state) : first ? firstDelay(state, gang) : 0;
  if (delay > 0) return { recheckAfterMs: Math.min(delay, recheckAfterMs ?? delay) };
  const { uid, resourceVersion } = gang;
  return { write: { uid, resourceVersion, phase: judgement.phase, conditions }, recheckAfterMs };
}

/** Milliseconds until the first status of a young gang is written; 0 where the clocks differ too much to tell. */
function firstDelay({ now, pods }: GangState, { creationTimestamp }: GangRecord): number {
  const made = Date.parse(creationTimestamp ?? '') || 0;
  if (now < made - FIRST_STATUS_MS) return 0;
  const last = Math.max(made, Math.min(newestOf(pods), made + FIRST_STATUS_PATIENCE_MS - FIRST_STATUS_MS));
  return Math.min(Math.max(0, last + FIRST_STATUS_MS - now), FIRST_STATUS_MS);
}

/** Milliseconds until a mere change of words may be written. */
function wordsDelay({ now, lastStatusWrite, pods }: GangState): number {
  if (lastStatusWrite === undefined) return 0;
  const newest = newestOf(pods);
  // A Pod from a clock ahead of ours counts as new, but not for ever.
  const due = Math.max(lastStatusWrite + MESSAGE_INTERVAL_MS, Math.min(newest, now) + QUIET_MS);
  return Math.max(0, Math.min(due, lastStatusWrite + MESSAGE_PATIENCE_MS) - now);
}

/** When the last of them was made. */
function newestOf(pods: GangState['pods']): number {
  let newest = 0;
  for (const pod of pods) newest = Math.max(newest, Date.parse(pod.creationTimestamp ?? '') || 0);
  return newest;
}
