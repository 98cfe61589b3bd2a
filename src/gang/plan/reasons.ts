/**
 * Every reason that Muster gives a condition of a PodGang. Programs go by these, `muster status` among them; the words
 * beside them are for people.
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

/** Reasons of Events that repeat no condition. */
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

/** Why a gang does not go on: the reason of the condition that says so, and its words. */
export interface Hold {
  readonly reason: ConditionReason;
  readonly message: string;
}
