import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { hasOwnInterPodConstraints, type PodPlacement } from './place.ts';
import type { Predicate } from './predicates/predicate.ts';
import { judgeFor, ownPredicates, predicatesButAffinity, skipsAffinity } from './predicates/predicates.ts';
import { selects, termTakes } from './selectors.ts';
import type { Constraints, Pod } from './snapshot.ts';
import type { PreemptionUnit } from './units.ts';

/** The preemptor's Pods on the nodes where they are assumed, while units are put back one by one. */
export class Assumed {
  readonly #nodes: PodPlacement['nodes'];
  readonly #state: ClusterState;
  readonly #onNode = new Map<string, Pod[]>();
  readonly #order = new Map<Pod, number>();
  /** One of the preemptor's Pods for each set of inter-Pod constraints. */
  readonly #constrained: readonly Pod[];
  /** Whether each Pod is judged with only the Pods placed before it, as when it was placed. */
  readonly #inTurn: boolean;
  /** Pods for which kube-scheduler skips inter-Pod affinity when it judges Pods in turn. */
  readonly #skipping = new Set<Pod>();
  /** Whether all Pods could stay before any unit was put back. */
  readonly #clean: boolean;

  constructor({ nodes }: Pick<PodPlacement, 'nodes'>, state: ClusterState, { inTurn = false } = {}) {
    this.#nodes = nodes;
    this.#state = state;
    this.#inTurn = inTurn;
    const constrained = new Map<Constraints, Pod>();
    for (const [pod, { node }] of nodes) {
      this.#onNode.getOrInsert(node.name, []).push(pod);
      this.#order.set(pod, this.#order.size);
      if (hasOwnInterPodConstraints(pod)) constrained.set(pod.constraints, pod);
    }
    this.#constrained = [...constrained.values()];
    if (inTurn)
      this.#eachInTurn((pod) => {
        if (skipsAffinity(pod, state)) this.#skipping.add(pod);
      });
    // Pods that are judged in turn could stay: they were placed in the same order.
    this.#clean = inTurn || this.#first(nodes.keys()) === undefined;
  }

  /**
   * Why the preemptor's Pods cannot stay now that `unit` is back on its nodes: the first reason; undefined where they can.
   * Only the preemptor's Pods are judged, since running Pods keep running.
   */
  clashWith(unit: PreemptionUnit): string | undefined {
    // A Pod of the unit affects other nodes only by inter-Pod constraints, its own or the preemptor's.
    if (this.#constrained.length === 0 && !this.#state.wanted.some) {
      for (const { nodeName } of unit.pods) {
        const clash = this.#first(this.#onNode.get(nodeName) ?? []);
        if (clash !== undefined) return clash;
      }
      return undefined;
    }
    if (!this.#clean || unit.pods.some((pod) => this.#mattersElsewhere(pod)))
      return this.#inTurn ? this.#firstInTurn(this.#skipping) : this.#first(this.#nodes.keys());
    const near = new Set(unit.pods.flatMap(({ nodeName }) => this.#onNode.get(nodeName) ?? []));
    const inOrder = [...near].sort((a, b) => (this.#order.get(a) ?? 0) - (this.#order.get(b) ?? 0));
    // No inter-Pod constraint of the preemptor is affected.
    return this.#first(inOrder, this.#inTurn ? ownPredicates : undefined);
  }

  /** Whether the Pod can affect Pods on other nodes. */
  #mattersElsewhere(pod: Pod): boolean {
    if (pod.constraints.antiAffinity.length > 0) return true;
    return this.#constrained.some(
      ({ namespace, constraints: { affinity, antiAffinity, spread } }) =>
        [...affinity, ...antiAffinity].some((term) => termTakes(term, pod, this.#state.namespaces)) ||
        (pod.namespace === namespace && spread.some(({ selector }) => selects(selector, pod.labels))),
    );
  }

  #first(pods: Iterable<Pod>, list?: readonly Predicate[]): string | undefined {
    for (const pod of pods) {
      const node = this.#nodes.get(pod);
      if (node === undefined) continue;
      this.#state.take(pod, node);
      const clash = this.#clashOn(pod, node, list);
      this.#state.put(pod, node);
      if (clash !== undefined) return clash;
    }
    return undefined;
  }

  /** The first reason why a Pod cannot stay, with inter-Pod affinity checked for all Pods. */
  clash(): string | undefined {
    return this.#firstInTurn(new Set());
  }

  #firstInTurn(skipping: ReadonlySet<Pod>): string | undefined {
    let clash: string | undefined;
    this.#eachInTurn((pod, node) => {
      clash ??= this.#clashOn(pod, node, skipping.has(pod) ? predicatesButAffinity : undefined);
    });
    return clash;
  }

  /** Calls `look` for each Pod while only the Pods placed before it are in place. */
  #eachInTurn(look: (pod: Pod, node: NodeState) => void): void {
    for (const [pod, node] of this.#nodes) this.#state.take(pod, node);
    for (const [pod, node] of this.#nodes) {
      look(pod, node);
      this.#state.put(pod, node);
    }
  }

  #clashOn(pod: Pod, node: NodeState, list?: readonly Predicate[]): string | undefined {
    const rejection = judgeFor(pod, this.#state, list)(node);
    if (rejection === undefined) return undefined;
    return `with it in place ${pod.key} does not fit on ${node.node.name}: ${rejection.messages.join(', ')}`;
  }
}
