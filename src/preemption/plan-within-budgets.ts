import { overdrawnBy, type Overdrawn } from './budgets.ts';
import type { PreemptionPlan, JudgedUnit } from './search.ts';
import { plannerFor } from './plan.ts';
import { byImportance, type PreemptionUnit } from './units.ts';
import { BEHAVIOUR, type Variant } from './variants.ts';
import type { Preemptor } from './preemptor.ts';
import type { Snapshot } from './snapshot.ts';

/** The most plans made to find one that overdraws no budget. */
const MOST_TRIES = 64;
/** The most Pods and nodes that these plans visit together, so that a large cluster gets fewer plans. */
const MOST_LOOKED_AT = 250_000;

/**
 * Plans a preemption that overdraws no PodDisruptionBudget, if there is such a plan. `muster plan`, the status and the
 * controller all take their plan from here.
 *
 * 1. Plan by the document's algorithm. It places the preemptor before it reads budgets, so the plan may break a budget
 *    although another placement would not. A plan of kube-scheduler's algorithm is not changed.
 * 2. If the victims overdraw a budget, plan again, depth first, without as many of its least important victims as overdraw it.
 *    Every plan that keeps the budget leaves out at least one of them, so next keep one after the other, the least important
 *    first.
 * 3. Stop at the first plan that overdraws no budget, or after a number of plans that shrinks with the size of the cluster.
 * 4. If none was found, take the first plan where budgets may be broken, and refuse where they may not.
 */
export function planWithinBudgets(
  situation: Omit<Situation, 'breaksBudgets'> & Partial<Situation>,
): PreemptionPlan {
  const { preemptor, snapshot, variant, mayGo, breaksBudgets = true } = situation;
  const { budgets, pods, nodes } = snapshot;
  const plan = plannerFor(preemptor, snapshot, variant, mayGo);
  const first = plan(new Set());
  if (BEHAVIOUR[variant].scheduler !== undefined) return first;
  const most = Math.min(MOST_TRIES, Math.ceil(MOST_LOOKED_AT / (pods.length + nodes.length + 1)));
  let tries = 0;
  const without = (kept: ReadonlySet<JudgedUnit>, found: PreemptionPlan): PreemptionPlan | undefined => {
    if (!found.feasible) return undefined;
    const over = overdrawnBy(
      found.victims.map(({ unit }) => unit),
      budgets,
    );
    if (over === undefined) return { ...found, reprieved: [...found.reprieved, ...kept].sort(byUnit) };
    const { namespace, name } = over.budget;
    const why = `PodDisruptionBudget ${namespace}/${name} is kept, and others can go`;
    const least = [...over.units].reverse();
    const many = least.slice(0, enoughOf(least, over.excess));
    for (const units of [...(many.length > 1 ? [many] : []), ...least.map((one) => [one])]) {
      tries += 1;
      if (tries > most) return undefined;
      const more = new Set(kept);
      for (const { unit } of units) more.add({ unit, why, violatesBudget: false, violatingPods: 0 });
      const next = plan(new Set([...more].flatMap(({ unit }) => unit.pods)));
      const better = without(more, next);
      if (better !== undefined) return better;
    }
    return undefined;
  };
  const keeping = without(new Set(), first);
  if (keeping !== undefined) return keeping;
  if (!first.feasible || breaksBudgets) return first;
  const over = overdrawnBy(
    first.victims.map(({ unit }) => unit),
    budgets,
  );
  const budget = over && { namespace: over.budget.namespace, name: over.budget.name };
  return {
    ...first,
    feasible: false,
    placement: new Map(),
    victims: [],
    refusal: { why: 'BudgetOverdrawn', budget },
  };
}

/** Which units Muster may evict: units that are clear and outside of the exempt namespaces. */
export function sparing(exemptNamespaces: Iterable<string>, isClear: Situation['mayGo']): Situation['mayGo'] {
  const exempt = new Set(exemptNamespaces);
  return (unit) => isClear(unit) && unit.pods.every((pod) => !exempt.has(pod.namespace));
}

/** How many of the first units have together so many Pods of the budget. */
function enoughOf(units: Overdrawn['units'], pods: number): number {
  let sum = 0;
  return units.findIndex((one) => (sum += one.pods) >= pods) + 1;
}

const byUnit = (a: JudgedUnit, b: JudgedUnit): number => byImportance(a.unit, b.unit);

/** The state of one attempt to plan. */
export interface Situation {
  readonly preemptor: Preemptor;
  readonly snapshot: Snapshot;
  readonly variant: Variant;
  /** Whether a unit may be evicted at all. */
  readonly mayGo: (unit: PreemptionUnit) => boolean;
  /** Whether a PodDisruptionBudget may be overdrawn where no other plan exists. */
  readonly breaksBudgets: boolean;
}
