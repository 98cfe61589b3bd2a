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
  /** Hears of each node whose Pods have changed since. */
  changed(node: NodeState): void;
  /** All nodes are by now as they were before it was asked last, when it said no, and had said yes before that. */
  backOut?(): void;
}

/**
 * The quickest way to know it. Where no Pod minds who is near, a node takes a Pod or not whatever happens elsewhere. If all
 * Pods of the gang are alike, the sum of what the nodes have room for decides; otherwise where each would go, which is
 * worked out anew when a node changes that matters for it. Where somebody minds, a gang that fitted
 * is placed anew only when a change can matter; where nodes are liked in too many ways, any gang each time.
 */
export function fitOf(preemptor: Preemptor, state: ClusterState, only = state.nodes): Fit {
  if (isPlain(preemptor, state)) return new CountedFit(preemptor, state, only);
  const rankedOrSocial = isWithoutInterPodAffinity(preemptor, state) ? rankedFit : interPodFit;
  return rankedOrSocial(preemptor, state, only) ?? new TriedFit(preemptor, state, only);
}

/** Whether more room can never hurt: then what fits with more Pods removed is known from what fits with fewer. */
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

/** Whether neither the gang's Pods nor anybody who could be near one of them minds it, also those who are away for now. */
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
    // Looked at anew each time.
  }
}

class CountedFit implements Fit {
  readonly #preemptor: Preemptor;
  readonly #state: ClusterState;
  /** Room by node; -1 for those that do not take such Pods. */
  readonly #room = new Map<NodeState, number>();
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
      this.#room.set(node, 0);
      this.#stale.add(node);
    }
  }

  fits(): boolean {
    const [pod] = this.#preemptor.pods;
    if (pod === undefined) return true;
    for (const node of this.#stale) {
      const room = nodePorts.filterFor(pod)?.(node) === undefined ? slots(pod, node, this.#state) : 0;
      this.#total += room - (this.#room.get(node) ?? 0);
      this.#room.set(node, room);
    }
    this.#stale.clear();
    const [minimum] = this.#preemptor.minimums;
    return this.#total >= (minimum?.count ?? 0);
  }

  changed(node: NodeState): void {
    if (this.#room.has(node)) this.#stale.add(node);
  }
}

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
