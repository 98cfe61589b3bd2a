import { overdrawnBy } from './budgets.ts';
import type { PreemptionPlan, JudgedUnit } from './search.ts';
import { planPreemption } from './plan.ts';
import { byImportance, type PreemptionUnit } from './units.ts';
import { BEHAVIOUR, type Variant } from './variants.ts';
import type { Preemptor } from './preemptor.ts';
import type { Snapshot } from './snapshot.ts';

/** Plans made at most in search of one that overdraws no budget. */
const MOST_TRIES = 64;
/** Pods and nodes that these plans look at together: a large cluster gets fewer plans. */
const MOST_LOOKED_AT = 500_000;

/**
 * Plans a preemption that overdraws no PodDisruptionBudget, where there is one. `muster plan`, the status and the controller
 * all take their plan from here.
 *
 * 1. Plan as the document says. It places the preemptor first and looks for budgets after that, so the plan may break a
 *    budget although another place would not. A plan of kube-scheduler's is taken as it is.
 * 2. If the victims overdraw a budget, every plan that keeps it leaves out at least one of the victims that draw on it: keep
 *    one of them, the least important first, and plan again, depth first.
 * 3. Stop at the first plan that overdraws none, or after a number of plans that shrinks with the cluster.
 * 4. If none is found, take the first plan where budgets may be broken, and refuse where they may not.
 */
export function planWithinBudgets(
  situation: Omit<Situation, 'breaksBudgets'> & Partial<Situation>,
): PreemptionPlan {
  const { preemptor, snapshot, variant, mayGo, breaksBudgets = true } = situation;
  const { budgets, pods, nodes } = snapshot;
  const first = planPreemption(preemptor, snapshot, variant, mayGo);
  if (BEHAVIOUR[variant].scheduler !== undefined) return first;
  const most = Math.min(MOST_TRIES, Math.ceil(MOST_LOOKED_AT / (pods.length + nodes.length + 1)));
  let tries = 0;
  const without = (
    kept: ReadonlyMap<string, JudgedUnit>,
    found: PreemptionPlan,
  ): PreemptionPlan | undefined => {
    if (!found.feasible) return undefined;
    const over = overdrawnBy(
      found.victims.map(({ unit }) => unit),
      budgets,
    );
    if (over === undefined)
      return { ...found, reprieved: [...found.reprieved, ...kept.values()].sort(byUnit) };
    const { namespace, name } = over.budget;
    // A set that keeps this budget leaves at least one of these out.
    for (const unit of [...over.units].reverse()) {
      tries += 1;
      if (tries > most) return undefined;
      const why = `PodDisruptionBudget ${namespace}/${name} is kept, and others can go`;
      const more = new Map(kept).set(idOf(unit), { unit, why, violatesBudget: false, violatingPods: 0 });
      const next = planPreemption(preemptor, snapshot, variant, (one) => mayGo(one) && !more.has(idOf(one)));
      const better = without(more, next);
      if (better !== undefined) return better;
    }
    return undefined;
  };
  const keeping = without(new Map(), first);
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

/** Which units Muster may evict: those of which all is known, outside of these namespaces. */
export function sparing(exemptNamespaces: Iterable<string>, isClear: Situation['mayGo']): Situation['mayGo'] {
  const exempt = new Set(exemptNamespaces);
  return (unit) => isClear(unit) && unit.pods.every((pod) => !exempt.has(pod.namespace));
}

const byUnit = (a: JudgedUnit, b: JudgedUnit): number => byImportance(a.unit, b.unit);

const idOf = ({ kind, namespace, name }: PreemptionUnit): string => `${kind} ${namespace}/${name}`;

/** What is known at one attempt. */
export interface Situation {
  readonly preemptor: Preemptor;
  readonly snapshot: Snapshot;
  readonly variant: Variant;
  /** Whether a unit may be touched at all. */
  readonly mayGo: (unit: PreemptionUnit) => boolean;
  /** Whether a PodDisruptionBudget may be overdrawn where nothing else helps. */
  readonly breaksBudgets: boolean;
}
