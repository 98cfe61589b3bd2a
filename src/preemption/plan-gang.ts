import { splitByBudgets } from './budgets.ts';
import type { ClusterState } from './cluster-state.ts';
import { fitOf, isPlain } from './fit.ts';
import { Assumed } from './in-place.ts';
import { place, redo, undo, type Placement } from './place.ts';
import type { Rejection } from './predicates/predicates.ts';
import type { Preemptor } from './preemptor.ts';
import { byImportance, type Unit } from './units.ts';
import { putBack, removed, Verdicts, type Question, type Search } from './verdicts.ts';

/** The search over the whole cluster as one domain. */
export function planForGang(question: Question): Search | { readonly rejected: readonly Rejection[] } {
  const { preemptor, state, units, budgets, variant } = question;
  const ordered = [...units].sort(byImportance);
  for (const unit of ordered) removed(unit, state);
  const withNobody = place(preemptor, state);
  undo(withNobody, state);
  if (!withNobody.fits) return { rejected: withNobody.rejected };
  const { violating, others } = splitByBudgets(ordered, budgets, variant, true);
  const verdicts = new Verdicts(new Set(violating));
  const placement =
    variant === 'kube-1.36'
      ? reprieveByPlacing(question, [...violating, ...others], verdicts)
      : reprieveInPlace(question, { ordered, violating, withNobody }, verdicts);
  return { ...verdicts.sorted(), placement };
}

/** kube-scheduler 1.36: put each back, and place the whole gang anew. */
function reprieveByPlacing(
  { preemptor, state }: Question,
  inOrder: readonly Unit[],
  verdicts: Verdicts,
): Placement {
  const fit = fitOf(preemptor, state);
  for (const unit of inOrder) {
    putBack(unit, state, fit);
    if (fit.fits()) verdicts.spare(unit, 'the gang fits with it in place');
    else {
      removed(unit, state, fit);
      verdicts.need(unit, 'with it in place the gang does not fit');
    }
  }
  return place(preemptor, state);
}

/**
 * The document: budgets first, with the gang where it would be if all were gone; then only what is needed of the lowest
 * priorities; then each that is left, with the gang where it would be by now.
 */
function reprieveInPlace(
  { preemptor, state }: Question,
  given: {
    readonly ordered: readonly Unit[];
    readonly violating: readonly Unit[];
    readonly withNobody: Placement;
  },
  verdicts: Verdicts,
): Placement {
  const { ordered, violating, withNobody } = given;
  redo(withNobody, state);
  const first = new Assumed(withNobody, state);
  for (const unit of violating) tryInPlace(unit, first, state, verdicts);
  undo(withNobody, state);

  const left = ordered.filter((unit) => !verdicts.isSpared(unit));
  const highest = highestNeeded(preemptor, state, left);
  for (const unit of left) {
    if (highest !== undefined && unit.priority <= highest) continue;
    putBack(unit, state);
    verdicts.spare(unit, `the gang fits without those above priority ${highest ?? 'any'}`);
  }

  const final = place(preemptor, state);
  const there = new Assumed(final, state);
  for (const unit of left) if (!verdicts.isSpared(unit)) tryInPlace(unit, there, state, verdicts);
  // Not placed once more: the victims are those of this placement.
  return final;
}

function tryInPlace(unit: Unit, assumed: Assumed, state: ClusterState, verdicts: Verdicts): void {
  putBack(unit, state);
  const clash = assumed.clashWith(unit);
  if (clash === undefined) verdicts.spare(unit, 'it can stay beside the gang');
  else {
    removed(unit, state);
    verdicts.need(unit, clash);
  }
}

/**
 * The lowest priority N such that the gang fits with only units up to N gone; undefined where none has to go. With plain
 * Pods more room never hurts and halving finds it; otherwise every priority is tried from the lowest.
 */
function highestNeeded(
  preemptor: Preemptor,
  state: ClusterState,
  removable: readonly Unit[],
): number | undefined {
  const priorities = [...new Set(removable.map(({ priority }) => priority))].sort((a, b) => a - b);
  const fit = fitOf(preemptor, state);
  const fitsUpTo = (level: number): boolean => {
    const kept = removable.filter(({ priority }) => priority > (priorities[level] ?? -Infinity));
    for (const unit of kept) putBack(unit, state, fit);
    const fits = fit.fits();
    for (const unit of kept) removed(unit, state, fit);
    return fits;
  };
  // Level -1 keeps all of them.
  let [low, high] = [-1, priorities.length - 1];
  if (isPlain(preemptor, state)) {
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (fitsUpTo(middle)) high = middle;
      else low = middle + 1;
    }
  } else while (low < high && !fitsUpTo(low)) low += 1;
  return priorities[low];
}
