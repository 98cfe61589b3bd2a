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

/** Answers whether a preemptor fits the present state. */
export interface Fit {
  fits(): boolean;
  /** Called for each node whose Pods have changed since the last answer. */
  changed(node: NodeState): void;
  /** Called after a "no" that followed a "yes", once all nodes are again as they were at the "yes". */
  backOut?(): void;
}

/**
 * Chooses the fastest way to tell whether the gang fits. Every way gives the answer that placing the gang would give.
 *
 * 1. Without inter-Pod constraints, whether a node takes a Pod does not depend on other nodes. If all Pods are alike as
 *    well, the sum of the nodes' capacities decides: {@link CountedFit}.
 * 2. If the Pods differ, it matters where each Pod goes. The placement is remembered, and computed again only when a node
 *    changes that could have been chosen: {@link RankedFit}.
 * 3. With inter-Pod constraints, a gang that fitted is placed again only when a change can matter: `interPodFit`.
 * 4. If nodes are preferred in too many different ways, the gang is placed each time: {@link TriedFit}.
 */
export function fitOf(preemptor: Preemptor, state: ClusterState, only = state.nodes): Fit {
  if (isPlain(preemptor, state)) return new CountedFit(preemptor, state, only);
  const fit = isWithoutInterPodAffinity(preemptor, state) ? rankedFit : interPodFit;
  return fit(preemptor, state, only) ?? new TriedFit(preemptor, state, only);
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

/**
 * Whether neither the gang's Pods nor any Pod of the snapshot, on a node now or not, has inter-Pod affinity or anti-affinity
 * that concerns the gang.
 */
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
    // Nothing to do: this way remembers nothing.
  }
}

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
 * @returns undefined where nodes are preferred in too many different ways
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
