import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { kindsOf, isAlike, type Pod } from './snapshot.ts';
import { hasOwnInterPodConstraints } from './place.ts';
import { fixedPredicates, judgeFor } from './predicates/predicates.ts';
import { nodePorts, slots } from './predicates/node-predicates.ts';
import type { Preemptor } from './preemptor.ts';
import { interPodFit, kindsMinding } from './inter-pod-fit.ts';
import { LimitedFit } from './limited-fit.ts';
import { Placer, type Fit, type Placed, type GangToPlace } from './placer.ts';
import { RankedKind } from './ranked-kind.ts';

/**
 * Chooses the fastest way to tell whether the gang fits. Every way gives the answer that placing the gang would give.
 *
 * 1. Without inter-Pod constraints, whether a node takes a Pod does not depend on other nodes. If all Pods are alike as
 *    well, the sum of the nodes' capacities decides: {@link CountedFit}.
 * 2. If the Pods differ, it matters where each Pod goes. The placement is remembered, and computed again only when a node
 *    changes that could have been chosen: {@link RankedFit}.
 * 3. With inter-Pod constraints of Pods of one kind, the number of Pods that each domain takes may decide: {@link LimitedFit}.
 * 4. Otherwise a gang that fitted is placed again only when a change can matter: `interPodFit`.
 */
export function fitOf(preemptor: Preemptor, state: ClusterState, only = state.nodes): Fit {
  if (isPlain(preemptor, state)) return new CountedFit(preemptor, state, only);
  if (isWithoutInterPodAffinity(preemptor, state)) return rankedFit(preemptor, state, only);
  const otherwise = (): Fit => interPodFit(preemptor, state, only);
  const isOneKind = kindsMinding(preemptor.pods, state).length === 1;
  const limited = isOneKind ? LimitedFit.of(preemptor, { state, nodes: only, otherwise }) : undefined;
  return limited ?? otherwise();
}

/** Whether removing Pods can never make the gang unfit, so that a gang that fits still fits with more Pods removed. */
export function isPlain(preemptor: Preemptor, state: ClusterState): boolean {
  const { pods, minimums } = preemptor;
  const [minimum] = minimums;
  if (minimum === undefined || minimums.length > 1) return false;
  return (
    pods.every(({ group }) => minimum.group === undefined || minimum.group === group) &&
    kindsOf(pods).length === 1 &&
    isWithoutInterPodAffinity(preemptor, state)
  );
}

/** Whether neither the gang's Pods nor any Pod of the snapshot has inter-Pod affinity or anti-affinity that concerns the gang. */
const isWithoutInterPodAffinity = (preemptor: Preemptor, state: ClusterState): boolean =>
  !preemptor.pods.some(hasOwnInterPodConstraints) && !isMinded(preemptor, state);

/** Whether some Pod of the snapshot, on a node now or not, has anti-affinity that concerns the gang. */
export const isMinded = ({ pods }: Preemptor, { wanted }: ClusterState): boolean =>
  pods.some((pod) => wanted.against(pod).byTopologyKey.size > 0);

class CountedFit implements Fit {
  readonly #preemptor: Preemptor;
  readonly #state: ClusterState;
  /** How many of the Pods each node takes, for nodes that take any. */
  readonly #capacity = new Map<NodeState, number>();
  readonly #stale = new Set<NodeState>();
  #total = 0;

  constructor(preemptor: Preemptor, state: ClusterState, only: readonly NodeState[]) {
    this.#preemptor = preemptor;
    this.#state = state;
    const [pod] = preemptor.pods;
    if (pod === undefined) return;
    const judge = judgeFor(pod, state, fixedPredicates);
    for (const node of only) {
      if (judge(node) !== undefined) continue;
      this.#capacity.set(node, 0);
      this.#stale.add(node);
    }
  }

  fits(): boolean {
    const [pod] = this.#preemptor.pods;
    if (pod === undefined) return true;
    for (const node of this.#stale) {
      const capacity = nodePorts.filterFor(pod)?.(node) === undefined ? slots(pod, node, this.#state) : 0;
      this.#total += capacity - (this.#capacity.get(node) ?? 0);
      this.#capacity.set(node, capacity);
    }
    this.#stale.clear();
    const [minimum] = this.#preemptor.minimums;
    return this.#total >= (minimum?.count ?? 0);
  }

  changed(node: NodeState): void {
    if (this.#capacity.has(node)) this.#stale.add(node);
  }
}

/**
 * Ranks the nodes for each kind of Pod, and remembers where the Pods went. The Pods are placed again only when one of those
 * nodes changes, or another node would now be chosen.
 */
function rankedFit(wanting: GangToPlace, state: ClusterState, nodes: readonly NodeState[]): RankedFit {
  const kinds = new Map<Pod, RankedKind>();
  for (const first of kindsOf(wanting.pods)) {
    const kind = RankedKind.of(first, { state, nodes });
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
