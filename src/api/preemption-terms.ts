import { MUSTER_PREFIX } from './names.ts';

/**
 * What a PodGang says about preemption beside `spec.priorityClassName`. These are annotations because the PodGang CRD is
 * Grove's, and drops other fields.
 */

/** Whether the Pods of a gang are disrupted together (`PodGroup`) or one by one (`Pod`, the default). */
export const ANNOTATION_DISRUPTION_MODE = `${MUSTER_PREFIX}disruption-mode`;
/** The PriorityClass that a preemptor has to exceed to preempt the gang; without it the scheduling class counts. */
export const ANNOTATION_PREEMPTION_PRIORITY_CLASS = `${MUSTER_PREFIX}preemption-priority-class`;
/**
 * `PreemptLowerPriority`, or `Never`: the gang waits until there is capacity. On a PriorityClass, where administrators set
 * it: what gangs of the class do, whatever its Pods do one by one.
 */
export const ANNOTATION_PREEMPTION_POLICY = `${MUSTER_PREFIX}preemption-policy`;
/**
 * On a PriorityClass: the scheduling classes whose gangs may name it as {@link ANNOTATION_PREEMPTION_PRIORITY_CLASS}; `*`:
 * all.
 */
export const ANNOTATION_PREEMPTION_PRIORITY_FOR = `${MUSTER_PREFIX}preemption-priority-for`;

export const DISRUPTION_MODES = ['Pod', 'PodGroup'] as const;
export type DisruptionMode = (typeof DISRUPTION_MODES)[number];
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'] as const;
export type PreemptionPolicy = (typeof PREEMPTION_POLICIES)[number];

/** Reads an annotation; undefined where it is absent. */
type Annotation = (key: string) => string | undefined;

/** The disruption mode; undefined where the annotation is absent or has no valid value. */
export const disruptionModeOf = (annotation: Annotation): DisruptionMode | undefined =>
  DISRUPTION_MODES.find((mode) => mode === annotation(ANNOTATION_DISRUPTION_MODE));

/** The condition that says why a Pod is being evicted. */
export const DISRUPTION_TARGET = 'DisruptionTarget';
/** Its reason for a Pod that is preempted. */
export const PREEMPTION = 'PreemptionByScheduler';
/** The reason that the eviction API writes, whatever reason was there. */
export const EVICTION = 'EvictionByEvictionAPI';
