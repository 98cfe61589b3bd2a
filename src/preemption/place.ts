import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { isAlike, type Pod } from './snapshot.ts';
import type { Predicate } from './predicates/predicate.ts';
import { judgeFor, ownPredicates, interPodPredicates, type Rejection } from './predicates/predicates.ts';
import { UnmetMinimums, type Preemptor } from './preemptor.ts';
import { Scores } from './scores.ts';
import type { ChosenDomain } from './topology.ts';

/** The node of each Pod of a gang, and why the first Pod without a node has none. */
export interface PodPlacement {
  /** Whether every minimum is met. */
  readonly fits: boolean;
  readonly nodes: ReadonlyMap<Pod, NodeState>;
  /** Pods without a node. */
  readonly without: readonly Pod[];
  /** The reason of every node, for the first Pod without a node. */
  readonly rejected: readonly Rejection[];
  /** The domain of all Pods, where they must be in one. */
  readonly domain?: ChosenDomain;
}

/**
 * Places the Pods one after the other, each where kube-scheduler would put it with the earlier ones in place: first the Pods
 * that the minimums need, then the others where they fit. The Pods stay on their nodes in `state`; {@link undo} takes them
 * off.
 * @param only the nodes that may be used; by default all
 */
export function place(
  preemptor: Pick<Preemptor, 'pods' | 'minimums'>,
  state: ClusterState,
  only: readonly NodeState[] = state.nodes,
): PodPlacement {
  return placeOthers(placeNeeded(preemptor, state, only), preemptor, state, only);
}

/**
 * Places as many Pods as the minimums need. No victim is evicted for more.
 * @param only the nodes that may be used, of all Pods or of each; the same for Pods with the same constraints
 */
export function placeNeeded(
  { pods, minimums }: Pick<Preemptor, 'pods' | 'minimums'>,
  state: ClusterState,
  only: readonly NodeState[] | ((pod: Pod) => readonly NodeState[]) = state.nodes,
): PodPlacement {
  const needs = new UnmetMinimums(minimums);
  const placed = placeEach(pods, { state, only, wants: (pod) => needs.wants(pod) }, (pod) => needs.met(pod));
  return { ...placed, fits: needs.areMet };
}

/** Places the Pods that {@link placeNeeded} did not try, beside those that it did place. */
export function placeOthers(
  needed: PodPlacement,
  { pods }: Pick<Preemptor, 'pods'>,
  state: ClusterState,
  only: readonly NodeState[] = state.nodes,
): PodPlacement {
  const tried = new Set([...needed.nodes.keys(), ...needed.without]);
  if (tried.size === pods.length) return needed;
  const others = placeEach(pods, { state, only, wants: (pod) => !tried.has(pod) });
  return {
    fits: needed.fits,
    nodes: new Map([...needed.nodes, ...others.nodes]),
    without: [...needed.without, ...others.without],
    rejected: needed.without.length > 0 ? needed.rejected : others.rejected,
  };
}

function placeEach(
  pods: readonly Pod[],
  given: {
    readonly state: ClusterState;
    readonly only: readonly NodeState[] | ((pod: Pod) => readonly NodeState[]);
    readonly wants: (pod: Pod) => boolean;
  },
  placed?: (pod: Pod) => void,
): Omit<PodPlacement, 'fits'> {
  const { state, only, wants } = given;
  const nodes = new Map<Pod, NodeState>();
  const without: Pod[] = [];
  let rejected: readonly Rejection[] = [];
  // Candidates for each kind of Pod, kept while they are valid for the next Pod.
  let kinds: Candidates[] = [];
  for (const pod of pods) {
    if (!wants(pod)) continue;
    let candidates = kinds.find((one) => one.isFor(pod));
    if (candidates?.turnsTo(pod) !== true) {
      kinds = kinds.filter((one) => one !== candidates);
      candidates = new Candidates(pod, state, typeof only === 'function' ? only(pod) : only);
      kinds.push(candidates);
    }
    const best = candidates.best();
    if (best === undefined) {
      if (without.length === 0) rejected = candidates.refusals();
      without.push(pod);
    } else {
      state.put(pod, best);
      nodes.set(pod, best);
      placed?.(pod);
      for (const one of kinds) one.took(best);
    }
  }
  return { nodes, without, rejected };
}

/** Takes the Pods of a placement off their nodes. */
export function undo({ nodes }: Pick<PodPlacement, 'nodes'>, state: ClusterState): void {
  for (const [pod, node] of nodes) state.take(pod, node);
}

/** Puts the Pods of a placement back on their nodes. */
export function redo({ nodes }: Pick<PodPlacement, 'nodes'>, state: ClusterState): void {
  for (const [pod, node] of nodes) state.put(pod, node);
}

/**
 * The nodes that take a Pod, with their scores. They serve all Pods of the same kind: after a Pod is placed only its node is
 * scored again. Inter-Pod constraints are judged anew for each Pod, from the best score down.
 */
class Candidates {
  #pod: Pod;
  readonly #state: ClusterState;
  readonly #only: readonly NodeState[];
  readonly #scores: Scores;
  /** Whether inter-Pod constraints have to be judged as well. */
  readonly #interPod: boolean;

  constructor(pod: Pod, state: ClusterState, only: readonly NodeState[]) {
    this.#pod = pod;
    this.#state = state;
    this.#only = only;
    const scored = (list?: readonly Predicate[]): Scores => {
      const judge = judgeFor(pod, state, list);
      const nodes = only.filter((node) => judge(node) === undefined);
      return new Scores(pod, nodes, state);
    };
    const own = hasInterPodConstraints(pod, state) ? scored(ownPredicates) : undefined;
    this.#interPod = own?.apart === true;
    this.#scores = own !== undefined && this.#interPod ? own : scored();
  }

  isFor(pod: Pod): boolean {
    return pod.nodeName === this.#pod.nodeName && isAlike(pod, this.#pod);
  }

  /** Switches to another Pod for which {@link isFor} holds. @returns whether that is possible */
  turnsTo(pod: Pod): boolean {
    if (this.#interPod !== hasInterPodConstraints(pod, this.#state)) return false;
    this.#pod = pod;
    return true;
  }

  /** The best node for the Pod. Where kube-scheduler would choose at random, the first by name. */
  best(): NodeState | undefined {
    if (!this.#interPod) return this.#scores.best()[0];
    const judge = judgeFor(this.#pod, this.#state, interPodPredicates);
    return this.#scores.best((node) => judge(node) === undefined)[0];
  }

  /** Called when a Pod of any kind was placed on the node. */
  took(node: NodeState): void {
    const list = this.#interPod ? ownPredicates : undefined;
    this.#scores.changed(node, judgeFor(this.#pod, this.#state, list)(node) === undefined);
  }

  /** The reason of every node, where no node takes the Pod. */
  refusals(): Rejection[] {
    const judge = judgeFor(this.#pod, this.#state);
    return this.#only.flatMap((node) => judge(node) ?? []);
  }
}

/** Whether the Pod has inter-Pod constraints, or some Pod on a node has anti-affinity. */
const hasInterPodConstraints = (pod: Pod, { wanted }: ClusterState): boolean =>
  hasOwnInterPodConstraints(pod) || wanted.some;

/** Whether the Pod itself has inter-Pod constraints. */
export const hasOwnInterPodConstraints = ({
  constraints: { affinity, antiAffinity, spread },
}: Pod): boolean => affinity.length + antiAffinity.length + spread.length > 0;
