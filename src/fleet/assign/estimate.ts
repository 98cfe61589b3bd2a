import type { Resources } from '../../k8s/field-reader.ts';
import type { BindingComponent } from './binding.ts';
import type { Member, NodeRun } from './member.ts';

/**
 * Amount of a resource that no resource model of the cluster names: 'none' is zero, as in Karmada since 1.18; 'summary' is
 * the amount in the Cluster's resource summary.
 */
export type Unmodelled = 'none' | 'summary';

/** Number of replicas with these requests that the cluster has capacity for. */
export function replicasThatFit(
  member: Member,
  requests: Resources | undefined,
  unmodelled: Unmodelled,
): number {
  const pods = member.free?.get('pods') ?? 0;
  if (member.free === undefined || pods <= 0) return 0;
  if (requests === undefined) return pods;
  if (member.nodes === undefined) return Math.min(pods, perNode(member.free, requests));
  const { modelled, rest } = split(member.nodes, requests, unmodelled);
  const onNodes = member.nodes.reduce(
    (sum, { nodes, free }) => sum + nodes * Math.min(perNode(free, modelled), free.get('pods') ?? 0),
    0,
  );
  return Math.min(pods, onNodes, perNode(member.free, rest));
}

/** Number of sets of the components, each with all of its replicas, that the cluster has capacity for. */
export function setsThatFit(
  member: Member,
  components: readonly BindingComponent[],
  unmodelled: Unmodelled,
): number {
  const pods = member.free?.get('pods') ?? 0;
  if (member.free === undefined || pods <= 0) return 0;
  const inSet = components.reduce((sum, { replicas }) => sum + replicas, 0);
  if (inSet === 0) return pods;
  const bound = Math.min(Math.floor(pods / inSet), perNode(member.free, totalOf(components)));
  if (member.nodes === undefined) return bound;
  const { nodes } = member;
  const parts = components.map((one) => ({
    replicas: one.replicas,
    requests: split(nodes, one.requests, unmodelled).modelled,
  }));
  let runs: readonly NodeRun[] | undefined = nodes;
  let sets = 0;
  while (sets < bound) {
    runs = firstFit(runs, parts);
    if (runs === undefined) break;
    sets += 1;
  }
  return sets;
}

/** Total requests of all replicas of the components. */
export function totalOf(components: readonly BindingComponent[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const { replicas, requests } of components)
    for (const [name, amount] of requests) total.set(name, (total.get(name) ?? 0) + amount * replicas);
  return total;
}

/** Number of times that `requests` fits in `free`; infinite when it requests nothing. */
function perNode(free: Resources, requests: Resources): number {
  let most = Number.POSITIVE_INFINITY;
  for (const [name, amount] of requests)
    if (amount > 0) most = Math.min(most, Math.floor((free.get(name) ?? 0) / amount));
  return most;
}

/** Splits requests into resources that the models name and resources that only the summary has. */
function split(
  nodes: readonly NodeRun[],
  requests: Resources,
  unmodelled: Unmodelled,
): { readonly modelled: Resources; readonly rest: Resources } {
  if (unmodelled === 'none') return { modelled: requests, rest: NOTHING };
  const known = (name: string): boolean => nodes.some(({ free }) => free.has(name));
  const entries = [...requests];
  return {
    modelled: new Map(entries.filter(([name]) => known(name))),
    rest: new Map(entries.filter(([name]) => !known(name))),
  };
}

const NOTHING: Resources = new Map();

/**
 * Places each replica on the first node with capacity. Nodes with equal free amounts stay one run.
 * @returns the remaining capacity; undefined when a replica did not fit
 */
function firstFit(
  nodes: readonly NodeRun[],
  parts: readonly { readonly replicas: number; readonly requests: Resources }[],
): readonly NodeRun[] | undefined {
  let runs = nodes;
  for (const { replicas, requests } of parts) {
    let left = replicas;
    const after: NodeRun[] = [];
    for (const run of runs) {
      const each = Math.min(perNode(run.free, requests), run.free.get('pods') ?? 0);
      if (left === 0 || each === 0) {
        after.push(run);
        continue;
      }
      const full = Math.min(run.nodes, Math.floor(left / each));
      const some = full < run.nodes ? left - full * each : 0;
      if (full > 0) after.push({ nodes: full, free: without(run.free, requests, each) });
      if (some > 0) after.push({ nodes: 1, free: without(run.free, requests, some) });
      const untouched = run.nodes - full - (some > 0 ? 1 : 0);
      if (untouched > 0) after.push({ nodes: untouched, free: run.free });
      left -= full * each + some;
    }
    if (left > 0) return undefined;
    runs = after;
  }
  return runs;
}

function without(free: Resources, requests: Resources, times: number): Resources {
  const left = new Map(free);
  for (const [name, amount] of requests) left.set(name, (left.get(name) ?? 0) - amount * times);
  left.set('pods', (left.get('pods') ?? 0) - times);
  return left;
}

/** The cluster minus replicas that were sent to it and that its status does not include yet. */
export function occupied(member: Member, components: readonly BindingComponent[]): Member {
  const { free, nodes } = member;
  if (free === undefined) return member;
  const left = new Map(free);
  for (const [name, amount] of totalOf(components))
    left.set(name, Math.max(0, (left.get(name) ?? 0) - amount));
  const pods = components.reduce((sum, { replicas }) => sum + replicas, 0);
  left.set('pods', Math.max(0, (left.get('pods') ?? 0) - pods));
  if (nodes === undefined) return { ...member, free: left };
  const parts = components.map(({ replicas, requests }) => ({
    replicas,
    requests: split(nodes, requests, 'summary').modelled,
  }));
  // Replicas that do not fit the models run on nodes that the models do not count.
  return { ...member, free: left, nodes: firstFit(nodes, parts) ?? nodes };
}

/**
 * Whether these replicas of each component fit in addition. A negative number returns capacity of replicas in the cluster.
 */
export function fits(
  member: Member,
  components: readonly BindingComponent[],
  unmodelled: Unmodelled,
): boolean {
  const { free } = member;
  if (free === undefined) return false;
  const pods = components.reduce((sum, { replicas }) => sum + replicas, 0);
  if (pods > (free.get('pods') ?? 0)) return false;
  for (const [name, amount] of totalOf(components)) if (amount > (free.get(name) ?? 0)) return false;
  const { nodes } = member;
  if (nodes === undefined) return true;
  const parts = components
    .filter(({ replicas }) => replicas > 0)
    .map((one) => ({ replicas: one.replicas, requests: split(nodes, one.requests, unmodelled).modelled }));
  return firstFit(nodes, parts) !== undefined;
}
