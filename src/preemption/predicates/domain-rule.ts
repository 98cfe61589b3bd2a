import type { DomainCounts } from '../domain-counts.ts';

/**
 * What decides by the domain of a node alone whether a Pod without a node may go there. It always speaks of the state as it
 * is at the moment of asking.
 */
export interface DomainRule {
  /**
   * What another Pod in a domain does: with `spread` it counts there, and the domain with the fewest decides for all; with
   * `company` it opens the domain; with `distance` it closes it.
   */
  readonly kind: 'spread' | 'company' | 'distance';
  readonly counts: DomainCounts;
  /** @param value of the topology key; undefined where the node has no such label */
  allows(value: string | undefined): boolean;
}
