import type { Binding } from './binding.ts';
import { byPreference, Unplaced, type Candidate } from './candidate.ts';
import { divisionOf, type Spread } from './placement.ts';
import { selectGroups } from './select-groups.ts';

/** Regions first, then the best cluster of each, then whatever is best of the rest. */
export function selectByRegion(
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

/** Room counts a thousand times what the clusters' own scores do. */
const UNIT = 1000;

/** How good a region is: clusters that can hold everything, or room up to its share, then the mean of the scores. */
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
