import type { Binding } from './binding.ts';
import { sumOfAvailable, Unplaced, type Candidate } from './candidate.ts';
import { divisionOf, type Placement } from './placement.ts';
import { selectByRegion } from './select-by-region.ts';

/**
 * The clusters among which replicas are divided, as spread constraints have it.
 * @param candidates by preference
 * @param need replicas, or sets of components, that they have to hold together
 * @throws Unplaced
 */
export function select(
  binding: Binding,
  candidates: readonly Candidate[],
  need: number,
): readonly Candidate[] {
  const { placement } = binding;
  if (placement === undefined || placement.spread.length === 0 || weighsByRule(placement)) return candidates;
  const region = placement.spread.findLast(({ field }) => field === 'region');
  const cluster = placement.spread.findLast(({ field }) => field === 'cluster');
  if (region !== undefined) return selectByRegion(binding, candidates, region, cluster);
  if (cluster === undefined)
    throw new Unplaced('SchedulerError', 'just support cluster and region spread constraint');
  if (candidates.length < cluster.min)
    throw new Unplaced(
      'SchedulerError',
      'the number of feasible clusters is less than spreadConstraint.MinGroups',
    );
  const most = Math.min(candidates.length, cluster.max);
  if (divisionOf(placement) === undefined) return candidates.slice(0, most);
  const selected = withRoom(candidates, most, need);
  if (selected.length === 0)
    throw new Unplaced('SchedulerError', `no enough resource when selecting ${most} clusters`);
  return selected;
}

/** Weights that were written down say all there is to say about spread. */
const weighsByRule = ({ scheduling }: Placement): boolean =>
  scheduling?.type === 'Divided' &&
  scheduling.preference === 'Weighted' &&
  (scheduling.weights === undefined ||
    (scheduling.weights.fixed.length > 0 && scheduling.weights.dynamic === ''));

/** The first `most`, from the last on exchanged for what has most room of the rest until there is room enough. */
function withRoom(candidates: readonly Candidate[], most: number, need: number): readonly Candidate[] {
  const [chosen, rest] = [candidates.slice(0, most), candidates.slice(most)];
  for (let at = chosen.length - 1; at >= 0 && sumOfAvailable(chosen) < need; at -= 1) {
    const here = chosen[at];
    if (here === undefined) continue;
    let best = -1;
    for (const [index, one] of rest.entries())
      if (one.available > (rest[best] ?? here).available) best = index;
    const better = rest[best];
    if (better === undefined) continue;
    chosen[at] = better;
    rest[best] = here;
  }
  return sumOfAvailable(chosen) < need ? [] : chosen;
}
