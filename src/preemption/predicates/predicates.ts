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

/** What a Pod that has its node already asks of no other one. */
const nodeName: Predicate = {
  name: 'NodeName',
  filterFor: (pod) =>
    pod.nodeName === ''
      ? undefined
      : ({ node }) =>
          node.name === pod.nodeName ? undefined : ["node(s) didn't match the requested node name"],
};

/** In the order of kube-scheduler's default profile: the first that refuses a node gives the reason. */
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

/** Those that other Pods have no part in. */
export const fixedPredicates: readonly Predicate[] = [
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  volumeBinding,
];

/** Those that other Pods have a part in wherever they are, if the Pod minds them or they mind it. */
export const interPodPredicates: readonly Predicate[] = [podTopologySpread, interPodAffinity];

/** Those that a node decides by itself, with the Pods on it. */
export const ownPredicates = predicates.filter((one) => !interPodPredicates.includes(one));

/** Those of them that the Pods on the node have a part in. */
export const capacityPredicates = ownPredicates.filter((one) => !fixedPredicates.includes(one));

/** Those but the distance that others want, of which kube-scheduler hears nothing where it was skipped. */
export const predicatesButAffinity = predicates.filter((one) => one !== interPodAffinity);

/** Whether kube-scheduler skips the distance that others want of a Pod in the state as it is: nobody wants any, and the Pod itself minds nobody. */
export const skipsAffinity = (pod: Pod, state: ClusterState): boolean =>
  pod.constraints.affinity.length + pod.constraints.antiAffinity.length === 0 &&
  interPodAffinity.filterFor(pod, state) === undefined;

/** Why a node does not take a Pod. */
export interface Rejection {
  readonly node: string;
  /** kube-scheduler's plugin. */
  readonly predicate: string;
  readonly messages: readonly string[];
}

/** The judgement of all predicates, for one Pod in the state as it is now. */
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
