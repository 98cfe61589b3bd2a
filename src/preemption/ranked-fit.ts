import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { isAlike, kindsOf } from './kinds.ts';
import { Needs, type Preemptor } from './preemptor.ts';
import { RankedKind } from './ranked-kind.ts';
import type { Pod } from './snapshot.ts';

/**
 * Says what placing the gang would say. Of each kind of Pod the nodes stand in a ranking; where the Pods went is remembered,
 * and looked at again only when one of those nodes changes, or another that is by now better than one of them.
 * @returns undefined where nodes are liked in too many ways
 */
export function rankedFit(
  { pods, minimums }: Pick<Preemptor, 'pods' | 'minimums'>,
  state: ClusterState,
  nodes: readonly NodeState[],
): RankedFit | undefined {
  const kinds = new Map<Pod, RankedKind>();
  for (const first of kindsOf(pods)) {
    const kind = RankedKind.of(first, state, nodes);
    if (kind === undefined) return undefined;
    for (const pod of pods) if (isAlike(first, pod)) kinds.set(pod, kind);
  }
  return new RankedFit({ pods, minimums }, { state, nodes, kinds });
}

class RankedFit {
  readonly #preemptor: Pick<Preemptor, 'pods' | 'minimums'>;
  readonly #state: ClusterState;
  readonly #nodes: readonly NodeState[];
  readonly #index: ReadonlyMap<NodeState, number>;
  readonly #kindOf: ReadonlyMap<Pod, RankedKind>;
  readonly #kinds: readonly RankedKind[];
  readonly #changed = new Set<NodeState>();
  /** Where the Pods went. */
  readonly #chosen = new Set<NodeState>();
  #fits: boolean;

  constructor(
    preemptor: Pick<Preemptor, 'pods' | 'minimums'>,
    given: {
      readonly state: ClusterState;
      readonly nodes: readonly NodeState[];
      readonly kinds: ReadonlyMap<Pod, RankedKind>;
    },
  ) {
    this.#preemptor = preemptor;
    this.#state = given.state;
    this.#nodes = given.nodes;
    this.#index = new Map(given.nodes.map((node, index) => [node, index]));
    this.#kindOf = given.kinds;
    this.#kinds = [...new Set(given.kinds.values())];
    this.#fits = this.#placed();
  }

  fits(): boolean {
    let matters = false;
    for (const node of this.#changed) {
      const isFelt = this.#isFelt(node);
      matters ||= isFelt || this.#chosen.has(node);
    }
    this.#changed.clear();
    if (matters) this.#fits = this.#placed();
    return this.#fits;
  }

  changed(node: NodeState): void {
    if (this.#index.has(node)) this.#changed.add(node);
  }

  /** Whether a Pod of some kind might go elsewhere by now. */
  #isFelt(node: NodeState): boolean {
    const index = this.#index.get(node) ?? 0;
    let isFelt = false;
    for (const kind of this.#kinds) if (kind.changed(index, node)) isFelt = true;
    return isFelt;
  }

  #lookAt(node: NodeState): void {
    const index = this.#index.get(node) ?? 0;
    for (const kind of this.#kinds) kind.lookAt(index, node);
  }

  /** Places one Pod after the other that is needed, as it is done for good, and takes them off again. */
  #placed(): boolean {
    const there = new Map<Pod, NodeState>();
    this.#chosen.clear();
    for (const kind of this.#kinds) kind.begin();
    const needs = new Needs(this.#preemptor.minimums);
    for (const pod of this.#preemptor.pods) {
      if (!needs.wants(pod)) continue;
      const node = this.#nodes[this.#kindOf.get(pod)?.choose() ?? -1];
      if (node === undefined) continue;
      this.#state.put(pod, node);
      there.set(pod, node);
      needs.met(pod);
      this.#chosen.add(node);
      this.#lookAt(node);
    }
    for (const [pod, node] of there) this.#state.take(pod, node);
    for (const node of this.#chosen) this.#lookAt(node);
    return needs.areMet;
  }
}
