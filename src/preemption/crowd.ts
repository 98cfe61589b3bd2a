import type { NodeState } from './node-state.ts';
import { DomainCounts } from './domain-counts.ts';
import type { Pod } from './snapshot.ts';

/** Pods on nodes that some rule counts, kept as they come and go, and how many of them each domain has. */
export class CountedPods {
  readonly #nodes = new Map<Pod, NodeState>();
  readonly #counts = new Map<string, DomainCounts>();

  put(pod: Pod, node: NodeState): void {
    this.take(pod);
    this.#nodes.set(pod, node);
    for (const counts of this.#counts.values()) counts.add(node, 1);
  }

  take(pod: Pod): void {
    const node = this.#nodes.get(pod);
    if (node === undefined) return;
    this.#nodes.delete(pod);
    for (const counts of this.#counts.values()) counts.add(node, -1);
  }

  nodeOf(pod: Pod): NodeState | undefined {
    return this.#nodes.get(pod);
  }

  /** @param domains nodes whose domains count although nobody may be there; the same each time */
  by(topologyKey: string, domains?: Iterable<NodeState>): DomainCounts {
    const known = this.#counts.get(topologyKey);
    if (known !== undefined) return known;
    const counts = new DomainCounts(topologyKey, domains);
    for (const node of this.#nodes.values()) counts.add(node, 1);
    this.#counts.set(topologyKey, counts);
    return counts;
  }
}
