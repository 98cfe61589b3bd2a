import type { NodeState } from './node-state.ts';
import type { DomainRule } from './predicates/predicate.ts';

/** A node that takes the Pods, or a group of nodes, inside a domain of the label with the next larger domains. */
interface Part {
  readonly within: Group | undefined;
  /** How many Pods it takes: a group as many as its parts do, within its limit. */
  takes: number;
}

/** The nodes with the same value of a label. */
interface Group extends Part {
  /** undefined: the nodes without the label, which no rule limits. */
  readonly value: string | undefined;
  /** How many Pods its parts take. */
  sum: number;
}

/** The rules of one label that count the Pods themselves. */
interface Level {
  readonly key: string;
  readonly rules: readonly DomainRule[];
  readonly groups: Set<Group>;
  readonly byValue: Map<string, Group>;
  /** The most Pods that each rule allowed in a domain when the limits were last computed. */
  ceilings: readonly number[];
}

/** How many Pods of one kind the domains of several labels take, kept as Pods come and go. */
export class DomainLimits {
  readonly #capacity: (node: NodeState) => number;
  readonly #places = new Map<NodeState, Part>();
  /** From the smallest domains to the largest. */
  readonly #levels: readonly Level[];
  /** Rules that do not count the Pods themselves, with the domains that they forbid. */
  readonly #fixed: readonly FixedRule[];
  readonly #stale = new Set<NodeState>();
  #total = 0;

  private constructor(
    { levels, fixed }: { readonly levels: readonly Level[]; readonly fixed: readonly FixedRule[] },
    nodes: readonly NodeState[],
    capacity: (node: NodeState) => number,
  ) {
    this.#levels = levels;
    this.#fixed = fixed;
    this.#capacity = capacity;
    const paths = new Map<string, Group>();
    for (const node of nodes) {
      let within: Group | undefined;
      let path = '';
      for (const level of this.#levels.toReversed()) {
        const value = node.node.labels.get(level.key);
        path = `${path}${JSON.stringify(value ?? null)}`;
        const outer = within;
        within = paths.getOrInsertComputed(path, () => ({ value, within: outer, sum: 0, takes: 0 }));
        level.groups.add(within);
        if (value !== undefined) level.byValue.set(value, within);
      }
      this.#places.set(node, { within, takes: 0 });
      this.#stale.add(node);
    }
  }

  /**
   * Returns undefined where it matters which node each Pod takes.
   * @param nodes those that take the Pods, by what does not depend on other Pods
   * @param capacity how many of the Pods a node takes beside the Pods on it
   */
  static of(
    rules: readonly DomainRule[],
    nodes: readonly NodeState[],
    capacity: (node: NodeState) => number,
  ): DomainLimits | undefined {
    const counting = rules.filter(({ itself }) => itself);
    // The first Pod that wants company decides for all others; with no skew at all no domain may begin.
    if (counting.some(({ kind, ceiling }) => kind === 'company' || ceiling(0) < 1)) return undefined;
    const usable = nodes.filter((node) =>
      rules.every(({ kind, counts }) => kind === 'distance' || counts.valueOf(node) !== undefined),
    );
    const levels = [...Map.groupBy(counting, ({ counts }) => counts.topologyKey)]
      .map(([key, own]): Level & { readonly size: number } => {
        const size = new Set(usable.map(({ node }) => node.labels.get(key))).size;
        return { key, rules: own, size, groups: new Set(), byValue: new Map(), ceilings: [] };
      })
      .sort((a, b) => b.size - a.size);
    for (const [at, level] of levels.entries()) {
      const [next] = levels.slice(at + 1);
      if (next !== undefined && !isInside(usable, level.key, next.key)) return undefined;
    }
    const fixed = rules.flatMap((rule) => (rule.itself ? [] : [new FixedRule(rule, usable)]));
    return new DomainLimits({ levels, fixed }, usable, capacity);
  }

  changed(node: NodeState): void {
    this.#stale.add(node);
  }

  /** How many of the Pods fit if no more than `needed` come; undefined where that depends on where each of them goes. */
  most(needed: number): number | undefined {
    this.#refresh();
    const rising = this.#levels.flatMap(({ rules }) => rules.filter((rule) => !rule.isSettled(needed)));
    const [spread] = rising;
    if (spread === undefined) return this.#total;
    const largest = this.#levels.at(-1);
    return rising.length === 1 && largest?.rules.includes(spread) === true
      ? filledUp(largest, spread)
      : undefined;
  }

  #refresh(): void {
    if (this.#stale.size === 0) return;
    const nodes = new Set(this.#stale);
    this.#stale.clear();
    for (const node of [...nodes])
      for (const rule of this.#fixed) for (const one of rule.changedBy(node)) nodes.add(one);
    const inner = new Set<Group>();
    for (const node of nodes) {
      const place = this.#places.get(node);
      if (place === undefined) continue;
      this.#takes(place, this.#fixed.every((rule) => rule.allows(node)) ? this.#capacity(node) : 0, inner);
    }
    for (const level of this.#levels) {
      const groups = isRaised(level) ? [...level.groups] : [...inner, ...groupsOf(nodes, level)];
      inner.clear();
      for (const group of groups) this.#takes(group, Math.min(group.sum, roomIn(group, level.rules)), inner);
    }
  }

  /** Sets how many Pods a part takes, in what it is inside of as well. @param around gets the group that it is inside of */
  #takes(part: Part, takes: number, around: Set<Group>): void {
    const grown = takes - part.takes;
    part.takes = takes;
    if (part.within === undefined) this.#total += grown;
    else {
      part.within.sum += grown;
      around.add(part.within);
    }
  }
}

function groupsOf(nodes: Iterable<NodeState>, { key, byValue }: Level): Group[] {
  const groups: Group[] = [];
  for (const { node } of nodes) {
    const group = byValue.get(node.labels.get(key) ?? '');
    if (group !== undefined) groups.push(group);
  }
  return groups;
}

/** Whether the limits of all domains have changed since they were computed. */
function isRaised(level: Level): boolean {
  const ceilings = level.rules.map((rule) => rule.ceiling());
  const isSame = ceilings.every((ceiling, at) => ceiling === level.ceilings[at]);
  level.ceilings = ceilings;
  return !isSame;
}

function roomIn({ value }: Group, rules: readonly DomainRule[]): number {
  let room = Number.POSITIVE_INFINITY;
  if (value !== undefined)
    for (const { ceiling, counts } of rules) room = Math.min(room, ceiling() - counts.of(value));
  return Math.max(room, 0);
}

/** How many Pods the domains take together when the spread lets none of them have many more than the one with the fewest. */
function filledUp({ byValue, rules }: Level, spread: DomainRule): number {
  const others = rules.filter((rule) => rule !== spread);
  const { counts } = spread;
  const takes = new Map(
    Array.from(byValue, ([value, group]) => [value, Math.min(group.sum, roomIn(group, others))]),
  );
  let least = Number.POSITIVE_INFINITY;
  for (const value of counts.values()) least = Math.min(least, counts.of(value) + (takes.get(value) ?? 0));
  let sum = 0;
  for (const [value, most] of takes)
    sum += Math.min(most, Math.max(spread.ceiling(least) - counts.of(value), 0));
  return sum;
}

/** Whether each domain of one label is inside a domain of the other. */
function isInside(nodes: readonly NodeState[], small: string, large: string): boolean {
  const around = new Map<string, string | undefined>();
  return nodes.every(({ node: { labels } }) => {
    const [value, outer] = [labels.get(small), labels.get(large)];
    if (value === undefined) return true;
    if (!around.has(value)) around.set(value, outer);
    return around.get(value) === outer;
  });
}

/** A rule that does not count the Pods themselves, with its answer for each domain. */
class FixedRule {
  readonly #rule: DomainRule;
  readonly #nodes: ReadonlyMap<string | undefined, readonly NodeState[]>;
  readonly #answers = new Map<string | undefined, boolean>();
  #least: number;

  constructor(rule: DomainRule, nodes: readonly NodeState[]) {
    this.#rule = rule;
    this.#nodes = Map.groupBy(nodes, (node) => rule.counts.valueOf(node));
    this.#least = rule.counts.least;
    for (const value of this.#nodes.keys()) this.#answers.set(value, rule.allows(value));
  }

  allows(node: NodeState): boolean {
    return this.#answers.get(this.#rule.counts.valueOf(node)) === true;
  }

  /** The nodes for which the answer is another since Pods came to this node or left it. */
  changedBy(node: NodeState): NodeState[] {
    const { counts, kind } = this.#rule;
    const everywhere = kind === 'spread' && counts.least !== this.#least;
    this.#least = counts.least;
    return (everywhere ? [...this.#nodes.keys()] : [counts.valueOf(node)]).flatMap((value) => {
      const [before, now] = [this.#answers.get(value), this.#rule.allows(value)];
      if (before === undefined || before === now) return [];
      this.#answers.set(value, now);
      return this.#nodes.get(value) ?? [];
    });
  }
}
