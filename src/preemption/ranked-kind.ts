import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { fixedPredicates, judgeFor, capacityPredicates } from './predicates/predicates.ts';
import { preferenceOf, preferenceScore, useScore, type Preference } from './scores.ts';
import type { Pod } from './snapshot.ts';

/** Of nodes liked in more ways than this each Pod would take as long as looking at the nodes one by one. */
const MOST_PREFERENCES = 64;

/** A node of the list, and its score. */
interface Place {
  readonly index: number;
  readonly score: number;
}

/** Nodes that the Pod likes as much: what they have over the others is the same for all of them. */
export interface NodeClass {
  readonly preference: Preference;
  readonly indexes: number[];
  /** Any of its nodes. */
  readonly first: NodeState;
  /** By use alone. */
  ranking: Ranking;
  /** How many of them take the Pod. */
  size: number;
  /** At most as many as did whenever a Pod of the kind was placed. */
  least: number;
  /** What one of them would have to be better than to be chosen; undefined: there was no node for one of the Pods. */
  last: Place | undefined;
}

const UNASKED: Place = { index: -1, score: Number.POSITIVE_INFINITY };

/**
 * What every node is for Pods of one kind. What a preference is worth depends on the highest among the nodes that take the
 * Pod, so nodes are ranked apart by how much they are preferred, and the few winners are compared.
 */
export class RankedKind {
  readonly classes: readonly NodeClass[];
  /** Whether some nodes are liked more than others. */
  readonly hasPreferences: boolean;
  /** By the index of the node; none for one that never takes the Pod. */
  readonly #sortOf: (NodeClass | undefined)[];
  /** Its place within its sort. */
  readonly #at: Int32Array;
  /** By use; undefined where the node does not take such a Pod as it is. */
  readonly #scoreOf: (node: NodeState) => number | undefined;

  private constructor(
    sorted: { readonly sorts: readonly NodeClass[]; readonly likings: number },
    nodes: readonly NodeState[],
    scoreOf: (node: NodeState) => number | undefined,
  ) {
    this.classes = sorted.sorts;
    this.hasPreferences = sorted.likings > 1;
    this.#scoreOf = scoreOf;
    this.#sortOf = new Array<NodeClass | undefined>(nodes.length).fill(undefined);
    this.#at = new Int32Array(nodes.length);
    for (const sort of this.classes) {
      const scores = sort.indexes.map((index) => {
        const node = nodes[index];
        return node && scoreOf(node);
      });
      sort.ranking = new Ranking(scores);
      sort.size = scores.filter((score) => score !== undefined).length;
      for (const [at, index] of sort.indexes.entries()) {
        this.#sortOf[index] = sort;
        this.#at[index] = at;
      }
    }
  }

  /**
   * @param textOf nodes of which it says the same may be of one sort
   * @param allows what a node needs besides to take the Pod
   * @returns undefined where nodes are liked in too many ways
   */
  static of(
    pod: Pod,
    { state, nodes }: { readonly state: ClusterState; readonly nodes: readonly NodeState[] },
    textOf: (node: NodeState) => string = () => '',
    allows: (node: NodeState) => boolean = () => true,
  ): RankedKind | undefined {
    const [fixed, liking] = [judgeFor(pod, state, fixedPredicates), preferenceOf(pod)];
    const likings = new Set<string>();
    const sorts = new Map<string, NodeClass>();
    for (const [index, node] of nodes.entries()) {
      if (fixed(node) !== undefined) continue;
      const likes = liking(node);
      const text = `${likes.taints} ${likes.affinity}`;
      if (likings.add(text).size > MOST_PREFERENCES) return undefined;
      sorts
        .getOrInsertComputed(`${text} ${textOf(node)}`, () => newNodeClass(likes, node))
        .indexes.push(index);
    }
    const [room, use] = [judgeFor(pod, state, capacityPredicates), useScore(pod, state)];
    return new RankedKind({ sorts: [...sorts.values()], likings: likings.size }, nodes, (node) =>
      room(node) === undefined && allows(node) ? use(node) : undefined,
    );
  }

  /** undefined where the node never takes the Pod. */
  nodeClassOf(index: number): NodeClass | undefined {
    return this.#sortOf[index];
  }

  /** Pods are about to be placed. */
  begin(): void {
    for (const sort of this.classes) [sort.least, sort.last] = [sort.size, UNASKED];
  }

  /** The index of the node for the next Pod; of several that are as good the first. @param open sorts that may be taken */
  choose(open = this.classes): number | undefined {
    for (const sort of this.classes) sort.least = Math.min(sort.least, sort.size);
    const most = { taints: 0, affinity: 0 };
    for (const { preference, size } of open) {
      if (size === 0) continue;
      most.taints = Math.max(most.taints, preference.taints);
      most.affinity = Math.max(most.affinity, preference.affinity);
    }
    let best: Place | undefined;
    for (const { preference, indexes, ranking } of open) {
      const own = ranking.best();
      if (own === undefined) continue;
      const place = { index: indexes[own.index] ?? 0, score: own.score + preferenceScore(preference, most) };
      if (best === undefined || isBehind(best, place)) best = place;
    }
    for (const sort of open) {
      if (sort.last === undefined) continue;
      const bar = best && { index: best.index, score: best.score - preferenceScore(sort.preference, most) };
      if (bar === undefined || isBehind(bar, sort.last)) sort.last = bar;
    }
    return best?.index;
  }

  /** Looks at the node, whose Pods have changed. @returns how many more of its sort take the Pod */
  lookAt(index: number, node: NodeState): number {
    const [sort, at] = [this.#sortOf[index], this.#at[index] ?? 0];
    if (sort === undefined) return 0;
    const [before, score] = [sort.ranking.scoreOf(at), this.#scoreOf(node)];
    if (score === before) return 0;
    sort.ranking.set(at, score);
    const grown = (score === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    sort.size += grown;
    return grown;
  }

  /** Looks at a node that no Pod was placed on, and says whether one might be placed elsewhere by now. */
  changed(index: number, node: NodeState): boolean {
    const sort = this.#sortOf[index];
    if (sort === undefined) return false;
    const grown = this.lookAt(index, node);
    // Where a sort was or is without nodes at some time, what others are worth may be something else.
    const least = Math.min(sort.least, sort.least + grown);
    sort.least += grown;
    return (grown !== 0 && least < 1 && this.hasPreferences) || this.isAhead(index);
  }

  /** Whether the node, as it was looked at last, would have been chosen for one of the Pods. */
  isAhead(index: number): boolean {
    const sort = this.#sortOf[index];
    const score = sort?.ranking.scoreOf(this.#at[index] ?? 0);
    if (sort === undefined || score === undefined) return false;
    return sort.last === undefined || isBehind(sort.last, { index, score });
  }
}

const newNodeClass = (preference: Preference, first: NodeState): NodeClass => ({
  preference,
  first,
  indexes: [],
  ranking: new Ranking([]),
  size: 0,
  least: 0,
  last: UNASKED,
});

const isBehind = (a: Place, b: Place): boolean =>
  a.score < b.score || (a.score === b.score && a.index > b.index);

const NOBODY = Number.NEGATIVE_INFINITY;

/** Scores in a row, of which the highest is known at any time; of several the first. */
class Ranking {
  /** Of so many a tournament is held: a power of two. */
  readonly #size: number;
  readonly #scores: Float64Array;
  /** Who wins below: `1` is the final, and under `at` are `2 * at` and `2 * at + 1`. */
  readonly #winners: Int32Array;

  /** @param scores undefined for who is out */
  constructor(scores: readonly (number | undefined)[]) {
    this.#size = 2 ** Math.ceil(Math.log2(Math.max(scores.length, 1)));
    this.#scores = new Float64Array(this.#size).fill(NOBODY);
    this.#winners = new Int32Array(2 * this.#size);
    for (const [index, score] of scores.entries()) this.#scores[index] = score ?? NOBODY;
    for (let index = 0; index < this.#size; index += 1) this.#winners[this.#size + index] = index;
    for (let at = this.#size - 1; at > 0; at -= 1) this.#play(at);
  }

  scoreOf(index: number): number | undefined {
    const score = this.#scores[index] ?? NOBODY;
    return score === NOBODY ? undefined : score;
  }

  set(index: number, score: number | undefined): void {
    const next = score ?? NOBODY;
    if (this.#scores[index] === next) return;
    this.#scores[index] = next;
    for (let at = (this.#size + index) >> 1; at > 0; at >>= 1) this.#play(at);
  }

  /** undefined where all are out. */
  best(): { readonly index: number; readonly score: number } | undefined {
    const index = this.#winners[1] ?? 0;
    const score = this.scoreOf(index);
    return score === undefined ? undefined : { index, score };
  }

  #play(at: number): void {
    const left = this.#winners[2 * at] ?? 0;
    const right = this.#winners[2 * at + 1] ?? 0;
    this.#winners[at] = (this.#scores[right] ?? NOBODY) > (this.#scores[left] ?? NOBODY) ? right : left;
  }
}
