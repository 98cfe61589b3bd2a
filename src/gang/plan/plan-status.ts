import { CONDITION_INITIALIZED } from '../../api/pod-gang.ts';
import { isReadyGang, isScheduled, type GroupCensus } from './census.ts';
import {
  CONDITION_READY,
  CONDITION_SCHEDULED,
  CONDITION_UNHEALTHY,
  difference,
  mergeConditions,
  gangPhaseOf,
  type WantedCondition,
} from './conditions.ts';
import type { GangPhase, StatusWrite } from './gang-plan.ts';
import type { GangRecord, GangState } from '../records.ts';
import { priorityCondition } from './other-priority.ts';
import { boundShortfall, shortfall } from './group-counts.ts';
import { placed, whyOf } from './why.ts';
import type { Hold } from './reasons.ts';
import { workloadOf, workloadResult } from '../made-for.ts';
import { initializedOf, isInitialized } from '../rules/initialized.ts';
import { gangWords, type SchedulerWords } from './scheduler-words.ts';

export const NO_GROUPS = 'the gang has no groups';

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

export interface StatusJudgement {
  readonly phase: GangPhase;
  readonly wanted: readonly WantedCondition[];
  /** Why the gang is not Running, or ''. */
  readonly why: string;
  /** Judge again after this long: what the scheduler says does not count yet. */
  readonly recheckAfterMs?: number | undefined;
}

/** What the observed gang is held by, and what is said of it. */
export interface StatusInput {
  /** Why the gang is not Initialized; undefined where it is or becomes so with this write. */
  readonly waitsFor: Hold | undefined;
  /** What holds Pods of a gang that is Initialized. */
  readonly hold: Hold | undefined;
  /** That Pods of it are prepared for another scheduler, where it is short of its minimum for that. */
  readonly torn: string | undefined;
  /** Why its Pods wait for a base gang. */
  readonly baseWait: string | undefined;
}

/** The status that the observed Pods and references give. */
export function judgeStatus(
  state: GangState,
  gang: GangRecord,
  census: readonly GroupCensus[],
  given: StatusInput,
): StatusJudgement {
  const { waitsFor } = given;
  const initialized = initializedCondition(gang, waitsFor);
  const priority = priorityCondition(state, gang);
  const told = priority === undefined ? [] : [priority];
  if (waitsFor !== undefined) {
    const message = 'gates come off once the gang is Initialized';
    const wanted: WantedCondition[] = [
      initialized,
      { type: CONDITION_SCHEDULED, status: 'False', reason: 'NotInitialized', message },
      { type: CONDITION_READY, status: 'False', reason: 'NotInitialized', message },
      ...told,
    ];
    const ended = workloadResult(gang);
    if (ended !== undefined) return { phase: ended, wanted, why: endWords(gang, ended) };
    return { phase: 'Pending', wanted, why: waitsFor.message };
  }
  const said: SchedulerWords = isScheduled(census) ? {} : gangWords(state, gang, census);
  const scheduled = scheduledCondition(census, given, said.words);
  const ready = readyCondition(census);
  const ended = workloadResult(gang);
  if (ended !== undefined) return endedStatus(gang, ended, [initialized, scheduled, ready, ...told]);
  const unhealthy = unhealthyCondition(census, given.torn);
  const isReplaced = scheduled.reason === ('NextGenerationForming' satisfies Hold['reason']);
  const isShort = unhealthy.status === 'True' && !isReplaced;
  const why = isShort ? unhealthy : [scheduled, ready].find(({ status }) => status === 'False');
  return {
    phase: gangPhaseOf(scheduled, ready, census),
    wanted: [initialized, scheduled, ready, unhealthy, ...told],
    why: whyOf(why, census),
    recheckAfterMs: said.countsAfterMs,
  };
}

/** A gang whose workload has ended is done, whatever is left of its Pods: nothing is missing of it. */
function endedStatus(
  gang: GangRecord,
  phase: 'Succeeded' | 'Failed',
  conditions: readonly WantedCondition[],
): StatusJudgement {
  const message = endWords(gang, phase);
  const healthy: WantedCondition = {
    type: CONDITION_UNHEALTHY,
    status: 'False',
    reason: 'WorkloadEnded',
    message,
  };
  return { phase, wanted: [...conditions, healthy], why: phase === 'Failed' ? message : '' };
}

const endWords = (gang: GangRecord, phase: 'Succeeded' | 'Failed'): string =>
  `${workloadOf(gang) ?? ''} has ${phase === 'Failed' ? 'failed' : 'succeeded'}`;

/** Given once: a condition that is True is kept with its own words, whoever wrote them. */
function initializedCondition(gang: GangRecord, waitsFor: Hold | undefined): WantedCondition {
  const type = CONDITION_INITIALIZED;
  if (isInitialized(gang)) {
    const { reason, message } = initializedOf(gang) ?? {};
    return { type, status: 'True', reason: reason ?? 'PodGangPodsCreated', message: message ?? '' };
  }
  return waitsFor === undefined
    ? {
        type,
        status: 'True',
        reason: 'PodGangPodsCreated',
        message: 'every group has its Pods and refers to them',
      }
    : { type, status: 'False', ...waitsFor };
}

function scheduledCondition(
  census: readonly GroupCensus[],
  { baseWait, hold }: StatusInput,
  words: string | undefined,
): WantedCondition {
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
  const because: Hold | undefined =
    baseWait !== undefined
      ? { reason: 'WaitingForBaseGang', message: baseWait }
      : (hold ?? (words === undefined ? undefined : { reason: 'Unschedulable', message: words }));
  return because === undefined
    ? { type, status: 'False', reason: 'PodsPending', message: bound }
    : { type, status: 'False', reason: because.reason, message: `${bound}; ${because.message}` };
}

function readyCondition(census: readonly GroupCensus[]): WantedCondition {
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

function unhealthyCondition(census: readonly GroupCensus[], torn: string | undefined): WantedCondition {
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
  const leaving = census.flatMap((group) => group.leaving);
  const on = census.reduce((sum, group) => sum + group.bound, 0);
  const message = [
    `fewer Pods than the minimum: ${missing}`,
    ...(torn === undefined ? [] : [torn]),
    ...(leaving.length === 0 ? [] : [`being deleted: ${placed(leaving)}`]),
    ...(on === 0
      ? []
      : [
          `${on} ${on === 1 ? 'Pod is' : 'Pods are'} on nodes, and some schedulers evict a gang below its minimum`,
        ]),
  ].join('; ');
  return { type, status: 'True', reason: 'BelowMinimum', message };
}

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
