import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { FeltRule } from './felt-rule.ts';
import { affinityRules } from './predicates/pod-affinity.ts';
import { fixedPredicates, judgeFor, roomPredicates } from './predicates/predicates.ts';
import { spreadRules } from './predicates/topology-spread.ts';
import { isBehind, MOST_SORTS, UNASKED, type Place } from './ranked-kind.ts';
import { Ranking } from './ranking.ts';
import { likingOf, likingScore, useScore, type Liking } from './scores.ts';
import type { Pod } from './snapshot.ts';

/** Nodes that are liked as much, in the same domains of every wide rule. */
interface Cell {
  readonly liking: Liking;
  readonly indexes: number[];
  /** Any of its nodes. */
  readonly first: NodeState;
  ranking: Ranking;
  /** How many of its nodes take the Pod, wide rules aside. */
  size: number;
  /** What one of them would have to be better than to be chosen. */
  last: Place | undefined;
  /** At most as many of its nodes as took the Pod at any time when the Pods were placed. */
  least: number;
  /** Both of before the Pods were placed once more. */
  kept: { readonly last: Place | undefined; readonly least: number };
}

/**
 * What every node is for Pods of one kind that mind who is near, or are minded. Rules about few domains are asked once for
 * each cell of nodes in the same domains; those about many, such as one for every node, are part of what a node is.
 */
export class SocialKind {
  readonly rules: readonly FeltRule[];
  readonly #nodes: readonly NodeState[];
  readonly #cells: readonly Cell[];
  readonly #wide: readonly FeltRule[];
  readonly #narrow: readonly FeltRule[];
  readonly #cellOf: (Cell | undefined)[];
  /** Its place within its cell. */
  readonly #at: Int32Array;
  /** Of each narrow rule: the indexes by domain. */
  readonly #beside: readonly (readonly [FeltRule, ReadonlyMap<string | undefined, readonly number[]>])[];
  readonly #scoreOf: (node: NodeState) => number | undefined;
  readonly #manyLikings: boolean;
  #isPlacing = false;
  /** What nodes are worth may have changed with who else is there, since cells were or are empty at some time. */
  #isOtherwiseLiked = false;
  /** Of each narrow rule the fewest that scores go by. */
  readonly #leasts: number[];

  private constructor(
    pod: Pod,
    state: ClusterState,
    given: { readonly nodes: readonly NodeState[]; readonly rules: readonly FeltRule[] },
    sorted: { readonly wide: readonly FeltRule[]; readonly cells: readonly Cell[]; readonly likings: number },
  ) {
    this.#nodes = given.nodes;
    this.rules = given.rules;
    this.#wide = sorted.wide;
    this.#narrow = given.rules.filter((one) => !sorted.wide.includes(one));
    this.#cells = sorted.cells;
    this.#manyLikings = sorted.likings > 1;
    const [room, use] = [judgeFor(pod, state, roomPredicates), useScore(pod, state)];
    this.#scoreOf = (node) => (room(node) === undefined && allow(this.#narrow, node) ? use(node) : undefined);
    this.#leasts = this.#narrow.map(({ rule }) => rule.counts.least);
    this.#cellOf = new Array<Cell | undefined>(this.#nodes.length).fill(undefined);
    this.#at = new Int32Array(this.#nodes.length);
    for (const cell of this.#cells) {
      cell.ranking = new Ranking(new Array<undefined>(cell.indexes.length).fill(undefined));
      for (const [at, index] of cell.indexes.entries()) {
        this.#cellOf[index] = cell;
        this.#at[index] = at;
        this.#refresh(index);
      }
    }
    const indexes = [...this.#nodes.keys()].filter((index) => this.#cellOf[index] !== undefined);
    this.#beside = this.#narrow.map((rule) => [
      rule,
      Map.groupBy(indexes, (index) => {
        const node = this.#nodes[index];
        return node && rule.valueOf(node);
      }),
    ]);
  }

  /** undefined where nodes are liked in too many ways. @param pod on no node, now and later */
  static of(
    pod: Pod,
    given: {
      readonly state: ClusterState;
      readonly nodes: readonly NodeState[];
      readonly mostCells: number;
    },
  ): SocialKind | undefined {
    const { state, nodes, mostCells } = given;
    const rules = [...spreadRules(pod, state), ...affinityRules(pod, state)].map(
      (rule) => new FeltRule(rule),
    );
    const fixed = judgeFor(pod, state, fixedPredicates);
    const open = nodes.filter((node) => fixed(node) === undefined);
    const { wide, textOf } = wideOf(rules, open, mostCells);
    const liking = likingOf(pod);
    const likings = new Set<string>();
    const cells = new Map<string, Cell>();
    for (const [index, node] of nodes.entries()) {
      if (fixed(node) !== undefined) continue;
      const likes = liking(node);
      const text = `${likes.taints} ${likes.affinity}`;
      if (likings.add(text).size > MOST_SORTS) return undefined;
      cells.getOrInsertComputed(`${text} ${textOf(node)}`, () => newCell(likes, node)).indexes.push(index);
    }
    const sorted = { wide, cells: [...cells.values()], likings: likings.size };
    return new SocialKind(pod, state, { nodes, rules }, sorted);
  }

  begin(): void {
    for (const cell of this.#cells) {
      cell.kept = { last: cell.last, least: cell.least };
      [cell.last, cell.least] = [UNASKED, cell.size];
    }
    this.#isPlacing = true;
    for (const rule of this.rules) rule.begin();
  }

  /** If they could not be placed, what was known of when they could be stays. */
  end(fits: boolean): void {
    this.#isPlacing = false;
    if (!fits) for (const cell of this.#cells) [cell.last, cell.least] = [cell.kept.last, cell.kept.least];
  }

  /** The index of the node for the next Pod; of several that are as good the first. */
  choose(): number | undefined {
    const open = this.#cells.filter(({ size, first }) => size > 0 && allow(this.#wide, first));
    const most = { taints: 0, affinity: 0 };
    for (const { liking } of open) {
      most.taints = Math.max(most.taints, liking.taints);
      most.affinity = Math.max(most.affinity, liking.affinity);
    }
    let best: Place | undefined;
    for (const { liking, indexes, ranking } of open) {
      const own = ranking.best();
      if (own === undefined) continue;
      const place = { index: indexes[own.index] ?? 0, score: own.score + likingScore(liking, most) };
      if (best === undefined || isBehind(best, place)) best = place;
    }
    for (const cell of this.#cells) {
      cell.least = Math.min(cell.least, cell.size);
      if (cell.last === undefined || !allow(this.#wide, cell.first)) continue;
      const bar = best && { index: best.index, score: best.score - likingScore(cell.liking, most) };
      if (bar === undefined || isBehind(bar, cell.last)) cell.last = bar;
    }
    return best?.index;
  }

  /** Looks at the node, whose Pods have changed, and at others that this is felt on. */
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

  /** The same of a node that no Pod of the gang is on; whether one might go elsewhere by now. */
  changed(index: number, node: NodeState): boolean {
    this.#isOtherwiseLiked = false;
    this.lookAt(index, node);
    let matters = this.#isOtherwiseLiked || !this.#narrow.every(({ isSteady }) => isSteady);
    for (const rule of this.rules) if (rule.matters(node)) matters = true;
    const cell = this.#cellOf[index];
    const score = cell?.ranking.scoreOf(this.#at[index] ?? 0);
    if (matters || cell === undefined || score === undefined) return matters;
    return cell.last === undefined || isBehind(cell.last, { index, score });
  }

  #refresh(index: number): void {
    const [cell, node, at] = [this.#cellOf[index], this.#nodes[index], this.#at[index] ?? 0];
    if (cell === undefined || node === undefined) return;
    const score = this.#scoreOf(node);
    const before = cell.ranking.scoreOf(at);
    if (score === before) return;
    cell.ranking.set(at, score);
    const grown = (score === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    if (grown === 0) return;
    cell.size += grown;
    if (this.#isPlacing) return;
    cell.least = Math.min(cell.least, cell.least + grown);
    if (this.#manyLikings && cell.least < 1) this.#isOtherwiseLiked = true;
  }
}

function allow(rules: readonly FeltRule[], node: NodeState): boolean {
  for (const one of rules) if (!one.rule.allows(one.valueOf(node))) return false;
  return true;
}

/** Rules whose domains make few cells together, and those of affinity: its first Pod changes what all domains are. */
function wideOf(
  rules: readonly FeltRule[],
  nodes: readonly NodeState[],
  mostCells: number,
): { readonly wide: readonly FeltRule[]; readonly textOf: (node: NodeState) => string } {
  const valuesOf = (one: FeltRule): number => new Set(nodes.map((node) => one.valueOf(node))).size;
  const counted = rules.map((one) => ({ one, values: one.rule.kind === 'company' ? 0 : valuesOf(one) }));
  let wide: readonly FeltRule[] = [];
  const textBy = (some: readonly FeltRule[]) => {
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

const newCell = (liking: Liking, first: NodeState): Cell => ({
  liking,
  first,
  indexes: [],
  ranking: new Ranking([]),
  size: 0,
  last: UNASKED,
  least: 0,
  kept: { last: UNASKED, least: 0 },
});
