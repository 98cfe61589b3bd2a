import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import type { Fit, GangToPlace } from './placer.ts';
import { DomainLimits } from './domain-limits.ts';
import { nodePorts, slots } from './predicates/node-predicates.ts';
import { affinityRules } from './predicates/pod-affinity.ts';
import type { DomainRule } from './predicates/predicate.ts';
import { fixedPredicates, judgeFor } from './predicates/predicates.ts';
import { spreadRules } from './predicates/topology-spread.ts';
import type { Pod } from './snapshot.ts';

/**
 * Tells whether a gang of Pods of one kind with inter-Pod constraints fits, by how many of them each domain takes.
 *
 * 1. A rule that does not count the gang's Pods allows a domain or forbids it, whatever they do.
 * 2. A rule that counts them sets a limit for each domain. Where each domain of one rule is inside a domain of the next, the
 *    limits together let the same number of Pods in, whichever node each Pod takes: the score of nodes does not matter.
 * 3. That holds for a spread, too, while the domain with the fewest Pods does not change. Of one spread, over the largest
 *    domains, it may change: the domains fill up to the same numbers in any order.
 * 4. While another spread could change, the gang is asked of another {@link Fit}.
 */
export class LimitedFit implements Fit {
  readonly #needed: number;
  readonly #limits: DomainLimits;
  readonly #otherwise: () => Fit;
  #other: Fit | undefined;

  private constructor(needed: number, limits: DomainLimits, otherwise: () => Fit) {
    this.#needed = needed;
    this.#limits = limits;
    this.#otherwise = otherwise;
  }

  /**
   * Returns undefined where it matters which node each Pod takes.
   * @param wanting a gang of Pods of one kind
   * @param otherwise the fit to ask where a spread could change
   */
  static of(
    { pods, minimums }: GangToPlace,
    given: {
      readonly state: ClusterState;
      readonly nodes: readonly NodeState[];
      readonly otherwise: () => Fit;
    },
  ): LimitedFit | undefined {
    const { state, nodes, otherwise } = given;
    const [pod] = pods;
    const [minimum] = minimums;
    if (pod === undefined || minimum === undefined || minimums.length > 1) return undefined;
    if (pods.some(({ group }) => minimum.group !== undefined && group !== minimum.group)) return undefined;
    if (pods.length < minimum.count) return undefined;
    const fixed = judgeFor(pod, state, fixedPredicates);
    const ports = nodePorts.filterFor(pod);
    const open = nodes.filter((node) => fixed(node) === undefined);
    const limits = DomainLimits.of(rulesOf(pod, state), open, (node) =>
      ports?.(node) === undefined ? slots(pod, node, state) : 0,
    );
    return limits && new LimitedFit(minimum.count, limits, otherwise);
  }

  fits(): boolean {
    const most = this.#limits.most(this.#needed);
    if (most !== undefined) return most >= this.#needed;
    this.#other ??= this.#otherwise();
    return this.#other.fits();
  }

  changed(node: NodeState): void {
    this.#limits.changed(node);
    this.#other?.changed(node);
  }
}

/** The rules for a Pod of the kind that is never on a node, so that every Pod that is counts. */
const rulesOf = (pod: Pod, state: ClusterState): DomainRule[] => {
  const copy = { ...pod };
  return [...spreadRules(copy, state), ...affinityRules(copy, state)];
};
