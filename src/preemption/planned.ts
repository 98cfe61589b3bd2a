import type { Rejection } from './predicates/predicates.ts';
import type { Refusal } from './refusal.ts';
import type { Scope } from './snapshot.ts';
import type { Variant } from './variants.ts';
import type { JudgedUnit } from './verdicts.ts';

/** Who would make room for whom, and who would not have to. */
export interface PreemptionPlan {
  readonly variant: Variant;
  /** Whether it fits as it is. */
  readonly fits: boolean;
  /** Whether it fits once the victims are gone; true where it fits as it is. */
  readonly feasible: boolean;
  /** Where each Pod would go, by `namespace/name`. */
  readonly placement: ReadonlyMap<string, string>;
  /** The most important first. Where it is not feasible all the same, its scheduler evicts them in vain. */
  readonly victims: readonly JudgedUnit[];
  /** Who was looked at and may stay. */
  readonly reprieved: readonly JudgedUnit[];
  /** Pods on their way out whose room is needed: it waits for them, and preempts nobody more. */
  readonly awaited: readonly string[];
  /** Why nothing helps, node by node, for the first Pod without a place. */
  readonly rejected: readonly Rejection[];
  /** Why nobody may be preempted at all; undefined where somebody may. */
  readonly refusal: Refusal | undefined;
  /** For each topology constraint of the gang, where it has a place: the domain. */
  readonly domains: readonly PlannedDomain[];
}

export interface PlannedDomain {
  readonly scope: Scope;
  readonly required: boolean;
  /** The value of the scope's label; undefined: its Pods are not in one domain, which was only preferred. */
  readonly value: string | undefined;
  /** Domains with room, once all below is gone, that were not looked at. */
  readonly leftOut?: number;
}
