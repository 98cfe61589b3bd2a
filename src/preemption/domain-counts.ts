import type { NodeState } from './node-state.ts';

/** How many Pods are in each domain of a topology key, kept as they come and go, with the fewest in any. */
export class DomainCounts {
  readonly topologyKey: string;
  readonly #counts = new Map<string, number>();
  /** By a count: how many domains have it. */
  readonly #domainsOf: number[] = [];
  #least = Number.POSITIVE_INFINITY;
  #total = 0;

  /** @param domains nodes whose domains count although nobody may be there */
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

  /** The domain that a node is in; undefined: in none. */
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

  /** The fewest Pods in a domain; Infinity where there is none. */
  get least(): number {
    return this.#least;
  }

  /** How many domains have the fewest. */
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
