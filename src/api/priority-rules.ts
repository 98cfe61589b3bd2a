import type { Rule } from './rule.ts';

/** Rules about priorities and preemption of a PodGang. */
export const priorityRules = {
  PriorityClassInvalid: {
    code: 422,
    kind: 'Invalid',
    says: 'must be the name of a PriorityClass: a lower-case DNS name of at most 253 characters',
    fix: 'correct it or leave it out',
  },
  PriorityClassUnknown: {
    code: 422,
    kind: 'NotSupported',
    says: 'is no PriorityClass of this cluster',
    fix: 'create it, or name another; one that was made a moment ago is known in a moment: try again',
  },
  PriorityClassImmutable: {
    code: 422,
    kind: 'Forbidden',
    says: 'the priority of a gang that has Pods never changes: its Pods keep theirs',
    fix: 'create the gang and its Pods anew; what it costs to preempt it may change, by muster.dev/preemption-priority-class',
  },
  PreemptionPriorityBelow: {
    code: 422,
    kind: 'Invalid',
    says: 'a gang is preempted at its scheduling priority or above, or two gangs could preempt each other for ever',
    fix: 'name a PriorityClass at least as high as that of spec.priorityClassName',
  },
  PreemptionPriorityAbove: {
    code: 422,
    kind: 'Forbidden',
    says: 'a gang costs no more to preempt than it may preempt with, unless the class allows it',
    fix: 'leave it out, or name a class with muster.dev/preemption-priority-for',
  },
  PreemptionPolicyInvalid: {
    code: 422,
    kind: 'NotSupported',
    says: 'must be PreemptLowerPriority or Never',
    fix: 'correct it, or leave it out for that of the PriorityClass',
  },
  DisruptionModeInvalid: {
    code: 422,
    kind: 'NotSupported',
    says: 'must be Pod or PodGroup',
    fix: 'correct it, or leave it out for Pod',
  },
  DisruptionModeImmutable: {
    code: 422,
    kind: 'Forbidden',
    says: 'whether the Pods of a gang are disrupted together never changes',
    fix: 'create the gang anew',
  },
} as const satisfies Record<string, Rule>;
