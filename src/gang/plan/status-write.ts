import type { GangRecord, GangState } from '../records.ts';
import { difference, mergeConditions } from './conditions.ts';
import type { StatusWrite } from './gang-plan.ts';
import type { StatusJudgement } from './plan-status.ts';

/**
 * Milliseconds between two rewrites of a message. A message also waits until no Pod has come for a while, or at
 * most for `MESSAGE_PATIENCE_MS`.
 */
export const MESSAGE_INTERVAL_MS = 5_000;
const QUIET_MS = 3_000;
const MESSAGE_PATIENCE_MS = 30_000;
/**
 * Milliseconds that a gang without a status waits for its first one: if its Pods follow at once, an earlier status would be
 * overwritten at once. Two seconds, and one more since creation times have whole seconds.
 */
export const FIRST_STATUS_MS = 3_000;
/** Milliseconds of the same wait while Pods keep coming one by one, as controllers of large workloads create them. */
export const FIRST_STATUS_PATIENCE_MS = 30_000;

/**
 * Returns the write of the status if it is due, else how long until it is.
 * @param patient whether everything that a young gang waits for is usually created at once
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

/** Milliseconds until the first status of a young gang is written; 0 where the clocks differ too much. */
function firstDelay({ now, pods }: GangState, { creationTimestamp }: GangRecord): number {
  const made = Date.parse(creationTimestamp ?? '') || 0;
  if (now < made - FIRST_STATUS_MS) return 0;
  const last = Math.max(made, Math.min(newestOf(pods), made + FIRST_STATUS_PATIENCE_MS - FIRST_STATUS_MS));
  return Math.min(Math.max(0, last + FIRST_STATUS_MS - now), FIRST_STATUS_MS);
}

/** Milliseconds until a change of messages alone may be written. */
function wordsDelay({ now, lastStatusWrite, pods }: GangState): number {
  if (lastStatusWrite === undefined) return 0;
  const newest = newestOf(pods);
  // A Pod whose creation time lies in the future counts as created now.
  const due = Math.max(lastStatusWrite + MESSAGE_INTERVAL_MS, Math.min(newest, now) + QUIET_MS);
  return Math.max(0, Math.min(due, lastStatusWrite + MESSAGE_PATIENCE_MS) - now);
}

/** Milliseconds since 1970 at which the newest Pod was created; 0 where none has a creation time. */
function newestOf(pods: GangState['pods']): number {
  // An API server writes all creation times in one form, which sorts as text: one is parsed, not a thousand.
  let newest = '';
  for (const { creationTimestamp = '' } of pods) if (creationTimestamp > newest) newest = creationTimestamp;
  return Date.parse(newest) || 0;
}
