import { untolerated } from '../../k8s/taints.ts';
import { someTermHolds } from '../selectors.ts';
import type { Constraints, Node, HostPort, Pod } from '../snapshot.ts';
import type { Predicate, Filter } from './predicate.ts';
import type { ClusterState } from '../cluster-state.ts';
import type { NodeState } from '../node-state.ts';

/** A predicate that depends on the node and the Pod's template alone, so its result is kept per node and template. */
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

/** Whether a node matches a Pod's node selector and required node affinity. */
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

const NO_FREE_PORTS = ["node(s) didn't have free ports for the requested pod ports"];

export const nodePorts = {
  name: 'NodePorts',
  filterFor: ({ constraints: { ports } }: Pod): Filter | undefined =>
    ports.length === 0
      ? undefined
      : (node: NodeState) => {
          for (const other of node.pods())
            if (other.constraints.ports.some((taken) => ports.some((port) => clash(port, taken))))
              return NO_FREE_PORTS;
          return undefined;
        },
} satisfies Predicate;

const EVERYWHERE = '0.0.0.0';

const clash = (a: HostPort, b: HostPort): boolean =>
  a.port === b.port &&
  a.protocol === b.protocol &&
  (a.ip === b.ip || a.ip === EVERYWHERE || b.ip === EVERYWHERE);

export const nodeResourcesFit: Predicate = {
  name: 'NodeResourcesFit',
  filterFor: (pod, state) => {
    const asked = state.amountsOf(pod);
    return (node) => {
      let messages: string[] | undefined;
      if (node.size + 1 > node.mostPods) messages = ['Too many pods'];
      for (const amount of asked)
        if (amount.count > node.free(amount)) (messages ??= []).push(`Insufficient ${amount.name}`);
      return messages;
    };
  },
};

/** How many more Pods like this one fit on the node, by resources and host ports alone. */
export function slots(pod: Pod, node: NodeState, state: ClusterState): number {
  let most = node.mostPods - node.size;
  for (const amount of state.amountsOf(pod))
    most = Math.min(most, Math.floor(node.free(amount) / amount.count));
  if (pod.constraints.ports.length > 0 && most > 1) most = 1;
  return Math.max(most, 0);
}
