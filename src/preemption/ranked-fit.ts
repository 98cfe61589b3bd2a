import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { isAlike, kindsOf } from './kinds.ts';
import { Placer, type Placed, type GangToPlace } from './placer.ts';
import { RankedKind } from './ranked-kind.ts';
import type { Pod } from './snapshot.ts';

/**
 * Says what placing the gang would say. Of each kind of Pod the nodes stand in a ranking; where the Pods went is remembered,
 * and looked at again only when one of those nodes changes, or another that is by now better than one of them.
 * @returns undefined where nodes are liked in too many ways
 */
export function rankedFit(
  wanting: GangToPlace,
  state: ClusterState,
  nodes: readonly NodeState[],
): RankedFit | undefined {
  const kinds = new Map<Pod, RankedKind>();
  for (const first of kindsOf(wanting.pods)) {
    const kind = RankedKind.of(first, { state, nodes });
    if (kind === undefined) return undefined;
    for (const pod of wanting.pods) if (isAlike(first, pod)) kinds.set(pod, kind);
  }
  return new RankedFit(new Placer(wanting, { state, nodes, kinds }));
}

class RankedFit {
  readonly #placer: Placer<RankedKind>;
  readonly #changed = new Set<NodeState>();
  #placed: Placed;

  constructor(placer: Placer<RankedKind>) {
    this.#placer = placer;
    this.#placed = placer.place();
  }

  fits(): boolean {
    const matters = this.#placer.changed(this.#changed, this.#placed.chosen);
    this.#changed.clear();
    if (matters) this.#placed = this.#placer.place();
    return this.#placed.fits;
  }

  changed(node: NodeState): void {
    if (this.#placer.has(node)) this.#changed.add(node);
  }
}
