import type { ClusterState } from '../cluster-state.ts';
import type { NodeState } from '../node-state.ts';
import type { HostPort, Pod } from '../snapshot.ts';
import type { Filter, Predicate } from './predicate.ts';

const NO_FREE_PORTS = ["node(s) didn't have free ports for the requested pod ports"];

export const nodePorts = {
  name: 'NodePorts',
  filterFor: ({ constraints: { ports } }: Pod): Filter | undefined =>
    ports.length === 0
      ? undefined
      : (node: NodeState) => {
          for (const other of node.pods)
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
      if (node.pods.size + 1 > node.mostPods) messages = ['Too many pods'];
      for (const amount of asked)
        if (amount.count > node.free(amount)) (messages ??= []).push(`Insufficient ${amount.name}`);
      return messages;
    };
  },
};

/** How many more Pods like this one the node has room for, by resources and ports alone. */
export function slots(pod: Pod, node: NodeState, state: ClusterState): number {
  let most = node.mostPods - node.pods.size;
  for (const amount of state.amountsOf(pod))
    most = Math.min(most, Math.floor(node.free(amount) / amount.count));
  if (pod.constraints.ports.length > 0 && most > 1) most = 1;
  return Math.max(most, 0);
}
