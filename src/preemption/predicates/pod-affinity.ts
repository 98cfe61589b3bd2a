import type { ClusterState } from '../cluster-state.ts';
import type { NodeState } from '../node-state.ts';
import type { CountedPods, DomainCounts } from '../domain-counts.ts';
import { termTakes } from '../selectors.ts';
import type { Pod, PodAffinityTerm } from '../snapshot.ts';
import type { DomainRule, Predicate } from './predicate.ts';

const OTHERS_REFUSE = ["node(s) didn't satisfy existing pods anti-affinity rules"];
const NO_COMPANY = ["node(s) didn't match pod affinity rules"];
const TOO_CLOSE = ["node(s) didn't match pod anti-affinity rules"];

/** The domains of a topology key in which counted Pods run, without the Pod that is judged. */
class Places {
  readonly counts: DomainCounts;
  /** The domain in which the judged Pod itself is counted. */
  readonly #own: string | undefined;

  /** Whether the judged Pod counts as well once it is on a node. */
  readonly takesItself: () => boolean;

  /** @param takes which Pods `crowd` counts */
  constructor(crowd: CountedPods, topologyKey: string, pod: Pod, takes: (pod: Pod) => boolean) {
    this.takesItself = () => takes(pod);
    this.counts = crowd.by(topologyKey);
    const node = crowd.nodeOf(pod);
    this.#own = node && this.counts.valueOf(node);
  }

  has(node: NodeState): boolean {
    return this.hasValue(this.counts.valueOf(node));
  }

  hasValue(value: string | undefined): boolean {
    return value !== undefined && this.counts.of(value) > (value === this.#own ? 1 : 0);
  }

  get empty(): boolean {
    return this.counts.total === (this.#own === undefined ? 0 : 1);
  }
}

/** Required inter-Pod affinity and anti-affinity: the Pod's own terms, and the anti-affinity of Pods on nodes. */
export const interPodAffinity: Predicate = {
  name: 'InterPodAffinity',
  filterFor: (pod, state) => {
    const { affinity } = pod.constraints;
    const company = companyOf(pod, state);
    const close = closeTo(pod, state).filter((places) => !places.empty);
    const refused = refusedTo(pod, state).filter((places) => !places.empty);
    if (affinity.length + close.length + refused.length === 0) return undefined;
    const first = isFirst(pod, company, state);
    return (node) => {
      if (company.some((places) => !(first ? places.counts.valueOf(node) !== undefined : places.has(node))))
        return NO_COMPANY;
      if (close.some((places) => places.has(node))) return TOO_CLOSE;
      return refused.some((places) => places.has(node)) ? OTHERS_REFUSE : undefined;
    };
  },
};

/** The rules of {@link interPodAffinity} by domain, for a Pod that is on no node. */
export function affinityRules(pod: Pod, state: ClusterState): DomainRule[] {
  const company = companyOf(pod, state);
  const together = company.map((places): DomainRule => ({
    kind: 'company',
    counts: places.counts,
    allows: (value) => value !== undefined && (places.hasValue(value) || isFirst(pod, company, state)),
    itself: places.takesItself(),
    ceiling: () => Number.POSITIVE_INFINITY,
    isSettled: () => true,
  }));
  const apart = [...closeTo(pod, state), ...refusedTo(pod, state)].map((places): DomainRule => ({
    kind: 'distance',
    counts: places.counts,
    allows: (value) => !places.hasValue(value),
    itself: places.takesItself(),
    ceiling: () => 1,
    isSettled: () => true,
  }));
  return [...together, ...apart];
}

/** The domains of each affinity term in which a Pod runs that matches all of the Pod's affinity terms. */
function companyOf(pod: Pod, state: ClusterState): Places[] {
  const { affinity } = pod.constraints;
  if (affinity.length === 0) return [];
  const matches = (one: Pod): boolean => affinity.every((term) => takes(term, one, state));
  const crowd = state.podsCounted(affinity, '', matches);
  return affinity.map(({ topologyKey }) => new Places(crowd, topologyKey, pod, matches));
}

const closeTo = (pod: Pod, state: ClusterState): Places[] =>
  pod.constraints.antiAffinity.map((term) => {
    const matches = (one: Pod): boolean => takes(term, one, state);
    return new Places(state.podsCounted(term, '', matches), term.topologyKey, pod, matches);
  });

/** For each topology key the domains of the Pods with a term of anti-affinity that selects the Pod. */
function refusedTo(pod: Pod, state: ClusterState): Places[] {
  const against = state.wanted.against(pod);
  return Array.from(against.byTopologyKey, ([key, terms]) => {
    const refuses = ({ constraints: { antiAffinity } }: Pod): boolean =>
      antiAffinity.length > 0 && state.wanted.know(antiAffinity).some((term) => terms.has(term));
    return new Places(state.podsCounted(against, key, refuses), key, pod, refuses);
  });
}

/**
 * Whether the Pod is the first of several that want to be together: no other Pod matches its terms, but the Pod itself does.
 * Kubernetes then lets it go to any node that has the topology labels.
 */
const isFirst = (pod: Pod, company: readonly Places[], state: ClusterState): boolean =>
  company.every((places) => places.empty) &&
  pod.constraints.affinity.every((term) => takes(term, pod, state));

const takes = (term: PodAffinityTerm, other: Pod, { namespaces }: ClusterState): boolean =>
  termTakes(term, other, namespaces);
