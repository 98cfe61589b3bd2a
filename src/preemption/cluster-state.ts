import { AntiAffinityTerms } from './anti-affinity-terms.ts';
import { CountedPods } from './domain-counts.ts';
import { NodeState, type Amount, type Resident } from './node-state.ts';
import type { Pod, Resources, Snapshot } from './snapshot.ts';

/** Whether a rule counts a Pod on a node. */
type Takes = (pod: Pod, node: NodeState) => boolean;

/** The Pods that a rule counts, updated as Pods come and go. */
interface Watched {
  readonly takes: Takes;
  readonly crowd: CountedPods;
}

/** A working copy of a snapshot. Pods are put on nodes and taken off, while the snapshot itself does not change. */
export class ClusterState {
  readonly nodes: readonly NodeState[];
  readonly byName: ReadonlyMap<string, NodeState>;
  readonly namespaces: Snapshot['namespaces'];
  /** Anti-affinity terms of the Pods that are on nodes. */
  readonly wanted: AntiAffinityTerms;
  /** The index of each resource, so that amounts can be kept in arrays. */
  readonly #indexes = new Map<string, number>();
  /** Amounts by the requests object, which Pods of one template share. */
  readonly #amounts = new Map<Resources, readonly Amount[]>();
  /** Looked up once, since Pods are removed and put back many times. */
  readonly #residents = new Map<Pod, Resident>();
  readonly #watched = new Map<object, Map<string, Watched>>();
  readonly #allWatched: Watched[] = [];
  readonly #nodesFor = new Map<object, Map<string, ReadonlySet<NodeState>>>();

  constructor({ nodes, namespaces, pods }: Pick<Snapshot, 'nodes' | 'namespaces' | 'pods'>) {
    for (const { requests } of pods) this.#index(requests);
    for (const { allocatable } of nodes) this.#index(allocatable);
    this.nodes = nodes.map((node) => new NodeState(node, this.#indexes));
    this.byName = new Map(this.nodes.map((state) => [state.node.name, state]));
    this.namespaces = namespaces;
    this.wanted = new AntiAffinityTerms(namespaces);
    for (const pod of pods) {
      const node = this.byName.get(pod.nodeName);
      if (node === undefined) continue;
      const resident = { pod, node, amounts: this.amountsOf(pod), here: false };
      this.#residents.set(pod, resident);
      node.residents.push(resident);
      this.putBack(pod);
    }
  }

  #index(resources: Resources): void {
    for (const name of resources.keys())
      if (!this.#indexes.has(name)) this.#indexes.set(name, this.#indexes.size);
  }

  /** The amounts that a Pod requests. A resource that no node has gets an index beyond all others, where nothing is free. */
  amountsOf({ requests }: Pick<Pod, 'requests'>): readonly Amount[] {
    const known = this.#amounts.get(requests);
    if (known !== undefined) return known;
    const amounts = [...requests].map(([name, count]) => ({ name, count, index: this.indexOf(name) }));
    this.#amounts.set(requests, amounts);
    return amounts;
  }

  indexOf(resource: string): number {
    return this.#indexes.get(resource) ?? this.#indexes.size;
  }

  /**
   * The Pods on nodes that `takes` accepts. They are searched once, and then updated as Pods come and go.
   * @param key identifies the rule, together with `of`
   */
  podsCounted(key: object, of: string, takes: Takes): CountedPods {
    const alike = this.#watched.getOrInsertComputed(key, () => new Map<string, Watched>());
    return alike.getOrInsertComputed(of, () => {
      const crowd = new CountedPods();
      for (const node of this.nodes)
        for (const pod of node.pods()) if (takes(pod, node)) crowd.put(pod, node);
      const watched = { takes, crowd };
      this.#allWatched.push(watched);
      return watched;
    }).crowd;
  }

  /** The nodes that `takes` accepts, searched once. @param key identifies the rule, together with `of` */
  nodesFor(key: object, of: string, takes: (node: NodeState) => boolean): ReadonlySet<NodeState> {
    return this.#nodesFor
      .getOrInsertComputed(key, () => new Map<string, ReadonlySet<NodeState>>())
      .getOrInsertComputed(of, () => new Set(this.nodes.filter(takes)));
  }

  /** Puts a Pod that is not in the snapshot on a node. */
  put(pod: Pod, node: NodeState): void {
    if (node.guests.has(pod)) return;
    node.guests.add(pod);
    this.#put(pod, node, this.amountsOf(pod));
  }

  take(pod: Pod, node: NodeState): void {
    if (node.guests.delete(pod)) this.#take(pod, node, this.amountsOf(pod));
  }

  /** Puts a Pod of the snapshot back on its node; does nothing where the node no longer exists. */
  putBack(pod: Pod): void {
    const resident = this.#residents.get(pod);
    if (resident === undefined || resident.here) return;
    resident.here = true;
    this.#put(pod, resident.node, resident.amounts);
  }

  takeAway(pod: Pod): void {
    const resident = this.#residents.get(pod);
    if (resident?.here !== true) return;
    resident.here = false;
    this.#take(pod, resident.node, resident.amounts);
  }

  #put(pod: Pod, node: NodeState, amounts: readonly Amount[]): void {
    node.count(pod, amounts, 1);
    this.wanted.put(pod);
    for (const { takes, crowd } of this.#allWatched) if (takes(pod, node)) crowd.put(pod, node);
  }

  #take(pod: Pod, node: NodeState, amounts: readonly Amount[]): void {
    node.count(pod, amounts, -1);
    this.wanted.take(pod);
    for (const { crowd } of this.#allWatched) crowd.take(pod);
  }
}
