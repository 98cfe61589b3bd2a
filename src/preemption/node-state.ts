import type { Node, Pod } from './snapshot.ts';

/** A resource and how much of it: the index that the {@link ClusterState} gives to its name, and the count. */
export interface Amount {
  readonly name: string;
  readonly index: number;
  readonly count: number;
}

/** A Pod of the snapshot, on its node or taken off it. */
export interface Resident {
  readonly pod: Pod;
  readonly node: NodeState;
  readonly amounts: readonly Amount[];
  here: boolean;
}

/** A node in a working copy, with the Pods that are on it there. */
export class NodeState {
  readonly node: Node;
  readonly residents: Resident[] = [];
  /** Pods on the node that are not in the snapshot. */
  readonly guests = new Set<Pod>();
  /** The number of Pods on the node. */
  size = 0;
  readonly mostPods: number;
  /**
   * Allocatable amounts by the index of the resource, like {@link used}. In a Map each number would be an object of its own.
   */
  readonly allocatable: Float64Array;
  /** Sum of the requests of the Pods on the node. */
  readonly used: Float64Array;
  /** Sum of the CPU that scores count (`scored`). */
  scoredCpu = 0;
  scoredMemory = 0;

  constructor(node: Node, indexes: ReadonlyMap<string, number>) {
    this.node = node;
    this.mostPods = node.allocatable.get('pods') ?? 0;
    this.allocatable = new Float64Array(indexes.size);
    this.used = new Float64Array(indexes.size);
    for (const [name, count] of node.allocatable) this.allocatable[indexes.get(name) ?? 0] = count;
  }

  /** The free amount of a resource; negative on a node that is overcommitted. */
  free({ index }: Pick<Amount, 'index'>): number {
    return (this.allocatable[index] ?? 0) - (this.used[index] ?? 0);
  }

  *pods(): Generator<Pod> {
    for (const { pod, here } of this.residents) if (here) yield pod;
    yield* this.guests;
  }

  count(pod: Pod, amounts: readonly Amount[], sign: 1 | -1): void {
    this.size += sign;
    for (const { index, count } of amounts) this.used[index] = (this.used[index] ?? 0) + sign * count;
    this.scoredCpu += sign * pod.scored.cpu;
    this.scoredMemory += sign * pod.scored.memory;
  }
}
