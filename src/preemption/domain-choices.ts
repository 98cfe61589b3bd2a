import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import {
  domainsOf,
  domainsWith,
  confined,
  overlap,
  type ChosenDomain,
  type Domain,
  type DomainChoice,
  type Narrowed,
} from './topology.ts';
import {
  isAlike,
  kindsOf,
  speaksOf,
  type Constraints,
  type Pod,
  type Scope,
  type Snapshot,
} from './snapshot.ts';
import { placeNeeded, undo } from './place.ts';
import { fixedPredicates, judgeFor } from './predicates/predicates.ts';
import { slots } from './predicates/node-predicates.ts';
import type { Preemptor } from './preemptor.ts';
import type { PreemptionUnit } from './units.ts';
import { byPriorityToGo } from './domains-by-priority.ts';

/**
 * The most nodes that a search visits, in multiples of all nodes. Choices that were not found by then count as infeasible.
 */
const MOST_ROUNDS = 128;

/**
 * Finds domains in which a gang fits in the present state.
 *
 * 1. For each scope, list the domains with enough capacity for the Pods that must start, as if no other scope existed. If
 *    members run, only their domains are listed. When victims are searched, the domains that cost the lowest priority come
 *    first ({@link byPriorityToGo}).
 * 2. Choose a domain scope by scope, depth first. Scopes that share Pods need domains that share nodes.
 * 3. Place the gang after each choice, and give up a branch as soon as the gang does not fit.
 * 4. Pods of a scope that has no domain yet may have taken nodes that other Pods needed. So if nothing was found and there
 *    are few choices, try each choice to its end.
 * 5. Stop at the number asked for, or when {@link MOST_ROUNDS} times all nodes were visited.
 */
export class DomainChoices {
  readonly #preemptor: Preemptor;
  readonly #state: ClusterState;
  readonly #kinds: readonly Pod[];
  readonly #running: readonly Pod[];
  readonly #byKey = new Map<string, readonly Domain[]>();
  readonly #usable = new Map<Scope, readonly Domain[]>();
  readonly #gone: readonly PreemptionUnit[];
  /** For each domain the priority up to which units have to go at least ({@link byPriorityToGo}). */
  readonly #levels = new Map<Scope, ReadonlyMap<string, number>>();
  readonly #narrowed: Narrowed = new Map();
  /** What is known of domains of a label that have to be large enough for the same Pods. */
  readonly #alike = new Map<
    string,
    { readonly sorted: readonly Domain[]; readonly levels: ReadonlyMap<string, number> }
  >();
  /** The domains of each scope that the last search tried. */
  #tried = new Map<Scope, Set<string>>();
  #looked = 0;

  /** @param gone units taken out of the state; domains that need the least important of them come first */
  constructor(
    preemptor: Preemptor,
    state: ClusterState,
    { pods }: Pick<Snapshot, 'pods'>,
    gone: readonly PreemptionUnit[] = [],
  ) {
    this.#gone = gone;
    this.#preemptor = preemptor;
    this.#state = state;
    this.#kinds = kindsOf(preemptor.pods);
    this.#running = pods.filter((pod) => preemptor.owns(pod));
  }

  /**
   * Finds choices of one domain per scope in which the whole gang fits, in the order of the domains, scope by scope.
   * @param most the search stops after so many choices
   */
  for(scopes: readonly Scope[], most: number): DomainChoice[] {
    this.#looked = 0;
    this.#tried = new Map();
    const found: DomainChoice[] = [];
    this.#search(scopes, { chosen: [], most, found, early: true });
    if (found.length > 0) return found;
    const all = scopes.reduce((product, scope) => product * this.#domainsFor(scope).length, 1);
    this.#looked = 0;
    if (scopes.length > 1 && all <= MOST_ROUNDS)
      this.#search(scopes, { chosen: [], most, found, early: false });
    return found;
  }

  /** How many domains with capacity for the scope the last search did not try. @param below see {@link needsAbove} */
  leftOut(scope: Scope, below = Number.POSITIVE_INFINITY): number {
    const tried = this.#tried.get(scope);
    return this.#domainsFor(scope).filter(
      ({ value }) => tried?.has(value) !== true && !this.needsAbove([{ scope, value }], below),
    ).length;
  }

  /** Whether a unit above the priority has to go in any case, wherever in these domains the gang is placed. */
  needsAbove(choice: DomainChoice, priority: number): boolean {
    return choice.some(
      ({ scope, value }) => (this.#levels.get(scope)?.get(value) ?? Number.NEGATIVE_INFINITY) > priority,
    );
  }

  #isOver(found: readonly DomainChoice[], most: number): boolean {
    return found.length >= most || this.#looked > MOST_ROUNDS * this.#state.nodes.length;
  }

  #search(
    scopes: readonly Scope[],
    given: {
      readonly chosen: DomainChoice;
      readonly most: number;
      readonly found: DomainChoice[];
      readonly early: boolean;
    },
  ): void {
    const { chosen, most, found, early } = given;
    if (this.#isOver(found, most)) return;
    const scope = scopes[chosen.length];
    if (scope === undefined) {
      if (this.#fits(chosen)) found.push(chosen);
      return;
    }
    if (early && chosen.length > 0 && !this.#fits(chosen)) return;
    const beside = chosen.filter((one) => overlap(one.scope, scope));
    for (const { value, nodes } of this.#domainsFor(scope)) {
      if (this.#isOver(found, most)) return;
      this.#tried.getOrInsertComputed(scope, () => new Set()).add(value);
      const together = beside.every((one) => nodes.some((node) => isIn(node, one)));
      if (together) this.#search(scopes, { ...given, chosen: [...chosen, { scope, value }] });
    }
  }

  #fits(choice: DomainChoice): boolean {
    const whole = choice.find(({ scope }) => scope.groups === undefined);
    this.#looked += this.#nodesIn(whole).length;
    const nodes = new Map<Constraints, readonly NodeState[]>();
    const nodesOf = (pod: Pod): readonly NodeState[] =>
      nodes.getOrInsertComputed(pod.constraints, () => {
        const [first, ...others] = choice.filter(({ scope }) => speaksOf(scope, pod));
        return this.#nodesIn(first).filter((node) => others.every((one) => isIn(node, one)));
      });
    const placement = placeNeeded(confined(this.#preemptor, choice, this.#narrowed), this.#state, nodesOf);
    undo(placement, this.#state);
    return placement.fits;
  }

  /** The domains with capacity for the Pods of each group of the scope that must start, if no other Pods came. */
  #domainsFor(scope: Scope): readonly Domain[] {
    const known = this.#usable.get(scope);
    if (known !== undefined) return known;
    const domains = this.#large(scope);
    this.#usable.set(scope, domains);
    return domains;
  }

  #large(scope: Scope): readonly Domain[] {
    const wanted = this.#preemptor.minimums.flatMap(({ group = '', count }) => {
      const pods = this.#preemptor.pods.filter((pod) => pod.group === group && speaksOf(scope, pod));
      return pods.length === 0 ? [] : [{ pods, capacity: capacityFor(pods, this.#state), count }];
    });
    const total = wanted.reduce((sum, { count }) => sum + count, 0);
    const capacityIn = ({ nodes }: Domain): number => {
      let all = 0;
      for (const { capacity, count } of wanted) {
        let sum = 0;
        for (const node of nodes) sum += sum >= count ? 0 : capacity(node);
        all += Math.min(sum, count);
      }
      return all;
    };
    const large = this.allowed(scope).filter((domain) => capacityIn(domain) >= total);
    if (this.#gone.length === 0) return large;
    const given = { state: this.#state, units: this.#gone };
    const asked = wanted.map(({ pods, count }) => [kindsOf(pods).map((pod) => this.#kindOf(pod)), count]);
    const text = JSON.stringify([scope.key, large.map(({ value }) => value), asked]);
    const { sorted, levels } = this.#alike.getOrInsertComputed(text, () =>
      byPriorityToGo(large, given, { capacityIn, wanted: total }),
    );
    this.#levels.set(scope, levels);
    return sorted;
  }

  /** The same number for Pods that are alike. */
  #kindOf(pod: Pod): number {
    return this.#kinds.findIndex((one) => isAlike(one, pod));
  }

  /** The domains of the scope, by name. If members of the gang run, only the domains in which they run. */
  allowed(scope: Scope): readonly Domain[] {
    const running = this.#running.filter((pod) => speaksOf(scope, pod));
    const chosen = domainsWith(running, scope.key, this.#state);
    return this.#domainsOf(scope.key).filter(({ value }) => chosen.size === 0 || chosen.has(value));
  }

  /** The nodes of a chosen domain; all nodes without one. */
  #nodesIn(chosen: ChosenDomain | undefined): readonly NodeState[] {
    if (chosen === undefined) return this.#state.nodes;
    return this.#domainsOf(chosen.scope.key).find(({ value }) => value === chosen.value)?.nodes ?? [];
  }

  #domainsOf(key: string): readonly Domain[] {
    return this.#byKey.getOrInsertComputed(key, () => domainsOf(key, this.#state));
  }
}

const isIn = ({ node }: NodeState, { scope, value }: ChosenDomain): boolean =>
  node.labels.get(scope.key) === value;

/** Returns how many Pods a node can take at most: for each kind of Pod as many as if the other kinds did not exist. */
function capacityFor(pods: readonly Pod[], state: ClusterState): (node: NodeState) => number {
  const judged = kindsOf(pods).map((pod) => ({ pod, judge: judgeFor(pod, state, fixedPredicates) }));
  return (node) => {
    let capacity = 0;
    for (const { pod, judge } of judged) if (judge(node) === undefined) capacity += slots(pod, node, state);
    return capacity;
  };
}
