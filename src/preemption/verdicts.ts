import type { SplitUnits } from './budgets.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Fit } from './fit.ts';
import type { Placement } from './place.ts';
import type { Preemptor } from './preemptor.ts';
import type { DisruptionBudget } from './snapshot.ts';
import { byImportance, type Unit } from './units.ts';
import type { Variant } from './variants.ts';

/** What a search for victims is asked. */
export interface Question {
  readonly preemptor: Preemptor;
  /** Everything that runs in place, the preemptor nowhere. */
  readonly state: ClusterState;
  /** All that is below the preemptor. */
  readonly units: readonly Unit[];
  readonly budgets: readonly DisruptionBudget[];
  readonly variant: Variant;
  /** Places all of the preemptor in the state as it is at that moment. */
  readonly placed: () => Placement;
}

export interface Judged {
  readonly unit: Unit;
  readonly violatesBudget: boolean;
  /** How many of its Pods break one. */
  readonly violatingPods: number;
  /** Why it cannot be spared, or can. */
  readonly why: string;
}

/** What the search for victims found in one domain. */
export interface Search {
  readonly victims: readonly Judged[];
  readonly reprieved: readonly Judged[];
  readonly placement: Placement;
  /** Why the preemptor does not fit all the same, which its scheduler overlooks. */
  readonly inVain?: string | undefined;
}

/** Who has to go and who may stay, with the reason of each. */
export class Verdicts {
  readonly #violating: SplitUnits['violating'];
  readonly #spared = new Map<Unit, Judged>();
  readonly #needed = new Map<Unit, Judged>();

  constructor(violating: SplitUnits['violating']) {
    this.#violating = violating;
  }

  spare(unit: Unit, why: string): void {
    if (this.#needed.size > 0) this.#needed.delete(unit);
    this.#spared.set(unit, this.#judged(unit, why));
  }

  need(unit: Unit, why: string): void {
    this.#needed.set(unit, this.#judged(unit, why));
  }

  isSpared(unit: Unit): boolean {
    return this.#spared.has(unit);
  }

  #judged(unit: Unit, why: string): Judged {
    const violatingPods = this.#violating.get(unit) ?? 0;
    return { unit, why, violatesBudget: violatingPods > 0, violatingPods };
  }

  sorted(): { readonly victims: readonly Judged[]; readonly reprieved: readonly Judged[] } {
    const list = (from: ReadonlyMap<Unit, Judged>): Judged[] =>
      [...from.values()].sort((a, b) => byImportance(a.unit, b.unit));
    return { victims: list(this.#needed), reprieved: list(this.#spared) };
  }
}

/** The Pods of a unit on the nodes that they run on. */
export function putBack({ pods }: Unit, state: ClusterState, fit?: Fit): void {
  for (const pod of pods) {
    state.putBack(pod);
    tell(fit, pod.nodeName, state);
  }
}

/** Nowhere. */
export function removed({ pods }: Unit, state: ClusterState, fit?: Fit): void {
  for (const pod of pods) {
    state.takeAway(pod);
    tell(fit, pod.nodeName, state);
  }
}

function tell(fit: Fit | undefined, name: string, state: ClusterState): void {
  const node = fit && state.byName.get(name);
  if (node !== undefined) fit?.changed(node);
}
