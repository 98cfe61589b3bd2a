import type { ClusterState, NodeState } from './cluster-state.ts';
import { judgeFor, type Rejection } from './predicates/predicates.ts';
import { counted, type Preemptor } from './preemptor.ts';
import { bestNodes } from './scores.ts';
import type { Pod } from './snapshot.ts';

/** Where each Pod of a gang goes, and why the first that goes nowhere does. */
export interface Placement {
  /** Whether every minimum is met. */
  readonly fits: boolean;
  readonly nodes: ReadonlyMap<Pod, NodeState>;
  /** Pods without a node. */
  readonly without: readonly Pod[];
  /** Of the first Pod without a node, every node's reason. */
  readonly rejected: readonly Rejection[];
}

/**
 * Places the Pods one after the other, each where kube-scheduler would put it with those before it in place. They are
 * left on their nodes in `state`; {@link undo} takes them off again.
 * @param only the nodes that may be used; all without
 */
export function place(
  { pods, minimums }: Pick<Preemptor, 'pods' | 'minimums'>,
  state: ClusterState,
  only: readonly NodeState[] = state.nodes,
): Placement {
  const nodes = new Map<Pod, NodeState>();
  const without: Pod[] = [];
  let rejected: readonly Rejection[] = [];
  for (const pod of pods) {
    const { taking, refusing } = nodesFor(pod, state, only, without.length === 0);
    // Where kube-scheduler leaves it to chance, the first by name.
    const [best] = bestNodes(pod, taking);
    if (best === undefined) {
      if (without.length === 0) rejected = refusing;
      without.push(pod);
    } else {
      state.put(pod, best);
      nodes.set(pod, best);
    }
  }
  return {
    fits: minimums.every((one) => counted(one, nodes.keys()) >= one.count),
    nodes,
    without,
    rejected,
  };
}

/** Takes the Pods of a placement off their nodes. */
export function undo({ nodes }: Pick<Placement, 'nodes'>, state: ClusterState): void {
  for (const [pod, node] of nodes) state.take(pod, node);
}

/** Puts them back where they were. */
export function redo({ nodes }: Pick<Placement, 'nodes'>, state: ClusterState): void {
  for (const [pod, node] of nodes) state.put(pod, node);
}

function nodesFor(
  pod: Pod,
  state: ClusterState,
  only: readonly NodeState[],
  tellWhy: boolean,
): { taking: NodeState[]; refusing: Rejection[] } {
  const judge = judgeFor(pod, state);
  const taking: NodeState[] = [];
  const refusing: Rejection[] = [];
  for (const node of only) {
    const rejection = judge(node);
    if (rejection === undefined) taking.push(node);
    else if (tellWhy) refusing.push(rejection);
  }
  return { taking, refusing };
}
