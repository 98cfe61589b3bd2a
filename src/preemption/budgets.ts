import { takesEverything } from '../gang/label-selector.ts';
import { matcherOf, selects } from './selectors.ts';
import type { DisruptionBudget, Labels, Pod } from './snapshot.ts';
import type { Unit, Variant } from './units.ts';

/** The budgets of a cluster, and what is left of each while victims are counted. */
export interface SplitUnits {
  /** Units whose eviction would break a PodDisruptionBudget, in the order given. */
  readonly violating: readonly Unit[];
  readonly others: readonly Unit[];
}

/**
 * Splits units by whether evicting them, one after the other in this order, would take more from a budget than it has.
 * A unit violates if any of its Pods does. Every budget that a Pod matches is charged, as for single Pods in
 * kube-scheduler; for groups kube-scheduler 1.36 stops charging at the first violation of a unit.
 */
export function splitByBudgets(
  units: readonly Unit[],
  budgets: readonly DisruptionBudget[],
  variant: Variant,
  forGang: boolean,
): SplitUnits {
  const charge = new Ledger(budgets, variant === 'kube-1.36' && forGang);
  const violating: Unit[] = [];
  const others: Unit[] = [];
  for (const unit of units) (charge.violates(unit) ? violating : others).push(unit);
  return { violating, others };
}

/** A budget with what is left of it. */
interface Account {
  left: number;
  readonly disrupted: ReadonlySet<string>;
  readonly takes: (labels: Labels) => boolean;
}

class Ledger {
  readonly #byNamespace = new Map<string, Account[]>();
  readonly #stopsAtFirst: boolean;

  constructor(budgets: readonly DisruptionBudget[], stopsAtFirst: boolean) {
    this.#stopsAtFirst = stopsAtFirst;
    for (const { namespace, selector, disruptionsAllowed: left, disrupted } of budgets) {
      // A budget without a selector, or with an empty one, is for no Pod here, as in kube-scheduler.
      if (selector === undefined || takesEverything(selector)) continue;
      const account = { left, disrupted, takes: matcherOf(selector) };
      this.#byNamespace.getOrInsert(namespace, []).push(account);
    }
  }

  violates({ pods }: Unit): boolean {
    let violated = false;
    for (const pod of pods) {
      if (this.#chargeFor(pod)) violated = true;
      if (violated && this.#stopsAtFirst) return true;
    }
    return violated;
  }

  #chargeFor(pod: Pod): boolean {
    let violated = false;
    if (pod.labels.size === 0) return false;
    for (const account of this.#byNamespace.get(pod.namespace) ?? []) {
      if (account.disrupted.has(pod.name) || !account.takes(pod.labels)) continue;
      account.left -= 1;
      if (account.left < 0) violated = true;
      if (violated && this.#stopsAtFirst) return true;
    }
    return violated;
  }
}

/** A budget that has not enough for all of these units to go, with those of them that draw on it. */
export interface Overdrawn {
  readonly budget: DisruptionBudget;
  readonly units: readonly Unit[];
}

/**
 * The first budget that evicting all of `units` would overdraw, as the eviction API counts: a budget with an empty
 * selector is for every Pod of its namespace.
 */
export function overdrawnBy(
  units: readonly Unit[],
  budgets: readonly DisruptionBudget[],
): Overdrawn | undefined {
  for (const budget of budgets) {
    const drawing: Unit[] = [];
    let drawn = 0;
    for (const unit of units) {
      const pods = unit.pods.filter((pod) => draws(pod, budget)).length;
      drawn += pods;
      if (pods > 0) drawing.push(unit);
    }
    if (drawn > budget.disruptionsAllowed) return { budget, units: drawing };
  }
  return undefined;
}

const draws = (pod: Pod, { namespace, selector, disrupted }: DisruptionBudget): boolean =>
  pod.namespace === namespace &&
  !pod.terminating &&
  !disrupted.has(pod.name) &&
  selects(selector, pod.labels);
