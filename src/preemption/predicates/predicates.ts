import type { ClusterState } from '../cluster-state.ts';
import type { NodeState } from '../node-state.ts';
import type { Pod } from '../snapshot.ts';
import {
  nodeAffinity,
  nodeUnschedulable,
  taintToleration,
  volumeBinding,
  nodePorts,
  nodeResourcesFit,
} from './node-predicates.ts';
import { interPodAffinity } from './pod-affinity.ts';
import type { Filter, Predicate } from './predicate.ts';
import { podTopologySpread } from './topology-spread.ts';

/** A bound Pod fits its own node only. */
const nodeName: Predicate = {
  name: 'NodeName',
  filterFor: (pod) =>
    pod.nodeName === ''
      ? undefined
      : ({ node }) =>
          node.name === pod.nodeName ? undefined : ["node(s) didn't match the requested node name"],
};

/** All predicates in the order of kube-scheduler's default profile. The first that rejects a node gives the reason. */
export const predicates: readonly Predicate[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeBinding,
  podTopologySpread,
  interPodAffinity,
];

/** Predicates that do not depend on other Pods. */
export const fixedPredicates: readonly Predicate[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  volumeBinding,
];

/** Predicates that depend on Pods on other nodes. */
export const interPodPredicates: readonly Predicate[] = [podTopologySpread, interPodAffinity];

/** Predicates that depend on the node and the Pods on it alone. */
export const ownPredicates = predicates.filter((one) => !interPodPredicates.includes(one));

/** The {@link ownPredicates} that depend on the Pods on the node. */
export const capacityPredicates = ownPredicates.filter((one) => !fixedPredicates.includes(one));

/** All predicates but inter-Pod affinity, for Pods for which kube-scheduler skips inter-Pod affinity. */
export const predicatesButAffinity = predicates.filter((one) => one !== interPodAffinity);

/**
 * Whether kube-scheduler skips inter-Pod affinity for a Pod: the Pod has no terms, and no Pod on a node has terms that
 * concern it.
 */
export const skipsAffinity = (pod: Pod, state: ClusterState): boolean =>
  pod.constraints.affinity.length + pod.constraints.antiAffinity.length === 0 &&
  interPodAffinity.filterFor(pod, state) === undefined;

/** Why a node does not take a Pod. */
export interface Rejection {
  readonly node: string;
  /** Name of kube-scheduler's plugin. */
  readonly predicate: string;
  readonly messages: readonly string[];
}

/** Returns a function that runs all predicates for one Pod in the present state. */
export function judgeFor(
  pod: Pod,
  state: ClusterState,
  list: readonly Predicate[] = predicates,
): (node: NodeState) => Rejection | undefined {
  const filters: (readonly [string, Filter])[] = list.flatMap((one) => {
    const filter = one.filterFor(pod, state);
    return filter === undefined ? [] : [[one.name, filter] as const];
  });
  return (node) => {
    for (const [predicate, filter] of filters) {
      const messages = filter(node);
      if (messages !== undefined) return { node: node.node.name, predicate, messages };
    }
    return undefined;
  };
}
