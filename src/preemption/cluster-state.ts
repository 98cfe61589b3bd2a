import type { Node, Pod, Resources, Snapshot } from './snapshot.ts';

/** A node with the Pods that are on it in thought. */
export class NodeState {
  readonly node: Node;
  readonly index: number;
  readonly pods = new Set<Pod>();
  /** What its Pods ask for together. */
  readonly used = new Map<string, number>();
  /** As scores count it. */
  scoredCpu = 0;
  scoredMemory = 0;

  constructor(node: Node, index: number) {
    this.node = node;
    this.index = index;
  }

  /** What is left of a resource; less than nothing on a node that is overcommitted. */
  free(resource: string): number {
    return (this.node.allocatable.get(resource) ?? 0) - (this.used.get(resource) ?? 0);
  }

  count(pod: Pod, sign: 1 | -1): void {
    for (const [name, amount] of pod.requests)
      this.used.set(name, (this.used.get(name) ?? 0) + sign * amount);
    this.scoredCpu += sign * pod.scored.cpu;
    this.scoredMemory += sign * pod.scored.memory;
  }
}

/**
 * The snapshot as something to try things out on: Pods are put on nodes and taken off again. Nothing of the snapshot
 * itself changes.
 */
export class ClusterState {
  readonly nodes: readonly NodeState[];
  readonly byName: ReadonlyMap<string, NodeState>;
  readonly namespaces: Snapshot['namespaces'];
  /** Pods on nodes that want to be away from others, with their node: they judge every newcomer. */
  readonly wantingDistance = new Map<Pod, NodeState>();

  constructor({ nodes, namespaces, pods }: Pick<Snapshot, 'nodes' | 'namespaces' | 'pods'>) {
    this.nodes = nodes.map((node, index) => new NodeState(node, index));
    this.byName = new Map(this.nodes.map((state) => [state.node.name, state]));
    this.namespaces = namespaces;
    for (const pod of pods) this.putBack(pod);
  }

  put(pod: Pod, node: NodeState): void {
    if (node.pods.has(pod)) return;
    node.pods.add(pod);
    node.count(pod, 1);
    if (pod.constraints.antiAffinity.length > 0) this.wantingDistance.set(pod, node);
  }

  take(pod: Pod, node: NodeState): void {
    if (!node.pods.delete(pod)) return;
    node.count(pod, -1);
    this.wantingDistance.delete(pod);
  }

  /** A Pod of the snapshot on the node that it runs on; one whose node is gone is nowhere. */
  putBack(pod: Pod): void {
    const node = this.byName.get(pod.nodeName);
    if (node !== undefined) this.put(pod, node);
  }

  takeAway(pod: Pod): void {
    const node = this.byName.get(pod.nodeName);
    if (node !== undefined) this.take(pod, node);
  }
}

/** Whether both ask for the same. */
export function sameResources(a: Resources, b: Resources): boolean {
  if (a.size !== b.size) return false;
  for (const [name, count] of a) if (b.get(name) !== count) return false;
  return true;
}
