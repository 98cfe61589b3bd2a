import type { ClusterState, NodeState } from '../cluster-state.ts';
import { termTakes } from '../selectors.ts';
import type { Pod, PodTerm } from '../snapshot.ts';
import type { Filter, Predicate } from './predicate.ts';

const OTHERS_REFUSE = ["node(s) didn't satisfy existing pods anti-affinity rules"];
const NO_COMPANY = ["node(s) didn't match pod affinity rules"];
const TOO_CLOSE = ["node(s) didn't match pod anti-affinity rules"];

/** Values of a topology key where some Pod is. */
class Places {
  readonly #values = new Map<string, Set<string>>();

  add(key: string, node: NodeState): void {
    const value = node.node.labels.get(key);
    if (value === undefined) return;
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, new Set([value]));
    else values.add(value);
  }

  has(key: string, node: NodeState): boolean {
    const value = node.node.labels.get(key);
    return value !== undefined && this.#values.get(key)?.has(value) === true;
  }

  hasSome(node: NodeState): boolean {
    for (const key of this.#values.keys()) if (this.has(key, node)) return true;
    return false;
  }

  get empty(): boolean {
    return this.#values.size === 0;
  }
}

/** Required affinity and anti-affinity between Pods, both ways. */
export const interPodAffinity: Predicate = {
  name: 'InterPodAffinity',
  filterFor: (pod, state) => {
    const { affinity, antiAffinity } = pod.constraints;
    const refused = whereOthersRefuse(pod, state);
    if (affinity.length + antiAffinity.length === 0)
      return refused.empty ? undefined : (node) => (refused.hasSome(node) ? OTHERS_REFUSE : undefined);
    return withOwnTerms(pod, state, refused);
  },
};

function whereOthersRefuse(pod: Pod, state: ClusterState): Places {
  const refused = new Places();
  for (const [other, node] of state.wantingDistance) {
    if (other === pod) continue;
    for (const term of other.constraints.antiAffinity)
      if (termTakes(term, pod, state.namespaces)) refused.add(term.topologyKey, node);
  }
  return refused;
}

function withOwnTerms(pod: Pod, state: ClusterState, refused: Places): Filter {
  const { affinity, antiAffinity } = pod.constraints;
  const takes = (term: PodTerm, other: Pod): boolean => termTakes(term, other, state.namespaces);
  const company = affinity.map(() => new Places());
  const close = antiAffinity.map(() => new Places());
  if (affinity.length > 0)
    // Company is a Pod that all terms of the affinity speak of.
    for (const [other, node] of state.those(affinity, '', (one) =>
      affinity.every((term) => takes(term, one)),
    ))
      if (other !== pod) affinity.forEach((term, index) => company[index]?.add(term.topologyKey, node));
  antiAffinity.forEach((term, index) => {
    for (const [other, node] of state.those(term, '', (one) => takes(term, one)))
      if (other !== pod) close[index]?.add(term.topologyKey, node);
  });
  // The first of several Pods that want to be together finds nobody, and may go where the topology is known.
  const first = company.every((places) => places.empty) && affinity.every((term) => takes(term, pod));
  return (node) => {
    const alone = affinity.some(
      (term, index) =>
        !node.node.labels.has(term.topologyKey) ||
        !(first || company[index]?.has(term.topologyKey, node) === true),
    );
    if (alone) return NO_COMPANY;
    if (antiAffinity.some((term, index) => close[index]?.has(term.topologyKey, node) === true))
      return TOO_CLOSE;
    return refused.hasSome(node) ? OTHERS_REFUSE : undefined;
  };
}
