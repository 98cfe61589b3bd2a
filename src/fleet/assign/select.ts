import type { Binding } from './binding.ts';
import { sumOfAvailable, Unplaced, byPreference, type Candidate } from './candidate.ts';
import { divisionOf, type Placement, type Spread } from './placement.ts';

/**
 * Selects the clusters among which replicas are divided:
 * 1. Without spread constraints, or with static weights, all candidates.
 * 2. With a constraint by region, the regions with the best scores: the best cluster of each, then the best of the rest.
 * 3. With a constraint by cluster, the first `maxGroups`; starting with the last, each is exchanged for the remaining
 *    candidate with the most capacity until all replicas fit.
 * @param candidates by preference
 * @param need replicas or sets of components that the selected clusters have to hold together
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

/** Static weights already determine the spread. */
const weighsByRule = ({ scheduling }: Placement): boolean =>
  scheduling?.type === 'Divided' &&
  scheduling.preference === 'Weighted' &&
  (scheduling.weights === undefined ||
    (scheduling.weights.fixed.length > 0 && scheduling.weights.dynamic === ''));

/**
 * The first `most` candidates; starting with the last, each is exchanged for the remaining one with the most capacity until
 * `need` fits.
 */
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

/** Selects regions, then the best cluster of each, then the best of the remaining clusters. */
function selectByRegion(
  binding: Binding,
  candidates: readonly Candidate[],
  region: Spread,
  cluster: Spread | undefined,
): readonly Candidate[] {
  const regions = new Map<string, Candidate[]>();
  for (const one of candidates) {
    const name = one.member.region;
    if (name !== '') regions.getOrInsert(name, []).push(one);
  }
  if (regions.size < region.min)
    throw new Unplaced(
      'SchedulerError',
      'the number of feasible region is less than spreadConstraint.MinGroups',
    );
  const least = cluster?.min ?? 0;
  const groups = [...regions].map(([name, clusters]) => ({
    name,
    clusters: clusters.length,
    score: scoreOf(binding, clusters, region.min, least),
  }));
  const chosen = selectGroups(groups, { min: region.min, max: region.max, clusters: least });
  if (chosen.length === 0)
    throw new Unplaced(
      'SchedulerError',
      'the number of clusters is less than the cluster spreadConstraint.MinGroups',
    );
  const inRegions = chosen.map((name) => regions.get(name) ?? []);
  const first = inRegions.flatMap((clusters) => clusters.slice(0, 1));
  const rest = inRegions.flatMap((clusters) => clusters.slice(1)).sort(byPreference);
  const wanted = Math.min(first.length + rest.length, cluster?.max ?? 0);
  return [...first, ...rest.slice(0, Math.max(0, wanted - first.length))];
}

/** Factor by which capacity outweighs the clusters' own scores. */
const UNIT = 1000;

/**
 * Score of a region: its clusters that hold all replicas or its capacity up to its share, then the mean of the clusters'
 * scores.
 */
export function scoreOf(
  { placement, replicas }: Pick<Binding, 'placement' | 'replicas'>,
  clusters: readonly Candidate[],
  minGroups: number,
  minClusters: number,
): number {
  const mean = (some: readonly Candidate[]): number =>
    Math.floor(some.reduce((sum, { score }) => sum + score, 0) / some.length);
  if (divisionOf(placement) === undefined) {
    const valid = clusters.filter(({ available }) => available >= replicas);
    return valid.length === 0 ? 0 : valid.length * UNIT + mean(valid);
  }
  const target = Math.ceil(replicas / minGroups);
  const least = Math.max(minClusters, minGroups);
  let room = 0;
  for (const [index, { available }] of clusters.entries()) {
    room += available;
    if (index + 1 >= least && room >= target) return target * UNIT + mean(clusters.slice(0, index + 1));
  }
  return (room < target ? room : target) * UNIT + mean(clusters);
}

/** Clusters of one region. */
export interface RegionGroup {
  readonly name: string;
  readonly clusters: number;
  readonly score: number;
}

interface Path {
  readonly groups: readonly RegionGroup[];
  readonly score: number;
  readonly clusters: number;
  readonly order: number;
}

/** Limit of explored choices, of which there are 2^n: beyond it the best choice found so far is returned. */
const MOST_PATHS = 100_000;

/**
 * The groups with the highest total score, among all choices of `min` to `max` groups with enough clusters. A choice that is
 * a prefix of the best one is preferred, since it needs fewer groups.
 * @returns their names, best first; empty when no choice is possible
 */
export function selectGroups(
  groups: readonly RegionGroup[],
  need: { readonly min: number; readonly max: number; readonly clusters: number },
): readonly string[] {
  const sorted = [...groups].sort(
    (a, b) => a.clusters - b.clusters || b.score - a.score || (a.name < b.name ? -1 : 1),
  );
  const paths: Path[] = [];
  const walk = (taken: readonly RegionGroup[], clusters: number, from: number): void => {
    if (paths.length >= MOST_PATHS) return;
    if (clusters >= need.clusters && taken.length >= need.min && taken.length <= need.max) {
      paths.push(pathOf(taken, paths.length));
      return;
    }
    if (taken.length >= need.max) return;
    for (let at = from; at < sorted.length; at += 1) {
      const group = sorted[at];
      if (group === undefined) return;
      walk([...taken, group], clusters + group.clusters, at + 1);
      // Every group is needed, so a choice without one cannot succeed.
      if (sorted.length === need.min) return;
    }
  };
  walk([], 0, 0);
  const [first, ...others] = paths.sort(
    (a, b) => b.score - a.score || b.clusters - a.clusters || a.order - b.order,
  );
  if (first === undefined) return [];
  const best = others.reduce((found, one) => (begins(one, found) ? one : found), first);
  return best.groups.map(({ name }) => name);
}

const pathOf = (taken: readonly RegionGroup[], order: number): Path => ({
  groups: [...taken].sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1)),
  score: taken.reduce((sum, { score }) => sum + score, 0),
  clusters: taken.reduce((sum, { clusters }) => sum + clusters, 0),
  order,
});

const begins = (short: Path, long: Path): boolean =>
  short.groups.length < long.groups.length &&
  short.groups.every(({ name }, index) => long.groups[index]?.name === name);
