import { MUSTER_PREFIX } from './names.ts';

/**
 * What a PodGang says about preemption beside `spec.priorityClassName`. Annotations, since the definition of PodGang, which
 * is Grove's, would drop further fields.
 */

/** Whether the Pods of a gang are disrupted together (`PodGroup`) or one by one (`Pod`, the default). */
export const ANNOTATION_DISRUPTION_MODE = `${MUSTER_PREFIX}disruption-mode`;
/** PriorityClass that says what it costs to preempt the gang; the scheduling one where it is not there. */
export const ANNOTATION_PREEMPTION_PRIORITY_CLASS = `${MUSTER_PREFIX}preemption-priority-class`;
/**
 * `PreemptLowerPriority`, or `Never`: the gang waits until there is room. On a PriorityClass, which is for whoever keeps it:
 * what gangs of it do, whatever its Pods do one by one.
 */
export const ANNOTATION_PREEMPTION_POLICY = `${MUSTER_PREFIX}preemption-policy`;
/** On a PriorityClass: of which scheduling classes a gang may name it as what it costs to preempt the gang; `*`: of all. */
export const ANNOTATION_PREEMPTION_PRIORITY_FOR = `${MUSTER_PREFIX}preemption-priority-for`;

export const DISRUPTION_MODES = ['Pod', 'PodGroup'] as const;
export type DisruptionMode = (typeof DISRUPTION_MODES)[number];
export const PREEMPTION_POLICIES = ['PreemptLowerPriority', 'Never'] as const;
export type PreemptionPolicy = (typeof PREEMPTION_POLICIES)[number];

/** Reads an annotation; undefined where it is not there. */
type Annotation = (key: string) => string | undefined;

/** undefined: the gang says nothing, or what means nothing. */
export const disruptionModeOf = (annotation: Annotation): DisruptionMode | undefined =>
  DISRUPTION_MODES.find((mode) => mode === annotation(ANNOTATION_DISRUPTION_MODE));

/** The condition that tells a Pod why it has to go. */
export const DISRUPTION_TARGET = 'DisruptionTarget';
/** For another one. */
export const PREEMPTION = 'PreemptionByScheduler';
/** What the eviction API writes in its place, whatever stood there. */
export const EVICTION = 'EvictionByEvictionAPI';
