import type { NodeState } from './cluster-state.ts';
import { nodeTermHolds, untolerated } from './selectors.ts';
import type { Pod } from './snapshot.ts';

/** kube-scheduler's highest score of one plugin. */
const MAX = 100;
/** The weights of its default profile. */
const WEIGHTS = { taints: 3, affinity: 2, leastAllocated: 1, balancedAllocation: 1 };

/**
 * Of the nodes that take the Pod those that kube-scheduler's default scores like best: the least used, evenly used, without
 * a taint that would rather have others, and preferred by the Pod. Of several it chooses one by chance.
 */
export function bestNodes(pod: Pod, nodes: readonly NodeState[]): NodeState[] {
  const taints = taintScores(pod, nodes);
  const affinity = affinityScores(pod, nodes);
  let best: NodeState[] = [];
  let top = Number.NEGATIVE_INFINITY;
  for (const [index, node] of nodes.entries()) {
    const score =
      WEIGHTS.taints * (taints?.[index] ?? MAX) +
      WEIGHTS.affinity * (affinity?.[index] ?? 0) +
      WEIGHTS.leastAllocated * leastAllocated(pod, node) +
      WEIGHTS.balancedAllocation * balancedAllocation(pod, node);
    if (score > top) [best, top] = [[], score];
    if (score === top) best.push(node);
  }
  return best;
}

/** Fewer taints of `PreferNoSchedule` that the Pod does not tolerate; undefined where no node has one. */
function taintScores({ constraints }: Pod, nodes: readonly NodeState[]): number[] | undefined {
  const tolerations = constraints.tolerations.filter(
    ({ effect }) => effect === '' || effect === 'PreferNoSchedule',
  );
  const counts = nodes.map(
    ({ node }) =>
      node.taints.filter((taint) => untolerated([taint], tolerations, ['PreferNoSchedule']) !== undefined)
        .length,
  );
  const most = highest(counts);
  return most === 0 ? undefined : counts.map((count) => MAX - Math.trunc((MAX * count) / most));
}

/** The weights of the preferred terms that hold; undefined where nothing is preferred. */
function affinityScores({ constraints }: Pod, nodes: readonly NodeState[]): number[] | undefined {
  const { preferredNodes } = constraints;
  if (preferredNodes.length === 0) return undefined;
  const sums = nodes.map(({ node }) => {
    let sum = 0;
    for (const { weight, term } of preferredNodes) if (nodeTermHolds(term, node)) sum += weight;
    return sum;
  });
  const most = highest(sums);
  return most === 0 ? undefined : sums.map((sum) => Math.trunc((MAX * sum) / most));
}

const highest = (counts: readonly number[]): number => counts.reduce((a, b) => Math.max(a, b), 0);

function leastAllocated(pod: Pod, { node, scoredCpu, scoredMemory }: NodeState): number {
  let [sum, weights] = [0, 0];
  const one = (requested: number, capacity: number): void => {
    if (capacity === 0) return;
    weights += 1;
    if (requested <= capacity) sum += Math.trunc(((capacity - requested) * MAX) / capacity);
  };
  one(scoredCpu + pod.scored.cpu, node.allocatable.get('cpu') ?? 0);
  one(scoredMemory + pod.scored.memory, node.allocatable.get('memory') ?? 0);
  return weights === 0 ? 0 : Math.trunc(sum / weights);
}

/** How much more evenly cpu and memory are used with the Pod than without it: 50 … 100, 75 for no difference. */
function balancedAllocation(pod: Pod, node: NodeState): number {
  const asks = (resource: string): number => pod.requests.get(resource) ?? 0;
  if (asks('cpu') + asks('memory') === 0) return 0;
  const evenness = (more: boolean): number => {
    const fractions = ['cpu', 'memory'].flatMap((resource) => {
      const capacity = node.node.allocatable.get(resource) ?? 0;
      if (capacity === 0) return [];
      return [Math.min(((node.used.get(resource) ?? 0) + (more ? asks(resource) : 0)) / capacity, 1)];
    });
    const [a = 0, b = a] = fractions;
    return Math.trunc((1 - Math.abs(a - b) / 2) * MAX);
  };
  return MAX / 2 + Math.trunc((MAX / 2 + evenness(true) - evenness(false)) / 2);
}
