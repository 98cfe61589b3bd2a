import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { kindsOf, isAlike, type Pod } from './snapshot.ts';
import { hasOwnInterPodConstraints, placeNeeded, undo } from './place.ts';
import { fixedPredicates, judgeFor } from './predicates/predicates.ts';
import { nodePorts, slots } from './predicates/node-predicates.ts';
import type { Preemptor } from './preemptor.ts';
import { termTakes } from './selectors.ts';
import { interPodFit } from './inter-pod-fit.ts';
import { Placer, type Placed, type GangToPlace } from './placer.ts';
import { RankedKind } from './ranked-kind.ts';

/** Whether a preemptor fits the state as it is at the moment of asking. */
export interface Fit {
  fits(): boolean;
  /** Called for each node whose Pods have changed since. */
  changed(node: NodeState): void;
  /** All nodes are by now as they were before it was asked last, when it said no, and had said yes before that. */
  backOut?(): void;
}

/**
 * Chooses the quickest way to know whether the gang fits. All of them give the answer that placing it would give.
 *
 * 1. Without inter-Pod constraints a node takes a Pod or not, whatever happens elsewhere. If all Pods are alike as well, the
 *    sum of the nodes' capacities decides: {@link CountedFit}.
 * 2. If they differ, it matters where each goes. That is remembered, and worked out again only when a node changes that could
 *    have been chosen: {@link RankedFit}.
 * 3. With inter-Pod constraints, a gang that fitted is placed again only when a change can matter: `interPodFit`.
 * 4. If nodes are preferred in too many different ways, the gang is placed each time: {@link TriedFit}.
 */
export function fitOf(preemptor: Preemptor, state: ClusterState, only = state.nodes): Fit {
  if (isPlain(preemptor, state)) return new CountedFit(preemptor, state, only);
  const fit = isWithoutInterPodAffinity(preemptor, state) ? rankedFit : interPodFit;
  return fit(preemptor, state, only) ?? new TriedFit(preemptor, state, only);
}

/** Whether more capacity can never hurt, so that a gang that fits still fits once more Pods are removed. */
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

/** Whether neither the gang's Pods nor any Pod of the snapshot, removed for now or not, has inter-Pod constraints that concern the gang. */
function isWithoutInterPodAffinity({ pods }: Preemptor, { distances, namespaces }: ClusterState): boolean {
  if (pods.some(hasOwnInterPodConstraints)) return false;
  for (const terms of distances)
    if (terms.some((term) => pods.some((pod) => termTakes(term, pod, namespaces)))) return false;
  return true;
}

class TriedFit implements Fit {
  readonly #preemptor: Preemptor;
  readonly #state: ClusterState;
  readonly #only: readonly NodeState[];

  constructor(preemptor: Preemptor, state: ClusterState, only: readonly NodeState[]) {
    this.#preemptor = preemptor;
    this.#state = state;
    this.#only = only;
  }

  fits(): boolean {
    const placement = placeNeeded(this.#preemptor, this.#state, this.#only);
    undo(placement, this.#state);
    return placement.fits;
  }

  changed(): void {
    // Nothing is remembered.
  }
}

class CountedFit implements Fit {
  readonly #preemptor: Preemptor;
  readonly #state: ClusterState;
  /** Capacity by node, of nodes that take such Pods. */
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
 * Ranks the nodes for each kind of Pod and remembers where the Pods went. They are placed again only when one of those nodes
 * changes, or another that would be chosen by now.
 * @returns undefined where nodes are preferred in too many ways
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
