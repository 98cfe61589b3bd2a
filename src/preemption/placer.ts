import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { UnmetMinimums, type Preemptor } from './preemptor.ts';
import type { Pod } from './snapshot.ts';

export type GangToPlace = Pick<Preemptor, 'pods' | 'minimums'>;

/** Answers whether a preemptor fits the present state. */
export interface Fit {
  fits(): boolean;
  /** Called for each node whose Pods have changed since the last answer. */
  changed(node: NodeState): void;
  /** Called after a "no" that followed a "yes", once all nodes are again as they were at the "yes". */
  backOut?(): void;
}

/** Whether the Pods fit, and the nodes of those that were placed. */
export interface Placed {
  readonly fits: boolean;
  readonly chosen: ReadonlySet<NodeState>;
}

/** Knows how good each node is for Pods of one kind. The index is the node's position in the list of nodes. */
interface Kind {
  /** Called before the Pods are placed. */
  begin(): void;
  /** Returns the index of the node for the next Pod. */
  choose(): number | undefined;
  /** Scores a node again whose Pods have changed. */
  lookAt(index: number, node: NodeState): void;
  /** Scores a node again that has no Pod of the gang; returns whether a Pod of the gang might now go elsewhere. */
  changed(index: number, node: NodeState): boolean;
  /** Called after all Pods were tried, while they are still in place. @param chosen their nodes */
  end?(fits: boolean, chosen: ReadonlySet<NodeState>): void;
}

/** Places a gang in a working copy, with the scores of the nodes for each kind of its Pods. */
export class Placer<K extends Kind> {
  readonly kinds: readonly K[];
  readonly #wanting: GangToPlace;
  readonly #state: ClusterState;
  readonly #nodes: readonly NodeState[];
  readonly #index: ReadonlyMap<NodeState, number>;
  readonly #kindOf: ReadonlyMap<Pod, K>;

  constructor(
    wanting: GangToPlace,
    given: {
      readonly state: ClusterState;
      readonly nodes: readonly NodeState[];
      readonly kinds: ReadonlyMap<Pod, K>;
    },
  ) {
    this.#wanting = wanting;
    this.#state = given.state;
    this.#nodes = given.nodes;
    this.#index = new Map(given.nodes.map((node, index) => [node, index]));
    this.#kindOf = given.kinds;
    this.kinds = [...new Set(given.kinds.values())];
  }

  /** Whether Pods may go to the node. */
  has(node: NodeState): boolean {
    return this.#index.has(node);
  }

  /** Scores the node again, whose Pods have changed. */
  lookAt(node: NodeState): void {
    const index = this.#index.get(node) ?? -1;
    for (const kind of this.kinds) kind.lookAt(index, node);
  }

  /** Scores changed nodes again; returns whether a Pod might now go elsewhere. @param chosen the nodes of the placed Pods */
  changed(nodes: Iterable<NodeState>, chosen: ReadonlySet<NodeState>): boolean {
    let matters = false;
    for (const node of nodes) {
      const index = this.#index.get(node) ?? -1;
      for (const kind of this.kinds) if (kind.changed(index, node)) matters = true;
      matters ||= chosen.has(node);
    }
    return matters;
  }

  /**
   * Places the needed Pods one after the other, as {@link place} would, and takes them off again.
   * @param isVain whether no further Pod is worth a try once this Pod has found no node
   */
  place(isVain?: (pod: Pod) => boolean): Placed {
    const there = new Map<Pod, NodeState>();
    for (const kind of this.kinds) kind.begin();
    const needs = new UnmetMinimums(this.#wanting.minimums);
    for (const pod of this.#wanting.pods) {
      if (!needs.wants(pod)) continue;
      const node = this.#nodes[this.#kindOf.get(pod)?.choose() ?? -1];
      if (node === undefined) {
        if (isVain?.(pod) === true) break;
        continue;
      }
      this.#state.put(pod, node);
      there.set(pod, node);
      needs.met(pod);
      this.lookAt(node);
    }
    const [fits, chosen] = [needs.areMet, new Set(there.values())];
    for (const kind of this.kinds) kind.end?.(fits, chosen);
    for (const [pod, node] of there) this.#state.take(pod, node);
    for (const node of chosen) this.lookAt(node);
    return { fits, chosen };
  }
}
