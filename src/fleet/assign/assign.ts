import { quoted } from '../../text/printable.ts';
import type { Binding, TargetCluster } from './binding.ts';
import { byPreference, Unplaced, type Candidate, type Estimate, type Estimates } from './candidate.ts';
import { isForOneCluster } from './default-strategy.ts';
import { groupsOf, obstacle, tiersOf, affinityMatches } from './filter.ts';
import type { Member } from './member.ts';
import type { Assigner } from './assigner.ts';
import { capacityIn, whyNotTaken } from './capacity.ts';
import { select } from './select.ts';
import type { Strategies } from './strategies.ts';

/** Message of Karmada's scheduler; Muster appends its own remarks. */
export const SCHEDULED = 'Binding has been scheduled successfully.';

/** Clusters of a workload or the reason why it has none, and the reasons against every other cluster. */
export interface Assignment {
  readonly strategy: string;
  /** Name of the chosen group of `clusterAffinities`; `''` when the placement has none. */
  readonly affinityName: string;
  /** Sorted by name; empty when the workload was not placed. */
  readonly clusters: readonly TargetCluster[];
  /** Reason of condition `Scheduled`. */
  readonly reason: 'Success' | Unplaced['reason'];
  readonly message: string;
  /** Sorted by name. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[];
}

/**
 * Assigns a workload to clusters, as Karmada's scheduler does:
 * 1. Filter: remove clusters that the placement, taints, missing APIs or an eviction exclude.
 * 2. Score: 100 for a cluster where the workload runs already, else 0.
 * 3. Select: the clusters that satisfy the spread constraints.
 * 4. Assign: the strategy's plugin divides the replicas among the selected clusters.
 *
 * Groups of affinities are tried in order, from the binding's current one. When all fail, the reason of the first is
 * reported.
 * @param estimates capacity by the clusters' estimators
 */
export function assign(
  binding: Binding,
  members: readonly Member[],
  strategies: Strategies,
  estimates: Estimates = new Map(),
): Assignment {
  const { strategy, placement } = binding;
  const plugin = strategies.pluginOf(strategy);
  if (plugin === undefined) {
    const known = [`there are ${strategies.names.join(', ')}`, ...strategies.missing].join('; ');
    const message = `unknown strategy ${quoted(strategy)}: ${known}`;
    return { strategy, affinityName: '', clusters: [], reason: 'SchedulerError', message, leftOut: [] };
  }
  const groups = groupsOf(placement);
  const from = binding.fresh ? 0 : Math.max(0, groups.indexOf(binding.affinityName));
  let first: Assignment | undefined;
  for (const name of groups.slice(from)) {
    const found = inGroup({ ...binding, affinityName: name }, members, plugin, estimates);
    if (found.reason === 'Success') return found;
    first ??= found;
  }
  return first ?? inGroup({ ...binding, affinityName: '' }, members, plugin, estimates);
}

function inGroup(
  binding: Binding,
  members: readonly Member[],
  plugin: Assigner,
  estimates: Estimates,
): Assignment {
  const { affinityName } = binding;
  const left = new Map<string, string>();
  const candidates: Candidate[] = [];
  const whole = { strategy: binding.strategy, affinityName };
  try {
    const tiers = tiersOf(binding, affinityName);
    const there = members.filter(({ name, deleting }) => {
      if (deleting) left.set(name, 'cluster(s) is being deleted');
      return !deleting;
    });
    for (const member of there) {
      const tier = tiers?.findIndex((one) => affinityMatches(one, member)) ?? 0;
      const why = obstacle(binding, member, tier);
      if (why !== undefined) left.set(member.name, why);
      else candidates.push(candidateOf(binding, member, plugin, tier, estimates.get(member.name)));
    }
    if (candidates.length === 0) throw new Unplaced('NoClusterFit', nothingFits(members.length, there, left));
    candidates.sort(byPreference);
    const selected = during('select clusters', () => select(binding, candidates, needOf(binding, plugin)));
    const targets = during('assign replicas', () => {
      if (selected.length === 0) throw new Unplaced('SchedulerError', 'no clusters available to schedule');
      return plugin.assignReplica(binding.strategy, selected, binding);
    });
    const clusters = [...targets].sort((a, b) => (a.name < b.name ? -1 : 1));
    const chosen = new Set(clusters.map(({ name }) => name));
    const remark = plugin.remark?.(selected, binding, clusters);
    const others = candidates.filter(({ name }) => !chosen.has(name));
    return {
      ...whole,
      clusters,
      reason: 'Success',
      message: remark === undefined ? SCHEDULED : `${SCHEDULED} ${remark}`,
      // Computed on demand: few callers read it, and in a large fleet the texts would cost more than the assignment.
      get leftOut() {
        return sorted(left, (one) => whyNotTaken(binding, one, plugin, 'is not needed'), others);
      },
    };
  } catch (error) {
    if (!(error instanceof Unplaced)) throw error;
    return {
      ...whole,
      clusters: [],
      reason: error.reason,
      message: error.message,
      get leftOut() {
        return sorted(left, (one) => whyNotTaken(binding, one, plugin, 'is not enough'), candidates);
      },
    };
  }
}

function during<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unplaced) throw new Unplaced(error.reason, `failed to ${what}: ${error.message}`);
    throw error;
  }
}

const sorted = (
  left: ReadonlyMap<string, string>,
  why: (candidate: Candidate) => string,
  candidates: readonly Candidate[],
): Assignment['leftOut'] =>
  [...left, ...candidates.map((one): [string, string] => [one.name, why(one)])]
    .map(([name, told]) => ({ name, why: told }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

const needOf = (binding: Binding, plugin: Assigner): number =>
  plugin.room?.least(binding) ?? (isForOneCluster(binding) ? 1 : binding.replicas);

function candidateOf(
  binding: Binding,
  member: Member,
  plugin: Assigner,
  tier: number,
  estimate: Estimate | undefined,
): Candidate {
  const there = binding.clusters.find(({ name }) => name === member.name);
  const allocatable = Math.min(
    capacityIn(binding, member, plugin),
    estimate?.room ?? Number.POSITIVE_INFINITY,
  );
  return {
    name: member.name,
    member,
    score: there === undefined ? 0 : 100,
    tier,
    allocatable,
    available: allocatable + (there?.replicas ?? 0),
    estimate,
  };
}

/** Karmada's summary: the number of clusters that each reason excludes. */
function nothingFits(all: number, there: readonly Member[], left: ReadonlyMap<string, string>): string {
  const counts = new Map<string, number>();
  for (const { name } of there) {
    const why = left.get(name);
    if (why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1);
  }
  const reasons = [...counts].map(([why, count]) => `${count} ${why}`).sort();
  return `0/${all} clusters are available: ${reasons.length === 0 ? 'no cluster exists' : reasons.join(', ')}.`;
}
