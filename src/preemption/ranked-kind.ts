import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { fixedPredicates, judgeFor, roomPredicates } from './predicates/predicates.ts';
import { Ranking } from './ranking.ts';
import { likingOf, likingScore, useScore, type Liking } from './scores.ts';
import type { Pod } from './snapshot.ts';

/** Of more sorts than this each Pod would take as long as looking at the nodes one by one. */
export const MOST_SORTS = 64;

/** A node of the list, and its score. */
export interface Place {
  readonly index: number;
  readonly score: number;
}

/** Nodes that the Pod likes as much: what they have over the others is the same for all of them. */
interface Sort {
  readonly liking: Liking;
  readonly indexes: number[];
  /** By use alone. */
  ranking: Ranking;
  /** How many of them take the Pod. */
  size: number;
  /** The fewest that did when a Pod of the kind was placed. */
  least: number;
  /** What one of them would have to be better than to be chosen; undefined: there was no node for one of the Pods. */
  last: Place | undefined;
}

export const UNASKED: Place = { index: -1, score: Number.POSITIVE_INFINITY };

/**
 * What every node is for Pods of one kind. What a preference is worth depends on the highest among the nodes that take the
 * Pod, so nodes are ranked apart by how much they are preferred, and the few winners are compared.
 */
export class RankedKind {
  readonly #sorts: readonly Sort[];
  /** By the index of the node; none for one that never takes the Pod. */
  readonly #sortOf: (Sort | undefined)[];
  /** Its place within its sort. */
  readonly #at: Int32Array;
  /** By use; undefined where the node does not take such a Pod as it is. */
  readonly #scoreOf: (node: NodeState) => number | undefined;

  private constructor(
    sorts: readonly Sort[],
    nodes: readonly NodeState[],
    scoreOf: (node: NodeState) => number | undefined,
  ) {
    this.#sorts = sorts;
    this.#scoreOf = scoreOf;
    this.#sortOf = new Array<Sort | undefined>(nodes.length).fill(undefined);
    this.#at = new Int32Array(nodes.length);
    for (const sort of sorts) {
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

  /** undefined where nodes are liked in too many ways. */
  static of(pod: Pod, state: ClusterState, nodes: readonly NodeState[]): RankedKind | undefined {
    const fixed = judgeFor(pod, state, fixedPredicates);
    const liking = likingOf(pod);
    const sorts = new Map<string, Sort>();
    for (const [index, node] of nodes.entries()) {
      if (fixed(node) !== undefined) continue;
      const likes = liking(node);
      const sort = sorts.getOrInsertComputed(`${likes.taints} ${likes.affinity}`, () => newSort(likes));
      sort.indexes.push(index);
      if (sorts.size > MOST_SORTS) return undefined;
    }
    const room = judgeFor(pod, state, roomPredicates);
    const use = useScore(pod, state);
    return new RankedKind([...sorts.values()], nodes, (node) =>
      room(node) === undefined ? use(node) : undefined,
    );
  }

  /** Pods are about to be placed. */
  begin(): void {
    for (const sort of this.#sorts) [sort.least, sort.last] = [sort.size, UNASKED];
  }

  /** The index of the node for the next Pod; of several that are as good the first. */
  choose(): number | undefined {
    const most = { taints: 0, affinity: 0 };
    for (const { liking, size } of this.#sorts) {
      if (size === 0) continue;
      most.taints = Math.max(most.taints, liking.taints);
      most.affinity = Math.max(most.affinity, liking.affinity);
    }
    let best: Place | undefined;
    for (const { liking, indexes, ranking } of this.#sorts) {
      const own = ranking.best();
      if (own === undefined) continue;
      const place = { index: indexes[own.index] ?? 0, score: own.score + likingScore(liking, most) };
      if (best === undefined || isBehind(best, place)) best = place;
    }
    for (const sort of this.#sorts) {
      sort.least = Math.min(sort.least, sort.size);
      if (sort.last === undefined) continue;
      const bar = best && { index: best.index, score: best.score - likingScore(sort.liking, most) };
      if (bar === undefined || isBehind(bar, sort.last)) sort.last = bar;
    }
    return best?.index;
  }

  /** Looks at the node, on which a Pod is placed in thought or was. @param index of the node */
  lookAt(index: number, node: NodeState): void {
    const sort = this.#sortOf[index];
    if (sort !== undefined) this.#set(sort, this.#at[index] ?? 0, this.#scoreOf(node));
  }

  /** Looks at a node that no Pod was placed on, and says whether one might be placed elsewhere by now. */
  changed(index: number, node: NodeState): boolean {
    const sort = this.#sortOf[index];
    if (sort === undefined) return false;
    const score = this.#scoreOf(node);
    const grown = this.#set(sort, this.#at[index] ?? 0, score);
    // Where a sort was or is without nodes at some time, what others are worth may be something else.
    const least = Math.min(sort.least, sort.least + grown);
    sort.least += grown;
    if (grown !== 0 && least < 1 && this.#sorts.length > 1) return true;
    if (score === undefined) return false;
    return sort.last === undefined || isBehind(sort.last, { index, score });
  }

  /** @returns how many more take the Pod */
  #set(sort: Sort, at: number, score: number | undefined): number {
    const before = sort.ranking.scoreOf(at);
    sort.ranking.set(at, score);
    const grown = (score === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    sort.size += grown;
    return grown;
  }
}

const newSort = (liking: Liking): Sort => ({
  liking,
  indexes: [],
  ranking: new Ranking([]),
  size: 0,
  least: 0,
  last: UNASKED,
});

export const isBehind = (a: Place, b: Place): boolean =>
  a.score < b.score || (a.score === b.score && a.index > b.index);
