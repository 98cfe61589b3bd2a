import { kubeTime } from '../../k8s/time.ts';
import type { Condition } from '../../api/pod-gang.ts';
import type { GroupCensus } from './census.ts';
import { statusText } from '../../text/printable.ts';

export const CONDITION_SCHEDULED = 'Scheduled';
export const CONDITION_READY = 'Ready';
export const CONDITION_UNHEALTHY = 'Unhealthy';
/** Condition of gangs that have, or had, Pods with another PriorityClass. */
export const CONDITION_PODS_NOT_MATCHING_PRIORITY = 'PodsNotMatchingPriority';

/** `status.phase` of a PodGang. */
export type GangPhase = 'Pending' | 'Starting' | 'Running' | 'Succeeded' | 'Failed';

/** A condition to write; its times follow from the stored one. */
export interface WantedCondition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False';
  /** The reason. A condition Initialized that is True keeps the reason that it became True with. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Merges Muster's conditions into the whole list. `conditions` is an atomic list, so a condition that is left out is erased:
 * conditions of others are kept unchanged. `lastTransitionTime` changes only with the status.
 */
export function mergeConditions(
  observed: readonly Condition[],
  wanted: readonly WantedCondition[],
  generation: number,
  now: number,
): Condition[] {
  const next = new Map<string, WantedCondition>(wanted.map((item) => [item.type, item]));
  const seen = new Set<string>();
  const merged = observed.flatMap((old): Condition[] => {
    const item = next.get(old.type);
    if (item === undefined) return [old];
    if (seen.has(old.type)) return [];
    seen.add(old.type);
    return [conditionOf(item, old, generation, now)];
  });
  const added = wanted.filter((item) => !seen.has(item.type));
  return [...merged, ...added.map((item) => conditionOf(item, undefined, generation, now))];
}

function conditionOf(
  item: WantedCondition,
  old: Condition | undefined,
  generation: number,
  now: number,
): Condition {
  const kept = old?.status === item.status ? old.lastTransitionTime : undefined;
  return {
    type: item.type,
    status: item.status,
    reason: item.reason,
    message: statusText(item.message),
    observedGeneration: generation,
    lastTransitionTime: kept ?? kubeTime(now),
  };
}

/** How much a write would change: the status or reason of a condition (`turn`), only messages (`words`), or nothing. */
export function difference(
  observed: readonly Condition[],
  merged: readonly Condition[],
): 'turn' | 'words' | 'none' {
  if (observed.length !== merged.length) return 'turn';
  let words = false;
  for (const [index, next] of merged.entries()) {
    const old = observed[index];
    if (old?.type !== next.type || old.status !== next.status || old.reason !== next.reason) return 'turn';
    words ||=
      old.message !== next.message ||
      old.observedGeneration !== next.observedGeneration ||
      old.lastTransitionTime !== next.lastTransitionTime;
  }
  return words ? 'words' : 'none';
}

/**
 * The phase of an Initialized gang. A gang with a running Pod is never Pending again: its other Pods are replacements or
 * additions.
 */
export function gangPhaseOf(
  scheduled: WantedCondition,
  ready: WantedCondition,
  census: readonly GroupCensus[],
): GangPhase {
  if (ready.status === 'True') return 'Running';
  const runs = census.some(({ present }) => present.some(({ phase }) => phase === 'Running'));
  return scheduled.status === 'True' || runs ? 'Starting' : 'Pending';
}

/**
 * Every reason that Muster gives to a condition of a PodGang. Programs such as `muster status` go by the reasons; the
 * messages are for people.
 */
export const CONDITION_REASONS = {
  Initialized: [
    'PodGangPodsCreationPending',
    'PodGangPodsCreated',
    'BackendNotReady',
    'WaitingForBackendObjects',
    'SchedulerMismatch',
    'NamespaceTooLarge',
  ],
  Scheduled: [
    'NotInitialized',
    'WaitingForBaseGang',
    'NextGenerationForming',
    'BackendNotReady',
    'WaitingForBackendObjects',
    'SchedulerMismatch',
    'Unschedulable',
    'PodsPending',
    'PodsBound',
  ],
  Ready: ['NotInitialized', 'PodsNotReady', 'PodsReady'],
  Unhealthy: ['MinimumPresent', 'BelowMinimum', 'WorkloadEnded'],
  PodsNotMatchingPriority: ['OtherPriorityClass', 'PriorityClassesAgree'],
} as const;

export type ConditionType = keyof typeof CONDITION_REASONS;
export type ConditionReason = (typeof CONDITION_REASONS)[ConditionType][number];

/** Reasons of Events that are not also the reason of a condition. */
export const EVENT_REASONS = [
  'ReferencesUpdated',
  'GatesRemoved',
  'UnknownGang',
  'UnknownGroup',
  'SchedulerMismatch',
  'UngatedEarly',
  'ExpectedPodsInvalid',
  'SpecInvalid',
  'NamespaceTooLarge',
  'BackendWarning',
  'BackendOperationFailed',
  'WorkloadUnreadable',
  'WorkloadInvalid',
  'CleanupBlocked',
] as const;

export type EventReason = (typeof EVENT_REASONS)[number];

/** Why a gang does not proceed: the reason and the message of its condition. */
export interface Hold {
  readonly reason: ConditionReason;
  readonly message: string;
}
