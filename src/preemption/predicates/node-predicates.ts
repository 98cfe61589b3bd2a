import { untolerated } from '../../k8s/taints.ts';
import { someTermHolds } from '../selectors.ts';
import type { Constraints, Node } from '../snapshot.ts';
import type { Predicate } from './predicate.ts';

/** What only the node and the Pod's template decide, whoever else is there: worked out once for both. */
interface FixedRule {
  readonly name: string;
  readonly message: string;
  readonly allows: (constraints: Constraints, node: Node) => boolean;
}

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };

export const nodeUnschedulable = fixed({
  name: 'NodeUnschedulable',
  message: 'node(s) were unschedulable',
  allows: ({ tolerations }, node) =>
    !node.unschedulable || untolerated([UNSCHEDULABLE], tolerations, ['NoSchedule']) === undefined,
});

export const taintToleration = fixed({
  name: 'TaintToleration',
  message: 'node(s) had untolerated taint(s)',
  allows: ({ tolerations }, node) =>
    untolerated(node.taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined,
});

export const nodeAffinity = fixed({
  name: 'NodeAffinity',
  message: "node(s) didn't match Pod's node affinity/selector",
  allows: matchesAffinity,
});

export const volumeBinding = fixed({
  name: 'VolumeBinding',
  message: "node(s) didn't match PersistentVolume's node affinity",
  allows: ({ volumeNodes }, node) => volumeNodes.every((terms) => someTermHolds(terms, node)),
});

/** Node selector and required node affinity. */
export function matchesAffinity({ nodeSelector, requiredNodes }: Constraints, node: Node): boolean {
  for (const [key, value] of nodeSelector) if (node.labels.get(key) !== value) return false;
  return requiredNodes === undefined || someTermHolds(requiredNodes, node);
}

function fixed({ name, message, allows }: FixedRule): Predicate {
  const messages = [message];
  const judged = new WeakMap<Constraints, WeakMap<Node, boolean>>();
  return {
    name,
    filterFor: ({ constraints }) => {
      let known = judged.get(constraints);
      if (known === undefined) judged.set(constraints, (known = new WeakMap()));
      const verdicts = known;
      return ({ node }) => {
        let allowed = verdicts.get(node);
        if (allowed === undefined) verdicts.set(node, (allowed = allows(constraints, node)));
        return allowed ? undefined : messages;
      };
    },
  };
}
