import { ClusterState } from './cluster-state.ts';
import { placeNeeded, undo } from './place.ts';
import { fixedPredicates, judgeFor, type Rejection } from './predicates/predicates.ts';
import { counted, type Minimum, type Preemptor } from './preemptor.ts';
import { isAlike, type Pod, type Snapshot } from './snapshot.ts';
import { preemptionUnitsOf } from './units.ts';
import type { Variant } from './variants.ts';
import type { NodeState } from './node-state.ts';
import type { NoNodeLargeEnough } from './refusal.ts';

/**
 * How much of each resource is short for a preemptor that does not fit even with everything below it gone, in the units of
 * {@link Pod.requests}: the requests of the Pods without a node, less the free amounts of the nodes that they may use, but
 * at least what the best of these nodes lacks for one of the Pods.
 */
export function shortageOf(preemptor: Preemptor, snapshot: Snapshot, variant: Variant): Map<string, number> {
  const state = new ClusterState(snapshot);
  if (preemptor.preempts)
    for (const { priority, pods } of preemptionUnitsOf(snapshot, preemptor, variant))
      if (priority < preemptor.priority) for (const pod of pods) state.takeAway(pod);
  const { without } = placeNeeded(preemptor, state);
  const needed = stillNeeded(preemptor, without);
  const [first] = needed;
  const shortfall = new Map<string, number>();
  if (first === undefined) return shortfall;
  const judge = judgeFor(first, state, fixedPredicates);
  const nodes = state.nodes.filter((node) => judge(node) === undefined);
  for (const amount of state.amountsOf(first)) {
    const { name: resource, count } = amount;
    let best = count;
    let total = 0;
    for (const pod of needed) total += pod.requests.get(resource) ?? 0;
    for (const node of nodes) {
      best = Math.min(best, count - node.free(amount));
      total -= Math.max(node.free(amount), 0);
    }
    const short = Math.max(best, total);
    if (short > 0) shortfall.set(resource, short);
  }
  return shortfall;
}

/** The Pods without a node that the minimums of their groups need. */
function stillNeeded({ pods, minimums }: Preemptor, without: readonly Pod[]): Pod[] {
  return minimums.flatMap((minimum) => {
    const placed = counted(minimum, pods) - counted(minimum, without);
    return without
      .filter(({ group }) => minimum.group === undefined || group === minimum.group)
      .slice(0, Math.max(minimum.count - placed, 0));
  });
}

/**
 * The largest gang of this shape that fits now: each minimum is cut to the same fraction, rounded down. By group, `''` where
 * all Pods count together; undefined where not one Pod fits.
 */
export function largestNow(
  preemptor: Preemptor,
  snapshot: Snapshot,
): ReadonlyMap<string, number> | undefined {
  const state = new ClusterState(snapshot);
  const most = Math.max(0, ...preemptor.minimums.map(({ count }) => count));
  const cut = (step: number): Minimum[] =>
    preemptor.minimums.map(({ group, count }) => ({ group, count: Math.floor((count * step) / most) }));
  const fits = (step: number): boolean => {
    const placement = placeNeeded({ pods: preemptor.pods, minimums: cut(step) }, state);
    undo(placement, state);
    return placement.fits;
  };
  let [low, high] = [0, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  const counts = cut(low).filter(({ count }) => count > 0);
  return counts.length === 0 ? undefined : new Map(counts.map(({ group = '', count }) => [group, count]));
}

/**
 * Sums up rejections as kube-scheduler does: `0/3 nodes are available: 2 Insufficient cpu, 1 node(s) were unschedulable`.
 */
export function sumUp(rejected: readonly Rejection[]): string {
  const counts = new Map<string, number>();
  for (const { messages } of rejected)
    for (const message of messages) counts.set(message, (counts.get(message) ?? 0) + 1);
  const parts = [...counts].map(([message, count]) => `${count} ${message}`).sort();
  return `0/${rejected.length} nodes are available: ${parts.join(', ')}`;
}

/** Finds a needed Pod that does not fit on any node even if the node were empty, so that no preemption can help. */
export function noNodeLargeEnough(
  { pods, minimums }: Pick<Preemptor, 'pods' | 'minimums'>,
  snapshot: Snapshot,
): NoNodeLargeEnough | undefined {
  const state = new ClusterState({ ...snapshot, pods: [] });
  const known: { readonly pod: Pod; readonly found: NoNodeLargeEnough | undefined }[] = [];
  const judged = (pod: Pod): NoNodeLargeEnough | undefined => {
    const alike = known.find((one) => one.pod.nodeName === pod.nodeName && isAlike(one.pod, pod));
    if (alike !== undefined) return alike.found;
    const found = tooLarge(pod, state);
    known.push({ pod, found });
    return found;
  };
  for (const { group, count } of minimums) {
    const those = pods.filter((pod) => group === undefined || pod.group === group);
    const found = those.flatMap((pod) => judged(pod) ?? []);
    if (those.length - found.length < count) return found[0];
  }
  return undefined;
}

function tooLarge(pod: Pod, state: ClusterState): NoNodeLargeEnough | undefined {
  const judge = judgeFor(pod, state, fixedPredicates);
  const [first, ...others] = state.nodes.filter((node) => judge(node) === undefined);
  if (first === undefined) return undefined;
  for (const [resource, asked] of pod.requests) {
    const has = ({ node }: NodeState): number => node.allocatable.get(resource) ?? 0;
    const most = others.reduce((best, node) => (has(node) > has(best) ? node : best), first);
    if (asked <= has(most)) continue;
    const largest = { node: most.node.name, has: has(most) };
    return { why: 'NoNodeLargeEnough', group: pod.group, resource, asked, largest };
  }
  return undefined;
}
