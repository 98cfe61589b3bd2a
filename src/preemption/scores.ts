import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { untolerated } from '../k8s/taints.ts';
import { nodeSelectorTermHolds } from './selectors.ts';
import type { Pod } from './snapshot.ts';

/** The highest score of one of kube-scheduler's plugins. */
const MAX = 100;
/** The plugins' weights in the default profile. */
const WEIGHTS = { taints: 3, affinity: 2, leastAllocated: 1, balancedAllocation: 1 };

/**
 * Node scores as in kube-scheduler's default profile: high for nodes that are little and evenly used, have no
 * `PreferNoSchedule` taint against the Pod, and match its preferred affinity. The scores are kept: after a Pod is placed,
 * only its node is scored again for the next Pod of the same kind.
 */
export class Scores {
  readonly #pod: Pod;
  readonly #nodes: NodeState[];
  readonly #use: (node: NodeState) => number;
  /** The part of each node's score that depends on that node alone, in the order of the nodes. */
  readonly #own: number[];
  /** The part of a node's score that depends on the other nodes. */
  #among: (index: number) => number;
  #apart = true;

  /** @param nodes the nodes that take the Pod */
  constructor(pod: Pod, nodes: readonly NodeState[], state: ClusterState) {
    this.#pod = pod;
    this.#nodes = [...nodes];
    this.#use = useScore(pod, state);
    this.#own = this.#nodes.map(this.#use);
    this.#among = this.#compared();
  }

  /** Whether every node's score is independent of the other nodes. */
  get apart(): boolean {
    return this.#apart;
  }

  /**
   * Returns the nodes with the highest score; kube-scheduler picks one of them at random.
   * @param allows which nodes count, usable only while the scores are {@link apart}; by default all
   */
  best(allows: (node: NodeState) => boolean = () => true): NodeState[] {
    let best: NodeState[] = [];
    let top = Number.NEGATIVE_INFINITY;
    for (const [index, node] of this.#nodes.entries()) {
      const score = (this.#own[index] ?? 0) + this.#among(index);
      if (score < top || !allows(node)) continue;
      if (score > top) [best, top] = [[], score];
      best.push(node);
    }
    return best;
  }

  /** Called when a Pod was placed on the node. @param takes whether the node would take another Pod like it */
  changed(node: NodeState, takes: boolean): void {
    const index = this.#nodes.indexOf(node);
    if (index < 0) return;
    if (takes) this.#own[index] = this.#use(node);
    else {
      this.#nodes.splice(index, 1);
      this.#own.splice(index, 1);
      this.#among = this.#compared();
    }
  }

  #compared(): (index: number) => number {
    const taints = taintScores(this.#pod, this.#nodes);
    const affinity = affinityScores(this.#pod, this.#nodes);
    this.#apart = taints === undefined && affinity === undefined;
    return (index) => WEIGHTS.taints * (taints?.[index] ?? MAX) + WEIGHTS.affinity * (affinity?.[index] ?? 0);
  }
}

/** How well a node suits a Pod by taints and preferred affinity. The score for it depends on the other nodes. */
export interface Preference {
  /** Number of `PreferNoSchedule` taints that the Pod does not tolerate. */
  readonly taints: number;
  /** Sum of the weights of the preferred terms that the node matches. */
  readonly affinity: number;
}

export function preferenceOf(pod: Pod): (node: NodeState) => Preference {
  const [taints, affinity] = [untoleratedTaints(pod), preferredWeights(pod)];
  return (node) => ({ taints: taints(node), affinity: affinity(node) });
}

/**
 * The score of a preference.
 * @param most the highest number of taints and the highest weight of any node
 */
export const preferenceScore = ({ taints, affinity }: Preference, most: Preference): number =>
  WEIGHTS.taints * taintScore(taints, most.taints) +
  WEIGHTS.affinity * affinityScore(affinity, most.affinity);

const taintScore = (count: number, most: number): number =>
  most === 0 ? MAX : MAX - Math.trunc((MAX * count) / most);

const affinityScore = (sum: number, most: number): number =>
  most === 0 ? 0 : Math.trunc((MAX * sum) / most);

function untoleratedTaints({ constraints }: Pod): (node: NodeState) => number {
  const tolerations = constraints.tolerations.filter(
    ({ effect }) => effect === '' || effect === 'PreferNoSchedule',
  );
  return ({ node }) =>
    node.taints.filter((taint) => untolerated([taint], tolerations, ['PreferNoSchedule']) !== undefined)
      .length;
}

function preferredWeights({ constraints }: Pod): (node: NodeState) => number {
  const { preferredNodes } = constraints;
  return ({ node }) => {
    let sum = 0;
    for (const { weight, term } of preferredNodes) if (nodeSelectorTermHolds(term, node)) sum += weight;
    return sum;
  };
}

/** Scores for taints; undefined where no node has a taint that counts. */
function taintScores(pod: Pod, nodes: readonly NodeState[]): number[] | undefined {
  if (!nodes.some(({ node }) => node.taints.length > 0)) return undefined;
  const counts = nodes.map(untoleratedTaints(pod));
  const most = highest(counts);
  return most === 0 ? undefined : counts.map((count) => taintScore(count, most));
}

/** Scores for preferred affinity; undefined where the Pod prefers none of the nodes. */
function affinityScores(pod: Pod, nodes: readonly NodeState[]): number[] | undefined {
  if (pod.constraints.preferredNodes.length === 0) return undefined;
  const sums = nodes.map(preferredWeights(pod));
  const most = highest(sums);
  return most === 0 ? undefined : sums.map((sum) => affinityScore(sum, most));
}

const highest = (counts: readonly number[]): number => counts.reduce((a, b) => Math.max(a, b), 0);

/** Scores how little, and how evenly, a node would be used with the Pod on it. */
export function useScore(pod: Pod, state: ClusterState): (node: NodeState) => number {
  const [cpu, memory] = [state.indexOf('cpu'), state.indexOf('memory')];
  const asks = { cpu: pod.requests.get('cpu') ?? 0, memory: pod.requests.get('memory') ?? 0 };
  const anything = asks.cpu + asks.memory > 0;
  return ({ allocatable, used, scoredCpu, scoredMemory }) => {
    const [cpus = 0, bytes = 0] = [allocatable[cpu], allocatable[memory]];
    const usedCpu = used[cpu] ?? 0;
    const usedMemory = used[memory] ?? 0;
    const parts = (cpus > 0 ? 1 : 0) + (bytes > 0 ? 1 : 0);
    const free =
      freePart(scoredCpu + pod.scored.cpu, cpus) + freePart(scoredMemory + pod.scored.memory, bytes);
    const leastAllocated = parts === 0 ? 0 : Math.trunc(free / parts);
    // How much more evenly used the node gets: 50 … 100, 75 for no difference.
    const balanced = anything
      ? MAX / 2 +
        Math.trunc(
          (MAX / 2 +
            evenness(usedCpu + asks.cpu, cpus, usedMemory + asks.memory, bytes) -
            evenness(usedCpu, cpus, usedMemory, bytes)) /
            2,
        )
      : 0;
    return WEIGHTS.leastAllocated * leastAllocated + WEIGHTS.balancedAllocation * balanced;
  };
}

/** The share of the nodes' capacity in use once the Pods are added, 0 … 100. For a gang the fullest domain is best. */
export function mostAllocated(nodes: readonly NodeState[], pods: Iterable<Pod>, state: ClusterState): number {
  const [cpu, memory] = [state.indexOf('cpu'), state.indexOf('memory')];
  let [cpus, bytes, usedCpu, usedMemory] = [0, 0, 0, 0];
  for (const { allocatable, scoredCpu, scoredMemory } of nodes) {
    cpus += allocatable[cpu] ?? 0;
    bytes += allocatable[memory] ?? 0;
    usedCpu += scoredCpu;
    usedMemory += scoredMemory;
  }
  for (const { scored } of pods) {
    usedCpu += scored.cpu;
    usedMemory += scored.memory;
  }
  const parts = (cpus > 0 ? 1 : 0) + (bytes > 0 ? 1 : 0);
  return parts === 0 ? 0 : Math.trunc((usedPart(usedCpu, cpus) + usedPart(usedMemory, bytes)) / parts);
}

const usedPart = (requested: number, capacity: number): number =>
  capacity === 0 ? 0 : Math.trunc((Math.min(requested, capacity) * MAX) / capacity);

const freePart = (requested: number, capacity: number): number =>
  capacity === 0 || requested > capacity ? 0 : Math.trunc(((capacity - requested) * MAX) / capacity);

function evenness(usedCpu: number, cpus: number, usedMemory: number, bytes: number): number {
  if (cpus === 0 || bytes === 0) return MAX;
  const difference = Math.min(usedCpu / cpus, 1) - Math.min(usedMemory / bytes, 1);
  return Math.trunc((1 - Math.abs(difference) / 2) * MAX);
}
