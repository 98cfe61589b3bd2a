import { CONDITION_INITIALIZED } from '../../api/pod-gang.ts';
import { isReadyGang, isScheduled, type GroupCensus } from './census.ts';
import {
  CONDITION_READY,
  CONDITION_SCHEDULED,
  CONDITION_UNHEALTHY,
  difference,
  mergeConditions,
  type Wanted,
} from './conditions.ts';
import type { GangPhase, StatusWrite } from './gang-plan.ts';
import type { GangRecord, GangState } from '../records.ts';
import { boundShortfall, shortfall } from './group-counts.ts';
import { statusText } from '../status-text.ts';
import { initializedOf, isInitialized } from '../rules/initialized.ts';
import { schedulerWords } from './plan-gates.ts';

export const REASON_PODS_PENDING = 'PodGangPodsCreationPending';
export const REASON_PODS_CREATED = 'PodGangPodsCreated';
export const NO_GROUPS = 'the gang has no groups';

/** Words are rewritten at most this often, and only when no Pod has come for a while, or after very long. */
export const MESSAGE_INTERVAL_MS = 5_000;
const QUIET_MS = 3_000;
const MESSAGE_PATIENCE_MS = 30_000;

export interface StatusJudgement {
  readonly phase: GangPhase;
  readonly wanted: readonly Wanted[];
  /** Why the gang is not Running, or ''. */
  readonly why: string;
}

/** What the backend has to do with a gang that is Initialized and not scheduled. */
export interface BackendWords {
  /** What keeps it from answering for the gang. */
  readonly lacks?: string | undefined;
  /** That Pods of it are prepared for another scheduler, where it is short of its minimum for that. */
  readonly torn?: string | undefined;
  /** What its scheduler says of the gang. */
  readonly says?: string | undefined;
}

/**
 * The status that the observed Pods and references give.
 * @param waitsFor why the gang is not Initialized; undefined where it is or becomes so with this write
 * @param baseWait why its Pods wait for a base gang
 */
export function judgeStatus(
  gang: GangRecord,
  census: readonly GroupCensus[],
  waitsFor: string | undefined,
  baseWait: string | undefined,
  backend: BackendWords = {},
): StatusJudgement {
  const initialized = initializedCondition(gang, waitsFor);
  if (waitsFor !== undefined) {
    const message = 'gates come off once the gang is Initialized';
    const wanted: Wanted[] = [
      initialized,
      { type: CONDITION_SCHEDULED, status: 'False', reason: 'NotInitialized', message },
      { type: CONDITION_READY, status: 'False', reason: 'NotInitialized', message },
    ];
    return { phase: 'Pending', wanted, why: waitsFor };
  }
  const scheduled = scheduledCondition(census, baseWait, backend);
  const ready = readyCondition(census);
  const unhealthy = unhealthyCondition(census, backend.torn);
  const why = [unhealthy.status === 'True' ? unhealthy : undefined, scheduled, ready].find(
    (condition) => condition !== undefined && (condition === unhealthy || condition.status === 'False'),
  );
  return {
    phase: ready.status === 'True' ? 'Running' : scheduled.status === 'True' ? 'Starting' : 'Pending',
    wanted: [initialized, scheduled, ready, unhealthy],
    why: why?.message ?? '',
  };
}

/** Given once: a condition that is True is kept with its own words, whoever wrote them. */
function initializedCondition(gang: GangRecord, waitsFor: string | undefined): Wanted {
  const type = CONDITION_INITIALIZED;
  if (isInitialized(gang)) {
    const { reason, message } = initializedOf(gang) ?? {};
    return { type, status: 'True', reason: reason ?? REASON_PODS_CREATED, message: message ?? '' };
  }
  return waitsFor === undefined
    ? {
        type,
        status: 'True',
        reason: REASON_PODS_CREATED,
        message: 'every group has its Pods and refers to them',
      }
    : { type, status: 'False', reason: REASON_PODS_PENDING, message: waitsFor };
}

function scheduledCondition(
  census: readonly GroupCensus[],
  baseWait: string | undefined,
  backend: BackendWords,
): Wanted {
  const type = CONDITION_SCHEDULED;
  if (isScheduled(census)) {
    return {
      type,
      status: 'True',
      reason: 'PodsBound',
      message: 'every group has its minimum of Pods on nodes',
    };
  }
  const bound = census.length === 0 ? NO_GROUPS : `bound ${boundShortfall(census)}`;
  if (baseWait !== undefined) {
    return { type, status: 'False', reason: 'WaitingForBaseGang', message: `${bound}; ${baseWait}` };
  }
  if (backend.lacks !== undefined) {
    return { type, status: 'False', reason: 'WaitingForBackend', message: `${bound}; ${backend.lacks}` };
  }
  if (backend.torn !== undefined) {
    return { type, status: 'False', reason: 'SchedulerMismatch', message: `${bound}; ${backend.torn}` };
  }
  for (const pod of census.flatMap((group) => group.present)) {
    const words = schedulerWords(pod);
    if (words === undefined) continue;
    const message = `${bound}; the scheduler says of ${pod.name}: ${words}`;
    return { type, status: 'False', reason: 'Unschedulable', message };
  }
  if (backend.says !== undefined) {
    const message = `${bound}; the scheduler says of the gang: ${backend.says}`;
    return { type, status: 'False', reason: 'Unschedulable', message: statusText(message) };
  }
  return { type, status: 'False', reason: 'PodsPending', message: bound };
}

function readyCondition(census: readonly GroupCensus[]): Wanted {
  const type = CONDITION_READY;
  if (isReadyGang(census)) {
    return {
      type,
      status: 'True',
      reason: 'PodsReady',
      message: 'every group has its minimum of Pods ready',
    };
  }
  const missing = shortfall(
    census,
    (group) => group.ready,
    (group) => group.minReplicas,
  );
  return {
    type,
    status: 'False',
    reason: 'PodsNotReady',
    message: census.length === 0 ? NO_GROUPS : `ready ${missing}`,
  };
}

function unhealthyCondition(census: readonly GroupCensus[], torn: string | undefined): Wanted {
  const type = CONDITION_UNHEALTHY;
  const missing = shortfall(
    census,
    (group) => group.present.length,
    (group) => group.minReplicas,
  );
  if (census.length === 0) return { type, status: 'True', reason: 'BelowMinimum', message: NO_GROUPS };
  if (missing === '') {
    return {
      type,
      status: 'False',
      reason: 'MinimumPresent',
      message: 'every group has its minimum of Pods',
    };
  }
  const message = `fewer Pods than the minimum: ${missing}${torn === undefined ? '' : `; ${torn}`}`;
  return { type, status: 'True', reason: 'BelowMinimum', message };
}

/** The write that the judgement asks for, if it is due, or how long until it is. */
export function planStatus(
  state: GangState,
  gang: GangRecord,
  judgement: StatusJudgement,
): { write?: StatusWrite; recheckAfterMs?: number } {
  const conditions = mergeConditions(gang.conditions, judgement.wanted, gang.generation, state.now);
  const change = gang.phase === judgement.phase ? difference(gang.conditions, conditions) : 'turn';
  if (change === 'none') return {};
  const delay = change === 'turn' ? 0 : wordsDelay(state);
  if (delay > 0) return { recheckAfterMs: delay };
  const { uid, resourceVersion } = gang;
  return { write: { uid, resourceVersion, phase: judgement.phase, conditions } };
}

/** Milliseconds until a mere change of words may be written. */
function wordsDelay({ now, lastStatusWrite, pods }: GangState): number {
  if (lastStatusWrite === undefined) return 0;
  let newest = 0;
  for (const pod of pods) newest = Math.max(newest, Date.parse(pod.creationTimestamp ?? '') || 0);
  // A Pod from a clock ahead of ours counts as new, but not for ever.
  const due = Math.max(lastStatusWrite + MESSAGE_INTERVAL_MS, Math.min(newest, now) + QUIET_MS);
  return Math.max(0, Math.min(due, lastStatusWrite + MESSAGE_PATIENCE_MS) - now);
}
