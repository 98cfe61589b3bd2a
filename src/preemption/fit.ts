import { sameResources, type ClusterState, type NodeState } from './cluster-state.ts';
import { mindsOthers, place, undo } from './place.ts';
import { fixedPredicates, judgeFor } from './predicates/predicates.ts';
import { nodePorts, slots } from './predicates/resource-predicates.ts';
import type { Preemptor } from './preemptor.ts';

/** Whether a preemptor fits the state as it is at the moment of asking. */
export interface Fit {
  fits(): boolean;
  /** Hears of each node whose Pods have changed since. */
  changed(node: NodeState): void;
}

/**
 * The quickest way to know it. Where all Pods of the gang are alike and no Pod anywhere minds who is near, a node has
 * room for a number of them whatever happens elsewhere: the sum decides, and a Pod that comes or goes changes one term
 * of it. Otherwise the gang is placed anew each time.
 */
export function fitOf(preemptor: Preemptor, state: ClusterState, only = state.nodes): Fit {
  return isPlain(preemptor, state)
    ? new CountedFit(preemptor, state, only)
    : new TriedFit(preemptor, state, only);
}

/** Whether more room can never hurt: then what fits with more Pods removed is known from what fits with fewer. */
export function isPlain({ pods, minimums }: Preemptor, state: ClusterState): boolean {
  const [first] = pods;
  const [minimum] = minimums;
  if (first === undefined || minimum === undefined || minimums.length > 1) return false;
  if (state.wantingDistance.size > 0) return false;
  if (mindsOthers(first)) return false;
  return pods.every(
    ({ constraints, requests, group }) =>
      constraints === first.constraints &&
      sameResources(requests, first.requests) &&
      (minimum.group === undefined || minimum.group === group),
  );
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
    const placement = place(this.#preemptor, this.#state, this.#only);
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
