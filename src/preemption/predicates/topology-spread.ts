import type { ClusterState } from '../cluster-state.ts';
import type { NodeState } from '../node-state.ts';
import type { CountedPods, DomainCounts } from '../domain-counts.ts';
import { untolerated } from '../../k8s/taints.ts';
import { selects } from '../selectors.ts';
import type { Pod, TopologySpreadConstraint } from '../snapshot.ts';
import type { DomainRule, Filter, Predicate } from './predicate.ts';
import { matchesAffinity } from './node-predicates.ts';

const SKEWED = ["node(s) didn't match pod topology spread constraints"];
const NO_LABEL = ["node(s) didn't match pod topology spread constraints (missing required label)"];

/** Topology spread constraints that must hold (`whenUnsatisfiable: DoNotSchedule`). */
export const podTopologySpread: Predicate = {
  name: 'PodTopologySpread',
  filterFor: (pod, state) => {
    const { spread } = pod.constraints;
    if (spread.length === 0) return undefined;
    const judges = spread.map((constraint) => judge(constraint, pod, state));
    return (node) => {
      for (const one of judges) {
        const messages = one(node);
        if (messages !== undefined) return messages;
      }
      return undefined;
    };
  },
};

/** The constraints as rules by domain, for a Pod that is on no node. */
export const spreadRules = (pod: Pod, state: ClusterState): DomainRule[] =>
  pod.constraints.spread.map((constraint) => {
    const { counts } = countedFor(constraint, pod, state);
    const itself = selects(constraint.selector, pod.labels) ? 1 : 0;
    const ceiling = (least = counts.least): number => leastOf(counts, least, constraint) + constraint.maxSkew;
    return {
      kind: 'spread',
      counts,
      itself: itself > 0,
      allows: (value) => value !== undefined && counts.of(value) + itself <= ceiling(),
      ceiling,
      isSettled: (pods) => counts.size < constraint.minDomains || counts.leastDomains >= pods,
    };
  });

function judge(constraint: TopologySpreadConstraint, pod: Pod, state: ClusterState): Filter {
  const { crowd, counts } = countedFor(constraint, pod, state);
  // A Pod that is on a node must not count itself.
  const there = crowd.nodeOf(pod);
  const own = there && counts.valueOf(there);
  const others = (domain: string): number => counts.of(domain) - (domain === own ? 1 : 0);
  const fewest = own === undefined ? counts.least : Math.min(counts.least, others(own));
  const least = leastOf(counts, fewest, constraint);
  const itself = selects(constraint.selector, pod.labels) ? 1 : 0;
  return (node) => {
    const domain = counts.valueOf(node);
    if (domain === undefined) return NO_LABEL;
    return others(domain) + itself - least > constraint.maxSkew ? SKEWED : undefined;
  };
}

const leastOf = (counts: DomainCounts, fewest: number, { minDomains }: TopologySpreadConstraint): number =>
  counts.size < minDomains ? 0 : fewest;

/** The Pods that a constraint counts, and how many of them each domain has. */
function countedFor(
  constraint: TopologySpreadConstraint,
  { constraints, namespace }: Pod,
  state: ClusterState,
): { readonly crowd: CountedPods; readonly counts: DomainCounts } {
  const { topologyKey, selector } = constraint;
  const at = constraints.spread.indexOf(constraint);
  const takingPart = state.nodesFor(constraints, `spread ${at}`, (node) =>
    // A node takes part if it has the labels of all constraints, and the Pod's affinity and tolerations allow it where they
    // count.
    constraints.spread.every((one) => node.node.labels.has(one.topologyKey))
      ? takesPart(constraint, constraints, node)
      : false,
  );
  const crowd = state.podsCounted(
    constraints,
    `spread ${at} ${namespace}`,
    (one, node) =>
      !one.terminating &&
      one.namespace === namespace &&
      takingPart.has(node) &&
      selects(selector, one.labels),
  );
  return { crowd, counts: crowd.by(topologyKey, takingPart) };
}

const takesPart = (
  constraint: TopologySpreadConstraint,
  constraints: Pod['constraints'],
  { node }: NodeState,
): boolean =>
  (!constraint.honoursAffinity || matchesAffinity(constraints, node)) &&
  (!constraint.honoursTaints ||
    untolerated(node.taints, constraints.tolerations, ['NoSchedule', 'NoExecute']) === undefined);
