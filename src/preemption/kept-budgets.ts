import { overdrawnBy } from './budgets.ts';
import type { Plan } from './planned.ts';
import { plan } from './plan.ts';
import type { Situation } from './situation.ts';
import type { Unit } from './units.ts';

/** So many plans are made for one that overdraws no budget: each choice of whom to keep is a plan of its own. */
const MOST_TRIES = 64;

/**
 * A plan that overdraws no PodDisruptionBudget, where there is one. The algorithms place the preemptor first and look for
 * budgets after that, so they may break one although another place would not: whoever breaks it is kept, and it is
 * planned anew. Only where nothing is found may a budget be overdrawn, if it may at all.
 */
export function planKeeping(situation: Omit<Situation, 'breaksBudgets'> & Partial<Situation>): Plan {
  const { preemptor, snapshot, variant, mayGo, breaksBudgets = true } = situation;
  const { budgets } = snapshot;
  const first = plan(preemptor, snapshot, variant, mayGo);
  let tries = 0;
  const without = (kept: ReadonlySet<string>, found: Plan): Plan | undefined => {
    if (!found.feasible) return undefined;
    const over = overdrawnBy(
      found.victims.map(({ unit }) => unit),
      budgets,
    );
    if (over === undefined) return found;
    // A set that keeps this budget leaves at least one of these out.
    for (const unit of [...over.units].reverse()) {
      tries += 1;
      if (tries > MOST_TRIES) return undefined;
      const more = new Set([...kept, idOf(unit)]);
      const next = plan(preemptor, snapshot, variant, (one) => mayGo(one) && !more.has(idOf(one)));
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

const idOf = ({ kind, namespace, name }: Unit): string => `${kind} ${namespace}/${name}`;
