import type { ClusterState } from '../cluster-state.ts';
import type { NodeState } from '../node-state.ts';
import type { Pod } from '../snapshot.ts';

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
