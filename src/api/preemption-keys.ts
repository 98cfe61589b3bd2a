import type { Key } from './key.ts';
import { ANNOTATION_PREEMPTION_PLAN } from './names.ts';
import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
  ANNOTATION_PREEMPTION_PRIORITY_FOR,
} from './preemption-terms.ts';

/** Keys about preemption. */
export const keysOfPreemption: readonly Key[] = [
  {
    key: ANNOTATION_DISRUPTION_MODE,
    as: 'annotation',
    on: 'PodGang',
    writer: 'whoever wrote the PodGang',
    says: '`PodGroup`: its Pods are disrupted together; `Pod`: one by one.',
    without: '`Pod`',
    wrong:
      '`DisruptionModeInvalid`; a later change `DisruptionModeImmutable`; a warning where its scheduler cannot',
  },
  {
    key: ANNOTATION_PREEMPTION_PRIORITY_CLASS,
    as: 'annotation',
    on: 'PodGang',
    writer: 'whoever wrote the PodGang',
    says: 'PriorityClass that says what it costs to preempt the gang.',
    without: '`spec.priorityClassName`',
    wrong:
      '`PriorityClassInvalid`, `PriorityClassUnknown`, `PreemptionPriorityBelow`, `PreemptionPriorityAbove`',
  },
  {
    key: ANNOTATION_PREEMPTION_POLICY,
    as: 'annotation',
    on: 'PodGang',
    writer: 'whoever wrote the PodGang',
    says: '`Never`: the gang waits until there is room; `PreemptLowerPriority`: as far as its class lets it.',
    without: 'that of its PriorityClass',
    wrong: '`PreemptionPolicyInvalid`',
  },
  {
    key: ANNOTATION_PREEMPTION_POLICY,
    as: 'annotation',
    on: 'PriorityClass',
    writer: 'whoever keeps the PriorityClass',
    says: 'What gangs of the class do, all Pods together: `PreemptLowerPriority` or `Never`.',
    without: 'its `preemptionPolicy`',
    wrong: 'as if it were not there',
  },
  {
    key: ANNOTATION_PREEMPTION_PRIORITY_FOR,
    as: 'annotation',
    on: 'PriorityClass',
    writer: 'whoever keeps the PriorityClass',
    says: 'Classes, separated by commas, whose gangs may name this one, above theirs, in `muster.dev/preemption-priority-class`; `*`: all.',
    without: 'none may',
    wrong: 'a name that is no class lets nobody do so',
  },
  {
    key: ANNOTATION_PREEMPTION_PLAN,
    as: 'annotation',
    on: 'PodGang',
    writer: 'Muster; whoever may change the PodGang may take it off',
    says: 'Whom Muster is evicting for the gang at this moment, by their uids.',
    without: 'nobody is evicted for it',
    wrong: '`PreemptionPlanProtected`; a PodGang begins without one',
  },
];
