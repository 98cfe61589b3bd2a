import { splitByBudgets, type SplitUnits } from './budgets.ts';
import type { ClusterState } from './cluster-state.ts';
import { fitOf, isPlain } from './fit.ts';
import { Assumed } from './assumed.ts';
import { place, placeNeeded, placeOthers, redo, undo, type PodPlacement } from './place.ts';
import type { Rejection } from './predicates/predicates.ts';
import type { Preemptor } from './preemptor.ts';
import type { PreemptionUnit } from './units.ts';
import { BEHAVIOUR } from './variants.ts';
import { putBack, removed, Verdicts, type SearchInput, type Search } from './search.ts';

/**
 * Searches the victims for a gang, with the whole cluster as one domain.
 *
 * 1. Take every unit of lower priority off its nodes. If the gang does not fit then, preemption does not help.
 * 2. Order the units by importance, but put first the units whose eviction would break a PodDisruptionBudget: the first units
 *    are the most likely to stay.
 * 3. Reprieve: put the units back one by one, and keep each unit beside which the gang still fits. The variants differ in
 *    how they test that:
 *    - `above a priority` (the document): the gang is assumed where it was placed, and no unit above the lowest sufficient
 *      priority is evicted ({@link reprieveInPlace});
 *    - `anew` (kube-scheduler 1.36): the whole gang is placed again for each unit ({@link reprieveByPlacing});
 *    - `in turn` (kube-scheduler 1.37): the gang stays where it was placed with all units gone ({@link reprieveInTurn}).
 * 4. Units that could not be put back are the victims.
 */
export function planForGang(question: SearchInput): Search | { readonly rejected: readonly Rejection[] } {
  const { preemptor, state, units: ordered, budgets, variant } = question;
  const { spares, chargesUntil } = BEHAVIOUR[variant];
  for (const unit of ordered) removed(unit, state);
  const withNobody = spares === 'in turn' ? question.placed() : placeNeeded(preemptor, state);
  undo(withNobody, state);
  if (!withNobody.fits) return { rejected: withNobody.rejected };
  const { violating, others } = splitByBudgets(ordered, budgets, chargesUntil.Gang);
  const verdicts = new Verdicts(violating);
  const inOrder = [...violating.keys(), ...others];
  const found = {
    anew: () => ({ placement: reprieveByPlacing(question, inOrder, verdicts) }),
    'in turn': () => reprieveInTurn(question, { inOrder, withNobody }, verdicts),
    'above a priority': () => {
      const given = { ordered, violating, withNobody };
      return { placement: reprieveInPlace(question, given, verdicts) };
    },
  }[spares]();
  return { ...verdicts.sorted(), ...found };
}

/**
 * The reprieve of kube-scheduler 1.37.
 *
 * 1. Every Pod of the gang that found a node with all units gone is assumed there, also beyond the minimum.
 * 2. Each unit is put back, and the Pods are judged in the order of placement, each with only the earlier Pods in place.
 * 3. kube-scheduler skips inter-Pod affinity for a Pod that found no anti-affinity when it was placed. It overlooks
 *    anti-affinity that a unit brings back, so the gang may not fit where it is assumed.
 * 4. kube-scheduler then places the gang again; if that fails, the victims are evicted in vain.
 */
function reprieveInTurn(
  { state, placed }: SearchInput,
  { inOrder, withNobody }: { readonly inOrder: readonly PreemptionUnit[]; readonly withNobody: PodPlacement },
  verdicts: Verdicts,
): Pick<Search, 'placement' | 'inVain'> {
  redo(withNobody, state);
  const there = new Assumed(withNobody, state, { inTurn: true });
  for (const unit of inOrder) tryInPlace(unit, there, state, verdicts);
  const clash = there.clash();
  if (clash === undefined) return { placement: withNobody };
  undo(withNobody, state);
  const elsewhere = placed();
  if (elsewhere.fits) return { placement: elsewhere };
  undo(elsewhere, state);
  return { placement: withNobody, inVain: clash };
}

/** The reprieve of kube-scheduler 1.36: each unit is put back, and the whole gang is placed again. */
function reprieveByPlacing(
  { preemptor, state }: SearchInput,
  inOrder: readonly PreemptionUnit[],
  verdicts: Verdicts,
): PodPlacement {
  const fit = fitOf(preemptor, state);
  for (const unit of inOrder) {
    putBack(unit, state, fit);
    if (fit.fits()) verdicts.spare(unit, 'the gang fits with it in place');
    else {
      removed(unit, state, fit);
      fit.backOut?.();
      verdicts.need(unit, 'with it in place the gang does not fit');
    }
  }
  return place(preemptor, state);
}

/**
 * The document's reprieve, for as many Pods of the gang as its minimums need.
 *
 * 1. Put back the units that would break a budget, beside the gang where it was placed with all units gone.
 * 2. Of the other units evict only those of the lowest priorities: {@link putBackAbove} finds the lowest sufficient one.
 * 3. Place the gang again with all units above that priority in place.
 * 4. Put back each remaining unit that fits beside that placement.
 */
function reprieveInPlace(
  { preemptor, state }: SearchInput,
  given: {
    readonly ordered: readonly PreemptionUnit[];
    readonly violating: SplitUnits['violating'];
    readonly withNobody: PodPlacement;
  },
  verdicts: Verdicts,
): PodPlacement {
  const { ordered, violating, withNobody } = given;
  redo(withNobody, state);
  const first = new Assumed(withNobody, state);
  for (const unit of violating.keys()) tryInPlace(unit, first, state, verdicts);
  undo(withNobody, state);

  const left = ordered.filter((unit) => verdicts.needs(unit) || !violating.has(unit));
  const highest = putBackAbove(preemptor, state, left);
  const why = `the gang fits without those above priority ${highest ?? 'any'}`;
  const below = left.filter((unit) => {
    if (highest !== undefined && unit.priority <= highest) return true;
    verdicts.spare(unit, why);
    return false;
  });

  const final = placeNeeded(preemptor, state);
  const there = new Assumed(final, state);
  for (const unit of below) tryInPlace(unit, there, state, verdicts);
  // The gang is not placed again: the victims were chosen for this placement. Pods beyond the minimums use the capacity that
  // is left.
  return placeOthers(final, preemptor, state);
}

function tryInPlace(unit: PreemptionUnit, assumed: Assumed, state: ClusterState, verdicts: Verdicts): void {
  putBack(unit, state);
  const clash = assumed.clashWith(unit);
  if (clash === undefined) verdicts.spare(unit, 'it can stay beside the gang');
  else {
    removed(unit, state);
    verdicts.need(unit, clash);
  }
}

/**
 * Finds the lowest priority N such that the gang fits with only units up to N gone, and puts back the units above N. Returns
 * undefined where no unit has to go.
 *
 * 1. If the Pods are plain, more capacity never hurts: units are put back from the highest priority down while the gang
 *    fits.
 * 2. Otherwise removing a Pod may remove what another Pod needs near it, so all units are put back, and each priority is
 *    tried from the lowest up.
 * @param removable units that were all taken off their nodes
 */
function putBackAbove(
  preemptor: Preemptor,
  state: ClusterState,
  removable: readonly PreemptionUnit[],
): number | undefined {
  const levels = byPriority(removable);
  const fit = fitOf(preemptor, state);
  if (isPlain(preemptor, state)) {
    for (const { priority, units } of levels.reverse()) {
      for (const unit of units) putBack(unit, state, fit);
      if (fit.fits()) continue;
      for (const unit of units) removed(unit, state);
      return priority;
    }
    return undefined;
  }
  for (const unit of removable) putBack(unit, state, fit);
  let highest: number | undefined;
  for (const { priority, units } of levels) {
    if (fit.fits()) break;
    for (const unit of units) removed(unit, state, fit);
    highest = priority;
  }
  return highest;
}

/** Sorts the lowest priority first. */
const byPriority = (
  units: readonly PreemptionUnit[],
): { readonly priority: number; readonly units: PreemptionUnit[] }[] =>
  [...Map.groupBy(units, ({ priority }) => priority)]
    .map(([priority, alike]) => ({ priority, units: alike }))
    .sort((a, b) => a.priority - b.priority);
