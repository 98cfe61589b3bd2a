import type { NodeState } from './node-state.ts';
import type { Pod } from './snapshot.ts';

/** Counts the Pods in each domain of a topology key as they come and go, and knows the lowest count. */
export class DomainCounts {
  readonly topologyKey: string;
  readonly #counts = new Map<string, number>();
  /** The number of domains with each count; the index is the count. */
  readonly #domainsOf: number[] = [];
  #least = Number.POSITIVE_INFINITY;
  #total = 0;

  /** @param domains nodes whose domains count even while they have no Pods */
  constructor(topologyKey: string, domains: Iterable<NodeState> = []) {
    this.topologyKey = topologyKey;
    for (const node of domains) {
      const value = this.valueOf(node);
      if (value === undefined || this.#counts.has(value)) continue;
      this.#counts.set(value, 0);
      this.#domainsOf[0] = (this.#domainsOf[0] ?? 0) + 1;
      this.#least = 0;
    }
  }

  /** The domain of a node; undefined where the node has no such label. */
  valueOf({ node }: NodeState): string | undefined {
    return node.labels.get(this.topologyKey);
  }

  of(value: string): number {
    return this.#counts.get(value) ?? 0;
  }

  /** How many domains are known. */
  get size(): number {
    return this.#counts.size;
  }

  /** Pods in all domains. */
  get total(): number {
    return this.#total;
  }

  /** The lowest number of Pods in a domain; Infinity where there is no domain. */
  get least(): number {
    return this.#least;
  }

  /** How many domains have the lowest number of Pods. */
  get leastDomains(): number {
    return this.#domainsOf[this.#least] ?? 0;
  }

  values(): Iterable<string> {
    return this.#counts.keys();
  }

  add(node: NodeState, sign: 1 | -1): void {
    const value = this.valueOf(node);
    if (value === undefined) return;
    const before = this.#counts.get(value);
    const now = (before ?? 0) + sign;
    this.#counts.set(value, now);
    this.#total += sign;
    if (before !== undefined) this.#domainsOf[before] = (this.#domainsOf[before] ?? 0) - 1;
    this.#domainsOf[now] = (this.#domainsOf[now] ?? 0) + 1;
    if (now < this.#least) this.#least = now;
    else if (before === this.#least && this.#domainsOf[before] === 0) this.#least = now;
  }
}

/** The Pods on nodes that a rule counts, with their number in each domain. */
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

  /**
   * The counts by domain of a topology key. @param domains nodes whose domains count even while they have no Pods; the same
   * at each call
   */
  by(topologyKey: string, domains?: Iterable<NodeState>): DomainCounts {
    const known = this.#counts.get(topologyKey);
    if (known !== undefined) return known;
    const counts = new DomainCounts(topologyKey, domains);
    for (const node of this.#nodes.values()) counts.add(node, 1);
    this.#counts.set(topologyKey, counts);
    return counts;
  }
}
