import type { ClusterState } from '../cluster-state.ts';
import type { NodeState } from '../node-state.ts';
import type { Pod } from '../snapshot.ts';
import type { DomainCounts } from '../domain-counts.ts';

/** Why a node does not take a Pod, in kube-scheduler's own words; undefined where it does. */
export type Filter = (node: NodeState) => readonly string[] | undefined;

/** One of the conditions of kube-scheduler's default profile that decide where a Pod may run. */
export interface Predicate {
  /** The name of kube-scheduler's plugin. */
  readonly name: string;
  /**
   * The judgement of every node for one Pod, in the state as it is now; undefined where the Pod asks for nothing of
   * this kind.
   */
  filterFor(pod: Pod, state: ClusterState): Filter | undefined;
}

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
