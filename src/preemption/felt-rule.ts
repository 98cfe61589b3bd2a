import type { NodeState } from './node-state.ts';
import type { DomainRule } from './predicates/domain-rule.ts';

/** A rule with what it said when the gang was placed last: whether a change since then can matter. */
export class TrackedRule {
  readonly rule: DomainRule;
  /** By domain: how many Pods count there, or for rules that do not count whether one is there. */
  readonly #before = new Map<string, number>();
  /** Domains in which Pods of the gang were placed. */
  readonly #used = new Set<string>();
  #leastAtBegin = 0;
  /** The fewest before the gang was placed, and with it in place. */
  #leastBefore = 0;
  #leastAfter = 0;
  /** How many domains had the fewest with the gang in place, for all we know by now. */
  #leastDomains = 0;
  #raised = 0;

  constructor(rule: DomainRule) {
    this.rule = rule;
    for (const value of rule.counts.values()) this.#before.set(value, this.#levelOf(value));
  }

  valueOf(node: NodeState): string | undefined {
    return this.rule.counts.valueOf(node);
  }

  /** The gang is about to be placed. */
  begin(): void {
    this.#leastAtBegin = this.rule.counts.least;
  }

  /** It fits, and is in place still. @param chosen its nodes */
  placed(chosen: Iterable<NodeState>): void {
    this.#leastBefore = this.#leastAtBegin;
    this.#leastAfter = this.rule.counts.least;
    this.#leastDomains = this.rule.counts.leastDomains;
    this.#raised = 0;
    this.#used.clear();
    for (const node of chosen) {
      const value = this.valueOf(node);
      if (value !== undefined) this.#used.add(value);
    }
  }

  /** Whether domains without a Pod of the gang were judged by it alike all the while. */
  get isSteady(): boolean {
    return this.rule.kind !== 'spread' || this.#leastBefore === this.#leastAfter;
  }

  /** Whether a Pod of the gang might go elsewhere, since Pods have come to a node or left it. */
  matters(node: NodeState): boolean {
    const value = this.valueOf(node);
    if (value === undefined) return false;
    const [before, now] = [this.#before.get(value) ?? 0, this.#levelOf(value)];
    if (now === before) return false;
    // Whoever comes to a domain that the gang does not use takes a choice away that was not made.
    if (now < before || this.rule.kind === 'company' || this.#used.has(value)) return true;
    if (this.rule.kind === 'distance' || before > this.#leastAfter) return false;
    // But the fewest stay as few only while another domain has no more.
    this.#raised += 1;
    return !this.isSteady || this.#leastDomains - this.#raised < 1;
  }

  /** What is said of the node is known, and the gang is placed as it was, or anew. */
  keep(node: NodeState): void {
    const value = this.valueOf(node);
    if (value !== undefined) this.#before.set(value, this.#levelOf(value));
    this.#leastDomains -= this.#raised;
    this.#raised = 0;
  }

  /** The change is taken back. */
  backOut(): void {
    this.#raised = 0;
  }

  #levelOf(value: string): number {
    const count = this.rule.counts.of(value);
    return this.rule.kind === 'spread' ? count : Math.min(count, 1);
  }
}
