import type { ClusterState } from '../cluster-state.ts';
import type { NodeState } from '../node-state.ts';
import type { Pod } from '../snapshot.ts';
import type { DomainCounts } from '../domain-counts.ts';

/** Returns why a node does not take a Pod, in the words of kube-scheduler; undefined where it does. */
export type Filter = (node: NodeState) => readonly string[] | undefined;

/** One of the conditions of kube-scheduler's default profile that decide where a Pod may run. */
export interface Predicate {
  /** Name of kube-scheduler's plugin. */
  readonly name: string;
  /**
   * Returns a function that judges every node for one Pod in the present state; undefined where the Pod has no constraint of
   * this kind.
   */
  filterFor(pod: Pod, state: ClusterState): Filter | undefined;
}

/**
 * A rule by which the domain of a node alone decides whether a Pod without a node may go there. Its answers follow the Pods
 * that come and go.
 */
export interface DomainRule {
  /**
   * What another Pod does to its domain. `spread`: it is counted, and the domain with the fewest Pods decides for all
   * domains. `company`: it allows the domain. `distance`: it forbids the domain.
   */
  readonly kind: 'spread' | 'company' | 'distance';
  readonly counts: DomainCounts;
  /** @param value the domain: the node's value of the topology label; undefined where the node has no such label */
  allows(value: string | undefined): boolean;
  /** Whether the rule counts the Pod itself once it is on a node. */
  readonly itself: boolean;
  /** The most Pods that the rule allows in a domain. @param least the lowest number in any domain; by default the present one */
  ceiling(this: void, least?: number): number;
  /** Whether the ceiling stays the same while so many Pods come that the rule counts. */
  isSettled(this: void, pods: number): boolean;
}
