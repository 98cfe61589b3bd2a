import type { SplitUnits } from './budgets.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Fit } from './placer.ts';
import type { PodPlacement } from './place.ts';
import type { Preemptor } from './preemptor.ts';
import type { DisruptionBudget, Scope } from './snapshot.ts';
import { byImportance, type PreemptionUnit } from './units.ts';
import type { Variant } from './variants.ts';
import type { Rejection } from './predicates/predicates.ts';
import type { Refusal } from './refusal.ts';

/** The input of a search for victims. */
export interface SearchInput {
  readonly preemptor: Preemptor;
  /** The state with all running Pods in place and no Pod of the preemptor. */
  readonly state: ClusterState;
  /** All units below the preemptor's priority that may be evicted, the most important first. */
  readonly units: readonly PreemptionUnit[];
  readonly budgets: readonly DisruptionBudget[];
  readonly variant: Variant;
  /** Places all Pods of the preemptor in the present state. */
  readonly placed: () => PodPlacement;
}

export interface JudgedUnit {
  readonly unit: PreemptionUnit;
  readonly violatesBudget: boolean;
  /** How many Pods of the unit break a budget. */
  readonly violatingPods: number;
  /** Why the unit has to be evicted, or may stay. */
  readonly why: string;
}

/** What the search for victims found in one domain. */
export interface Search {
  readonly victims: readonly JudgedUnit[];
  readonly reprieved: readonly JudgedUnit[];
  readonly placement: PodPlacement;
  /** Why the preemptor will not fit after the evictions, which its scheduler does not notice. */
  readonly inVain?: string | undefined;
}

/** Collects which units have to be evicted and which may stay, with the reasons. */
export class Verdicts {
  readonly #violating: SplitUnits['violating'];
  readonly #spared: JudgedUnit[] = [];
  readonly #needed = new Map<PreemptionUnit, JudgedUnit>();

  constructor(violating: SplitUnits['violating']) {
    this.#violating = violating;
  }

  /** Called once at most for a unit, also for one that was needed before. */
  spare(unit: PreemptionUnit, why: string): void {
    if (this.#needed.size > 0) this.#needed.delete(unit);
    this.#spared.push(this.#judged(unit, why));
  }

  need(unit: PreemptionUnit, why: string): void {
    this.#needed.set(unit, this.#judged(unit, why));
  }

  needs(unit: PreemptionUnit): boolean {
    return this.#needed.has(unit);
  }

  #judged(unit: PreemptionUnit, why: string): JudgedUnit {
    const violatingPods = this.#violating.get(unit) ?? 0;
    return { unit, why, violatesBudget: violatingPods > 0, violatingPods };
  }

  sorted(): { readonly victims: readonly JudgedUnit[]; readonly reprieved: readonly JudgedUnit[] } {
    const list = (from: Iterable<JudgedUnit>): JudgedUnit[] =>
      [...from].sort((a, b) => byImportance(a.unit, b.unit));
    return { victims: list(this.#needed.values()), reprieved: list(this.#spared) };
  }
}

/** Puts the Pods of a unit on the nodes that they run on. */
export function putBack({ pods }: PreemptionUnit, state: ClusterState, fit?: Fit): void {
  for (const pod of pods) {
    state.putBack(pod);
    tell(fit, pod.nodeName, state);
  }
}

/** Takes the Pods of a unit off their nodes. */
export function removed({ pods }: PreemptionUnit, state: ClusterState, fit?: Fit): void {
  for (const pod of pods) {
    state.takeAway(pod);
    tell(fit, pod.nodeName, state);
  }
}

function tell(fit: Fit | undefined, name: string, state: ClusterState): void {
  const node = fit && state.byName.get(name);
  if (node !== undefined) fit?.changed(node);
}

/** Which units a preemptor would evict, and which may stay. */
export interface PreemptionPlan {
  readonly variant: Variant;
  /** Whether the preemptor fits without preemption. */
  readonly fits: boolean;
  /** Whether the preemptor fits once the victims are gone; true where it fits without preemption. */
  readonly feasible: boolean;
  /** The node of each Pod, by `namespace/name` of the Pod. */
  readonly placement: ReadonlyMap<string, string>;
  /** The victims, most important first. With victims and not feasible: its scheduler evicts them in vain. */
  readonly victims: readonly JudgedUnit[];
  /** Units that were possible victims and may stay. */
  readonly reprieved: readonly JudgedUnit[];
  /** Terminating Pods whose resources are needed: the preemptor waits for them and preempts no further Pod. */
  readonly awaited: readonly string[];
  /** The reasons of all nodes for the first Pod without a node, where preemption does not help. */
  readonly rejected: readonly Rejection[];
  /** Why nothing may be preempted; undefined where preemption is allowed. */
  readonly refusal: Refusal | undefined;
  /** The domain of each topology constraint of the gang that got one. */
  readonly domains: readonly PlannedDomain[];
}

export interface PlannedDomain {
  readonly scope: Scope;
  readonly required: boolean;
  /** The value of the scope's label; undefined where the Pods are not in one domain, which was only preferred. */
  readonly value: string | undefined;
  /** How many domains with enough capacity after preemption were not searched. */
  readonly leftOut?: number;
}
