import { CONDITION_INITIALIZED } from '../../api/pod-gang.ts';
import {
  NO_GROUPS,
  isReadyGang,
  isScheduled,
  boundShortfall,
  shortfall,
  type GroupCensus,
} from './census.ts';
import {
  CONDITION_READY,
  CONDITION_SCHEDULED,
  CONDITION_UNHEALTHY,
  gangPhaseOf,
  type WantedCondition,
  type GangPhase,
  type Hold,
} from './conditions.ts';
import type { GangRecord, GangState } from '../records.ts';
import { priorityCondition } from './other-priority.ts';
import { placed, whyOf, gangWords, type SchedulerWords } from './why.ts';
import { workloadOf, workloadResult } from '../gang-workload.ts';
import { initializedOf, isInitialized } from '../rules/initialized.ts';

export interface StatusJudgement {
  readonly phase: GangPhase;
  readonly wanted: readonly WantedCondition[];
  /** Why the gang is not Running, or ''. */
  readonly why: string;
  /** Milliseconds after which to judge again, since the scheduler's present message does not count yet. */
  readonly recheckAfterMs?: number | undefined;
}

/** What holds the observed gang, and what the status reports about it. */
export interface StatusInput {
  /** Why the gang is not Initialized; undefined where it is, or this write makes it Initialized. */
  readonly waitsFor: Hold | undefined;
  /** Why Pods of an Initialized gang are held. */
  readonly hold: Hold | undefined;
  /** Set where the gang is short of Pods because some are prepared for another scheduler. */
  readonly mismatch: string | undefined;
  /** Why Pods of the gang wait for a base gang. */
  readonly baseWait: string | undefined;
}

/** The status that follows from the observed Pods and references. */
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
  const unhealthy = unhealthyCondition(census, given.mismatch);
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

/** The status of a gang whose workload has ended: it has ended too, however many of its Pods are left. */
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

/** The condition Initialized. Once True it keeps its reason and message, whoever wrote them. */
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

function unhealthyCondition(census: readonly GroupCensus[], mismatch: string | undefined): WantedCondition {
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
    ...(mismatch === undefined ? [] : [mismatch]),
    ...(leaving.length === 0 ? [] : [`being deleted: ${placed(leaving)}`]),
    ...(on === 0
      ? []
      : [
          `${on} ${on === 1 ? 'Pod is' : 'Pods are'} on nodes, and some schedulers evict a gang below its minimum`,
        ]),
  ].join('; ');
  return { type, status: 'True', reason: 'BelowMinimum', message };
}
