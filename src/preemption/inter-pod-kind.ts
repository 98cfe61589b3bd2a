import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { affinityRules } from './predicates/pod-affinity.ts';
import { fixedPredicates, judgeFor } from './predicates/predicates.ts';
import { spreadRules } from './predicates/topology-spread.ts';
import { RankedKind, type NodeClass } from './ranked-kind.ts';
import type { Pod } from './snapshot.ts';
import type { DomainRule } from './predicates/predicate.ts';

/**
 * Node scores for Pods of one kind with inter-Pod constraints.
 *
 * 1. A rule over few domains (zones) is wide: nodes in the same domains form one class, and the rule is evaluated per class.
 * 2. A rule over many domains (host names) is narrow: it decides, beside other conditions, whether a single node takes the
 *    Pod.
 * 3. When Pods come to a node or leave it, the nodes in the same domain of a narrow rule are scored again. All nodes are if
 *    the lowest number of Pods in any domain changed, since topology spread compares with it.
 */
export class InterPodKind {
  readonly rules: readonly TrackedRule[];
  readonly #nodes: readonly NodeState[];
  readonly #ranked: RankedKind;
  readonly #wide: readonly TrackedRule[];
  readonly #narrow: readonly TrackedRule[];
  /** For each narrow rule the indexes of the nodes in each domain. */
  readonly #beside: readonly (readonly [TrackedRule, ReadonlyMap<string | undefined, readonly number[]>])[];
  #isPlacing = false;
  /** Whether scores of preferences may have changed, since a class became empty or is no longer empty. */
  #preferencesChanged = false;
  /** For each narrow rule the lowest number of Pods in a domain, as of the last scores. */
  readonly #leasts: number[];
  /** The state of each class before the Pods were placed again. */
  #kept: readonly Pick<NodeClass, 'last' | 'least'>[] = [];

  private constructor(
    nodes: readonly NodeState[],
    ranked: RankedKind,
    rules: Record<'wide' | 'narrow' | 'all', readonly TrackedRule[]>,
  ) {
    this.#nodes = nodes;
    this.#ranked = ranked;
    this.rules = rules.all;
    this.#wide = rules.wide;
    this.#narrow = rules.narrow;
    this.#leasts = this.#narrow.map(({ rule }) => rule.counts.least);
    const indexes = [...nodes.keys()].filter((index) => ranked.nodeClassOf(index) !== undefined);
    this.#beside = this.#narrow.map((rule) => [
      rule,
      Map.groupBy(indexes, (index) => {
        const node = nodes[index];
        return node && rule.valueOf(node);
      }),
    ]);
  }

  /** @param pod a Pod that is never on a node */
  static of(
    pod: Pod,
    given: {
      readonly state: ClusterState;
      readonly nodes: readonly NodeState[];
      readonly mostCells: number;
    },
  ): InterPodKind {
    const { state, nodes, mostCells } = given;
    const rules = [...spreadRules(pod, state), ...affinityRules(pod, state)].map(
      (rule) => new TrackedRule(rule),
    );
    const fixed = judgeFor(pod, state, fixedPredicates);
    const open = nodes.filter((node) => fixed(node) === undefined);
    const { wide, textOf } = wideOf(rules, open, mostCells);
    const narrow = rules.filter((one) => !wide.includes(one));
    const ranked = RankedKind.of(pod, { state, nodes }, textOf, (node) => allow(narrow, node));
    return new InterPodKind(nodes, ranked, { wide, narrow, all: rules });
  }

  begin(): void {
    this.#kept = this.#ranked.classes.map(({ last, least }) => ({ last, least }));
    this.#ranked.begin();
    this.#isPlacing = true;
    for (const rule of this.rules) rule.begin();
  }

  /** Called after the Pods were placed. If they did not fit, the state from when they last did stays. */
  end(fits: boolean, chosen: ReadonlySet<NodeState>): void {
    this.#isPlacing = false;
    if (fits) for (const rule of this.rules) rule.placed(chosen);
    else
      for (const [at, nodeClass] of this.#ranked.classes.entries()) Object.assign(nodeClass, this.#kept[at]);
  }

  choose(): number | undefined {
    return this.#ranked.choose(this.#ranked.classes.filter(({ first }) => allow(this.#wide, first)));
  }

  /** Scores a node again whose Pods have changed, and the nodes that depend on it. */
  lookAt(index: number, node: NodeState): void {
    this.#refresh(index);
    let everywhere = false;
    for (const [at, { rule }] of this.#narrow.entries()) {
      if (rule.counts.least === this.#leasts[at]) continue;
      this.#leasts[at] = rule.counts.least;
      everywhere ||= rule.kind === 'spread';
    }
    if (everywhere) for (const one of this.#nodes.keys()) this.#refresh(one);
    else
      for (const [rule, byDomain] of this.#beside)
        for (const one of byDomain.get(rule.valueOf(node)) ?? []) if (one !== index) this.#refresh(one);
  }

  /** Scores a node again that has no Pod of the gang. @returns whether a Pod of the gang might now go elsewhere */
  changed(index: number, node: NodeState): boolean {
    this.#preferencesChanged = false;
    this.lookAt(index, node);
    let matters = this.#preferencesChanged || !this.#narrow.every(({ isSteady }) => isSteady);
    for (const rule of this.rules) if (rule.matters(node)) matters = true;
    return matters || this.#ranked.isAhead(index);
  }

  #refresh(index: number): void {
    const [nodeClass, node] = [this.#ranked.nodeClassOf(index), this.#nodes[index]];
    if (nodeClass === undefined || node === undefined) return;
    const grown = this.#ranked.lookAt(index, node);
    if (grown === 0 || this.#isPlacing) return;
    nodeClass.least = Math.min(nodeClass.least, nodeClass.least + grown);
    if (this.#ranked.hasPreferences && nodeClass.least < 1) this.#preferencesChanged = true;
  }
}

function allow(rules: readonly TrackedRule[], node: NodeState): boolean {
  for (const one of rules) if (!one.rule.allows(one.valueOf(node))) return false;
  return true;
}

/** The wide rules: rules whose domains make few cells together, and affinity, whose first Pod changes all domains. */
function wideOf(
  rules: readonly TrackedRule[],
  nodes: readonly NodeState[],
  mostCells: number,
): { readonly wide: readonly TrackedRule[]; readonly textOf: (node: NodeState) => string } {
  const valuesOf = (one: TrackedRule): number => new Set(nodes.map((node) => one.valueOf(node))).size;
  const counted = rules.map((one) => ({ one, values: one.rule.kind === 'company' ? 0 : valuesOf(one) }));
  let wide: readonly TrackedRule[] = [];
  const textBy = (some: readonly TrackedRule[]) => {
    const keys = [...new Set(some.map(({ rule }) => rule.counts.topologyKey))];
    return (node: NodeState): string => JSON.stringify(keys.map((key) => node.node.labels.get(key) ?? null));
  };
  for (const { one, values } of counted.sort((a, b) => a.values - b.values)) {
    const more = [...wide, one];
    if (values > mostCells) continue;
    const isSplit = wide.some(({ rule }) => rule.counts.topologyKey === one.rule.counts.topologyKey);
    if (isSplit || values === 0 || new Set(nodes.map(textBy(more))).size <= mostCells) wide = more;
  }
  return { wide, textOf: textBy(wide) };
}

/** A rule with its answers from when the gang was last placed, to tell whether a change since then can matter. */
export class TrackedRule {
  readonly rule: DomainRule;
  /** For each domain the number of Pods that count there; for rules that do not count, whether a Pod is there. */
  readonly #before = new Map<string, number>();
  /** Domains in which Pods of the gang were placed. */
  readonly #used = new Set<string>();
  #leastAtBegin = 0;
  /** The lowest number of Pods in a domain, before the gang was placed and with the gang in place. */
  #leastBefore = 0;
  #leastAfter = 0;
  /** How many domains had the lowest number with the gang in place, without those that have more Pods now. */
  #leastDomains = 0;
  #raised = 0;

  constructor(rule: DomainRule) {
    this.rule = rule;
    for (const value of rule.counts.values()) this.#before.set(value, this.#levelOf(value));
  }

  valueOf(node: NodeState): string | undefined {
    return this.rule.counts.valueOf(node);
  }

  /** Called before the gang is placed. */
  begin(): void {
    this.#leastAtBegin = this.rule.counts.least;
  }

  /** Called while the gang is in place and fits. @param chosen its nodes */
  placed(chosen: Iterable<NodeState>): void {
    this.#leastBefore = this.#leastAtBegin;
    this.#leastAfter = this.rule.counts.least;
    this.#leastDomains = this.rule.counts.leastDomains;
    this.#raised = 0;
    this.#used.clear();
    for (const node of chosen) {
      const value = this.valueOf(node);
      if (value !== undefined) this.#used.add(value);
    }
  }

  /** Whether the rule gave the same answer for all domains without a Pod of the gang while the gang was placed. */
  get isSteady(): boolean {
    return this.rule.kind !== 'spread' || this.#leastBefore === this.#leastAfter;
  }

  /** Whether a Pod of the gang might now go elsewhere, since Pods came to the node or left it. */
  matters(node: NodeState): boolean {
    const value = this.valueOf(node);
    if (value === undefined) return false;
    const [before, now] = [this.#before.get(value) ?? 0, this.#levelOf(value)];
    if (now === before) return false;
    // A Pod that comes to a domain without Pods of the gang only rules out a choice that was not made.
    if (now < before || this.rule.kind === 'company' || this.#used.has(value)) return true;
    if (this.rule.kind === 'distance' || before > this.#leastAfter) return false;
    // The lowest number stays the same only while another domain has as few Pods.
    this.#raised += 1;
    return !this.isSteady || this.#leastDomains - this.#raised < 1;
  }

  /** Remembers the rule's answer for the node: the gang is placed, as before or again. */
  keep(node: NodeState): void {
    const value = this.valueOf(node);
    if (value !== undefined) this.#before.set(value, this.#levelOf(value));
    this.#leastDomains -= this.#raised;
    this.#raised = 0;
  }

  /** Takes the change back. */
  backOut(): void {
    this.#raised = 0;
  }

  #levelOf(value: string): number {
    const count = this.rule.counts.of(value);
    return this.rule.kind === 'spread' ? count : Math.min(count, 1);
  }
}
