import { affinityMatches } from './filter.ts';
import type { Binding, TargetCluster } from './binding.ts';
import { sumOfAvailable, Unplaced, type Candidate } from './candidate.ts';
import { DEFAULT_STRATEGY } from './binding-annotations.ts';
import { divisionOf, type FixedWeight } from './placement.ts';
import type { Assigner } from './assigner.ts';
import { divide, type Votes } from './webster.ts';

/**
 * Karmada's own division (`AssignReplicas` of 1.19):
 * 1. An object without replicas, and a workload with several templates, go whole to every selected cluster.
 * 2. Overflow affinities are tiers: each tier is filled before the next one gets any replica.
 * 3. `Duplicated` gives every cluster all replicas.
 * 4. Static weights divide the replicas by weight; clusters without a rule get none, unless no rule matches any cluster.
 * 5. Dynamic weights divide by capacity; `Aggregated` uses as few clusters as hold all replicas.
 */
export const defaultStrategy: Assigner = {
  name: 'default',
  strategies: () => [DEFAULT_STRATEGY],
  assignReplica: (_, clusters, binding) => {
    const { replicas, requests, components } = binding;
    if ((replicas > 0 || requests !== undefined) && components.length <= 1)
      return overTiers(clusters, binding);
    // An object without replicas or a workload with several templates is not divided.
    const whole =
      components.length > 1 && isForOneCluster(binding)
        ? { components: components.map(({ name, replicas: all }) => ({ name, replicas: all })) }
        : {};
    return clusters.map(({ name }) => ({ name, replicas: 0, ...whole }));
  },
};

/** Whether the workload has components that all go to one cluster; capacity is then counted in sets of them. */
export const isForOneCluster = ({ components, placement }: Binding): boolean =>
  components.length > 0 &&
  (placement?.spread ?? []).some(({ field, min, max }) => field === 'cluster' && min === 1 && max === 1);

const shortOfRoom = 'Clusters available replicas are not enough to schedule.';

/** Fills the tiers of overflow affinities in order. */
function overTiers(clusters: readonly Candidate[], binding: Binding): readonly TargetCluster[] {
  const group = binding.placement?.affinities.find(({ name }) => name === binding.affinityName);
  if (binding.placement?.affinity !== undefined || group === undefined || group.overflow.length === 0)
    return assign(clusters, binding);
  let left = binding.replicas;
  const found: TargetCluster[] = [];
  for (const tier of [...new Set(clusters.map((one) => one.tier))].sort((a, b) => a - b)) {
    const inTier = clusters.filter((one) => one.tier === tier);
    const replicas = Math.min(left, sumOfAvailable(inTier));
    found.push(...assign(inTier, { ...binding, replicas }));
    left -= replicas;
    if (left <= 0) break;
  }
  if (left > 0) throw new Unplaced('Unschedulable', shortOfRoom);
  return found;
}

function assign(clusters: readonly Candidate[], binding: Binding): readonly TargetCluster[] {
  const { placement, replicas, uid } = binding;
  const division = divisionOf(placement);
  if (division === undefined) return withReplicas(clusters.map(({ name }) => ({ name, replicas })));
  const { type, preference, weights } = division;
  if (type === 'Divided' && preference === 'Weighted' && !weights?.dynamic)
    return withReplicas(
      targetClustersOf(divide(replicas, fixedWeights(clusters, weights?.fixed ?? []), uid)),
    );
  if (type === 'Divided' && (preference === 'Weighted' || preference === 'Aggregated'))
    return withReplicas(byRoom(clusters, binding, preference === 'Aggregated'));
  throw new Unplaced(
    'SchedulerError',
    `unsupported replica scheduling strategy, replicaSchedulingType: ${type}, replicaDivisionPreference: ${preference}, please try another scheduling strategy`,
  );
}

/** Clusters without a matching rule get no replicas, unless no rule matches any cluster. */
function fixedWeights(clusters: readonly Candidate[], rules: readonly FixedWeight[]): readonly Votes[] {
  const weighed = clusters.map(({ name, member }) => ({
    name,
    votes: Math.max(
      0,
      ...rules.filter((rule) => affinityMatches(rule.clusters, member)).map(({ weight }) => weight),
    ),
  }));
  const some = weighed.filter(({ votes }) => votes > 0);
  return some.length > 0 ? some : clusters.map(({ name }) => ({ name, votes: 1 }));
}

/**
 * Divides by the capacity of clusters:
 * 1. When rescheduling was triggered: all replicas are divided, and capacity includes the replicas that run.
 * 2. Fewer replicas than are placed: all are divided by the clusters' current numbers.
 * 3. As many as are placed: nothing changes.
 * 4. More than are placed: running replicas stay, and only the difference is divided.
 * @param few whether to use as few clusters as possible
 */
export function byRoom(
  clusters: readonly Candidate[],
  binding: Binding,
  few: boolean,
): readonly TargetCluster[] {
  const { replicas, uid, fresh } = binding;
  const placed = binding.clusters.filter((one) => clusters.some(({ name }) => name === one.name));
  const assigned = placed.reduce((sum, one) => sum + one.replicas, 0);
  const had = new Map(placed.map((one) => [one.name, one.replicas]));
  const room = (one: Candidate): number => one.allocatable + (fresh ? (had.get(one.name) ?? 0) : 0);
  const among = clusters.map((one) => ({ name: one.name, votes: room(one) }));
  if (fresh)
    return targetClustersOf(
      dispense(replicas, among, { few, uid, first: new Map(), doing: 'do fresh scale' }),
    );
  if (assigned > replicas) {
    const votes = placed.map((one) => ({ name: one.name, votes: one.replicas }));
    return targetClustersOf(dispense(replicas, votes, { few, uid, first: new Map(), doing: 'scale down' }));
  }
  if (assigned === replicas) return placed;
  const more = dispense(replicas - assigned, among, { few, uid, first: had, doing: 'scale up' });
  return targetClustersOf(
    new Map([...had, ...[...more].map(([name, count]) => [name, count + (had.get(name) ?? 0)] as const)]),
  );
}

/** @param given.first current replicas by cluster: with `few`, these clusters are filled before others */
function dispense(
  replicas: number,
  among: readonly Votes[],
  given: {
    readonly few: boolean;
    readonly uid: string;
    readonly first: ReadonlyMap<string, number>;
    readonly doing: string;
  },
): Map<string, number> {
  const { few, uid, first, doing } = given;
  const room = among.reduce((sum, { votes }) => sum + votes, 0);
  if (room < replicas)
    throw new Unplaced(
      'Unschedulable',
      `failed to ${doing}: Clusters available replicas ${room} are not enough to schedule.`,
    );
  const sorted = [...among].sort((a, b) => b.votes - a.votes);
  if (!few) return divide(replicas, sorted, uid);
  const isFirst = ({ name }: Votes): boolean => (first.get(name) ?? 0) > 0;
  const ordered = [...sorted.filter(isFirst), ...sorted.filter((one) => !isFirst(one))];
  return divide(replicas, shortestThatHolds(replicas, ordered), uid);
}

/** The shortest beginning of the list with enough capacity. */
export function shortestThatHolds(replicas: number, ordered: readonly Votes[]): readonly Votes[] {
  let sum = 0;
  const enough = ordered.findIndex(({ votes }) => (sum += votes) >= replicas);
  return enough < 0 ? ordered : ordered.slice(0, enough + 1);
}

export const targetClustersOf = (counts: ReadonlyMap<string, number>): readonly TargetCluster[] =>
  [...counts].map(([name, replicas]) => ({ name, replicas }));

export const withReplicas = (targets: readonly TargetCluster[]): readonly TargetCluster[] =>
  targets.filter(({ replicas }) => replicas > 0);
