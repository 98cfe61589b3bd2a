import { takesEverything } from '../k8s/label-selector.ts';
import { matcherOf, selects } from './selectors.ts';
import type { DisruptionBudget, Labels, Pod } from './snapshot.ts';
import type { PreemptionUnit } from './units.ts';
import type { VariantBehaviour } from './variants.ts';

/** Units, split by whether their eviction would break a PodDisruptionBudget. */
export interface SplitUnits {
  /**
   * Units whose eviction would break a PodDisruptionBudget, in the order given, with the number of their Pods that would.
   */
  readonly violating: ReadonlyMap<PreemptionUnit, number>;
  readonly others: readonly PreemptionUnit[];
}

/**
 * Splits units by whether evicting them, one after the other in this order, would take more from a budget than it allows. A
 * unit violates if any of its Pods does. Every budget that a Pod matches is charged, unless the algorithm stops at the first
 * violation of the Pod, or of the unit.
 */
export function splitByBudgets(
  units: readonly PreemptionUnit[],
  budgets: readonly DisruptionBudget[],
  until: VariantBehaviour['chargesUntil']['Pod'],
): SplitUnits {
  const charge = new Ledger(budgets, until);
  const violating = new Map<PreemptionUnit, number>();
  const others: PreemptionUnit[] = [];
  for (const unit of units) {
    const pods = charge.violationsOf(unit);
    if (pods > 0) violating.set(unit, pods);
    else others.push(unit);
  }
  return { violating, others };
}

/** A PodDisruptionBudget, and how many evictions it still allows. */
interface Account {
  left: number;
  readonly disrupted: ReadonlySet<string>;
  readonly takes: (labels: Labels) => boolean;
}

class Ledger {
  readonly #byNamespace = new Map<string, Account[]>();
  readonly #until: VariantBehaviour['chargesUntil']['Pod'];

  constructor(budgets: readonly DisruptionBudget[], until: VariantBehaviour['chargesUntil']['Pod']) {
    this.#until = until;
    for (const { namespace, selector, disruptionsAllowed: left, disrupted } of budgets) {
      // A budget without a selector, or with an empty one, matches no Pod here, as in kube-scheduler.
      if (selector === undefined || takesEverything(selector)) continue;
      const account = { left, disrupted, takes: matcherOf(selector) };
      this.#byNamespace.getOrInsert(namespace, []).push(account);
    }
  }

  /** How many of its Pods break a budget. */
  violationsOf({ pods }: PreemptionUnit): number {
    let count = 0;
    for (const pod of pods) {
      if (this.#chargeFor(pod)) count += 1;
      if (count > 0 && this.#until === 'unit') return count;
    }
    return count;
  }

  #chargeFor(pod: Pod): boolean {
    let violated = false;
    if (pod.labels.size === 0) return false;
    for (const account of this.#byNamespace.get(pod.namespace) ?? []) {
      if (account.disrupted.has(pod.name) || !account.takes(pod.labels)) continue;
      account.left -= 1;
      if (account.left < 0) violated = true;
      if (violated && this.#until !== undefined) return true;
    }
    return violated;
  }
}

/** A budget that does not allow the eviction of some units, and those of them that have Pods of it, with the number of these. */
export interface Overdrawn {
  readonly budget: DisruptionBudget;
  readonly units: readonly { readonly unit: PreemptionUnit; readonly pods: number }[];
  /** How many Pods more than it allows. */
  readonly excess: number;
}

/**
 * Returns the first budget that evicting all of `units` would overdraw, as the eviction API counts: there a budget with an
 * empty selector matches every Pod of its namespace.
 */
export function overdrawnBy(
  units: readonly PreemptionUnit[],
  budgets: readonly DisruptionBudget[],
): Overdrawn | undefined {
  const inNamespace = Map.groupBy(
    units.flatMap((unit) => unit.pods.map((pod) => ({ unit, pod }))),
    ({ pod }) => pod.namespace,
  );
  for (const budget of budgets) {
    const drawing = new Map<PreemptionUnit, number>();
    let drawn = 0;
    for (const { unit, pod } of inNamespace.get(budget.namespace) ?? []) {
      if (!draws(pod, budget)) continue;
      drawn += 1;
      drawing.set(unit, (drawing.get(unit) ?? 0) + 1);
    }
    const excess = drawn - budget.disruptionsAllowed;
    if (excess > 0) return { budget, units: Array.from(drawing, ([unit, pods]) => ({ unit, pods })), excess };
  }
  return undefined;
}

const draws = (pod: Pod, { selector, disrupted }: DisruptionBudget): boolean =>
  !pod.terminating && !disrupted.has(pod.name) && selects(selector, pod.labels);
