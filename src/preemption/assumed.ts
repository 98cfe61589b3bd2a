import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { hasOwnInterPodConstraints, type PodPlacement } from './place.ts';
import type { Predicate } from './predicates/predicate.ts';
import { judgeFor, ownPredicates, predicatesButAffinity, skipsAffinity } from './predicates/predicates.ts';
import { selects, termTakes } from './selectors.ts';
import type { Constraints, Pod } from './snapshot.ts';
import type { PreemptionUnit } from './units.ts';

/** The preemptor's Pods on the nodes where they are assumed, beside which units are put back one by one. */
export class Assumed {
  readonly #nodes: PodPlacement['nodes'];
  readonly #state: ClusterState;
  readonly #onNode = new Map<string, Pod[]>();
  readonly #order = new Map<Pod, number>();
  /** One Pod for each set of inter-Pod constraints. */
  readonly #constrained: readonly Pod[];
  /** Whether each is judged with those before it alone, as it was when it was placed. */
  readonly #inTurn: boolean;
  /** Pods for which kube-scheduler skips inter-Pod affinity, judged in turn. */
  readonly #skipping = new Set<Pod>();
  /** Whether all of them could stay before any unit was put back. */
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
    // In turn they could: so they were placed.
    this.#clean = inTurn || this.#first(nodes.keys()) === undefined;
  }

  /**
   * Whether the preemptor's Pods can stay now that `unit` is back on its nodes: undefined, or the first reason against
   * it. Only the preemptor is judged: what ran before it runs on.
   */
  clashWith(unit: PreemptionUnit): string | undefined {
    // A Pod of the unit matters on other nodes only by inter-Pod constraints, its own or the preemptor's.
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
    // Nothing has changed for inter-Pod constraints.
    return this.#first(inOrder, this.#inTurn ? ownPredicates : undefined);
  }

  /** Whether the Pod can matter on other nodes. */
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

  /** The first reason why a Pod cannot stay after all, whatever was skipped. */
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

  /** Each with those before it in place alone. */
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
