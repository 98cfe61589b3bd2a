import { splitByBudgets } from './budgets.ts';
import type { ClusterState } from './cluster-state.ts';
import { fitOf, isPlain } from './fit.ts';
import { Assumed } from './assumed.ts';
import { place, placeNeeded, placeOthers, redo, undo, type PodPlacement } from './place.ts';
import type { Rejection } from './predicates/predicates.ts';
import type { Preemptor } from './preemptor.ts';
import { byImportance, type PreemptionUnit } from './units.ts';
import { BEHAVIOUR } from './variants.ts';
import { putBack, removed, Verdicts, type SearchInput, type Search } from './search.ts';

/** The search over the whole cluster as one domain. */
export function planForGang(question: SearchInput): Search | { readonly rejected: readonly Rejection[] } {
  const { preemptor, state, units, budgets, variant } = question;
  const { spares, chargesUntil } = BEHAVIOUR[variant];
  const ordered = [...units].sort(byImportance);
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
      const given = { ordered, violating: [...violating.keys()], withNobody };
      return { placement: reprieveInPlace(question, given, verdicts) };
    },
  }[spares]();
  return { ...verdicts.sorted(), ...found };
}

/**
 * kube-scheduler 1.37: put each back beside the gang as it was placed with nobody there; every Pod of it that found a place
 * is to stay, also beyond the minimum.
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
  return elsewhere.fits ? { placement: elsewhere } : { placement: withNobody, inVain: clash };
}

/** kube-scheduler 1.36: put each back, and place the whole gang anew. */
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
 * The document: budgets first, with the gang where it would be if all were gone; then only what is needed of the lowest
 * priorities; then each that is left, with the gang where it would be by now. The gang is as many Pods as its minimums ask
 * for.
 */
function reprieveInPlace(
  { preemptor, state }: SearchInput,
  given: {
    readonly ordered: readonly PreemptionUnit[];
    readonly violating: readonly PreemptionUnit[];
    readonly withNobody: PodPlacement;
  },
  verdicts: Verdicts,
): PodPlacement {
  const { ordered, violating, withNobody } = given;
  redo(withNobody, state);
  const first = new Assumed(withNobody, state);
  for (const unit of violating) tryInPlace(unit, first, state, verdicts);
  undo(withNobody, state);

  const left = ordered.filter((unit) => !verdicts.isSpared(unit));
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
  // Not placed once more: the victims are those of this placement. Pods beyond the minimums take what room is left.
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
 * The lowest priority N such that the gang fits with only units up to N gone, undefined where none has to go; those above
 * are put back. With plain Pods more room never hurts: from the highest priority down units come back for as long as the
 * gang fits. Otherwise every priority is tried from the lowest.
 * @param removable all of them gone
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

/** The lowest first. */
const byPriority = (
  units: readonly PreemptionUnit[],
): { readonly priority: number; readonly units: PreemptionUnit[] }[] =>
  [...Map.groupBy(units, ({ priority }) => priority)]
    .map(([priority, alike]) => ({ priority, units: alike }))
    .sort((a, b) => a.priority - b.priority);
