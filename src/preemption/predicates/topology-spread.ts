import type { ClusterState, NodeState } from '../cluster-state.ts';
import { untolerated } from '../../gang/taints.ts';
import { selects } from '../selectors.ts';
import type { Pod, SpreadConstraint } from '../snapshot.ts';
import { matchesAffinity } from './node-predicates.ts';
import type { Filter, Predicate } from './predicate.ts';

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

function judge(constraint: SpreadConstraint, pod: Pod, state: ClusterState): Filter {
  const { topologyKey, maxSkew, minDomains, selector } = constraint;
  const keys = pod.constraints.spread.map((one) => one.topologyKey);
  const counts = new Map<string, number>();
  const takingPart = new Set<NodeState>();
  for (const node of state.nodes) {
    const domain = node.node.labels.get(topologyKey);
    // A node takes part if it has the keys of all constraints and the Pod could be there at all.
    if (domain === undefined || !keys.every((key) => node.node.labels.has(key))) continue;
    if (!takesPart(constraint, pod, node)) continue;
    takingPart.add(node);
    if (!counts.has(domain)) counts.set(domain, 0);
  }
  const { namespace } = pod;
  const counted = state.those(
    constraint,
    namespace,
    (one) => !one.terminating && one.namespace === namespace && selects(selector, one.labels),
  );
  for (const [other, node] of counted) {
    const domain = node.node.labels.get(topologyKey);
    if (other === pod || domain === undefined || !takingPart.has(node)) continue;
    counts.set(domain, (counts.get(domain) ?? 0) + 1);
  }
  const least = counts.size < minDomains ? 0 : Math.min(...counts.values());
  const itself = selects(selector, pod.labels) ? 1 : 0;
  return ({ node }) => {
    const domain = node.labels.get(topologyKey);
    if (domain === undefined) return NO_LABEL;
    return (counts.get(domain) ?? 0) + itself - least > maxSkew ? SKEWED : undefined;
  };
}

const takesPart = (constraint: SpreadConstraint, { constraints }: Pod, { node }: NodeState): boolean =>
  (!constraint.honoursAffinity || matchesAffinity(constraints, node)) &&
  (!constraint.honoursTaints ||
    untolerated(node.taints, constraints.tolerations, ['NoSchedule', 'NoExecute']) === undefined);
