import { overdrawnBy } from './budgets.ts';
import type { PreemptionPlan, JudgedUnit } from './search.ts';
import { planPreemption } from './plan.ts';
import { byImportance, type PreemptionUnit } from './units.ts';
import { BEHAVIOUR, type Variant } from './variants.ts';
import type { Preemptor } from './preemptor.ts';
import type { Snapshot } from './snapshot.ts';

/** So many plans are made for one that overdraws no budget: each choice of whom to keep is a plan of its own. */
const MOST_TRIES = 64;
/** Fewer in a large cluster: together they look at so many Pods and nodes. */
const MOST_LOOKED_AT = 500_000;

/**
 * Who would make room, as everybody is told and as it is carried out. A plan that overdraws no PodDisruptionBudget, where
 * there is one: the document places the preemptor first and looks for budgets after that, so it may break one although another
 * place would not; whoever breaks it is kept then, and it is planned anew. Only where nothing is found may a budget be
 * overdrawn, if it may at all. What kube-scheduler does with budgets is its own.
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

/** Whom Muster may touch: whoever it knows enough of, outside of these namespaces. */
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
