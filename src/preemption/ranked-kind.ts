import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { fixedPredicates, judgeFor, capacityPredicates } from './predicates/predicates.ts';
import { preferenceOf, preferenceScore, useScore, type Preference } from './scores.ts';
import type { Pod } from './snapshot.ts';

/** With more different preferences, ranking takes as long as scoring the nodes one by one. */
const MOST_PREFERENCES = 64;

/** A node of the list, and its score. */
interface Place {
  readonly index: number;
  readonly score: number;
}

/** Nodes that the Pod prefers equally, so that use alone decides between them. */
export interface NodeClass {
  readonly preference: Preference;
  readonly indexes: number[];
  /** Any of its nodes. */
  readonly first: NodeState;
  /** The nodes ranked by use alone. */
  ranking: Ranking;
  /** How many of them take the Pod. */
  size: number;
  /** The fewest that took it whenever a Pod of the kind was placed. */
  least: number;
  /** The worst node chosen so far: one that is better would have been chosen. undefined: some Pod found no node. */
  last: Place | undefined;
}

const UNASKED: Place = { index: -1, score: Number.POSITIVE_INFINITY };

/**
 * Node scores for one Pod shape, grouped by preference.
 *
 * 1. kube-scheduler scales a preference by the highest among the nodes that take the Pod, so one node that fills up can change
 *    the score of every other. Use depends on the node alone.
 * 2. So nodes are grouped into classes of equal preference, and ranked within each by use, in a tournament tree.
 * 3. To choose, take the winner of each class, add what the class's preference is worth now, and compare these few.
 * 4. A node that changed matters only if it is better than the worst that was chosen, or if its class was or becomes empty,
 *    which changes what preferences are worth.
 */
export class RankedKind {
  readonly classes: readonly NodeClass[];
  /** Whether some nodes are preferred to others. */
  readonly hasPreferences: boolean;
  /** By the index of the node; none for one that never takes the Pod. */
  readonly #classOf: (NodeClass | undefined)[];
  /** The node's index within its class. */
  readonly #at: Int32Array;
  /** By use; undefined where the node does not take such a Pod as it is. */
  readonly #scoreOf: (node: NodeState) => number | undefined;

  private constructor(
    grouped: { readonly classes: readonly NodeClass[]; readonly preferences: number },
    nodes: readonly NodeState[],
    scoreOf: (node: NodeState) => number | undefined,
  ) {
    this.classes = grouped.classes;
    this.hasPreferences = grouped.preferences > 1;
    this.#scoreOf = scoreOf;
    this.#classOf = new Array<NodeClass | undefined>(nodes.length).fill(undefined);
    this.#at = new Int32Array(nodes.length);
    for (const nodeClass of this.classes) {
      const scores = nodeClass.indexes.map((index) => {
        const node = nodes[index];
        return node && scoreOf(node);
      });
      nodeClass.ranking = new Ranking(scores);
      nodeClass.size = scores.filter((score) => score !== undefined).length;
      for (const [at, index] of nodeClass.indexes.entries()) {
        this.#classOf[index] = nodeClass;
        this.#at[index] = at;
      }
    }
  }

  /**
   * @param textOf nodes of one class have the same text
   * @param allows what a node needs besides, to take the Pod
   * @returns undefined where nodes are preferred in too many ways
   */
  static of(
    pod: Pod,
    { state, nodes }: { readonly state: ClusterState; readonly nodes: readonly NodeState[] },
    textOf: (node: NodeState) => string = () => '',
    allows: (node: NodeState) => boolean = () => true,
  ): RankedKind | undefined {
    const [fixed, preferenceFor] = [judgeFor(pod, state, fixedPredicates), preferenceOf(pod)];
    const preferences = new Set<string>();
    const classes = new Map<string, NodeClass>();
    for (const [index, node] of nodes.entries()) {
      if (fixed(node) !== undefined) continue;
      const preferred = preferenceFor(node);
      const text = `${preferred.taints} ${preferred.affinity}`;
      if (preferences.add(text).size > MOST_PREFERENCES) return undefined;
      classes
        .getOrInsertComputed(`${text} ${textOf(node)}`, () => newNodeClass(preferred, node))
        .indexes.push(index);
    }
    const [room, use] = [judgeFor(pod, state, capacityPredicates), useScore(pod, state)];
    return new RankedKind({ classes: [...classes.values()], preferences: preferences.size }, nodes, (node) =>
      room(node) === undefined && allows(node) ? use(node) : undefined,
    );
  }

  /** undefined where the node never takes the Pod. */
  nodeClassOf(index: number): NodeClass | undefined {
    return this.#classOf[index];
  }

  /** Pods are about to be placed. */
  begin(): void {
    for (const nodeClass of this.classes) [nodeClass.least, nodeClass.last] = [nodeClass.size, UNASKED];
  }

  /** The index of the node for the next Pod; of several equally good the first. @param open classes that may be taken */
  choose(open = this.classes): number | undefined {
    for (const nodeClass of this.classes) nodeClass.least = Math.min(nodeClass.least, nodeClass.size);
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
    for (const nodeClass of open) {
      if (nodeClass.last === undefined) continue;
      const bar = best && {
        index: best.index,
        score: best.score - preferenceScore(nodeClass.preference, most),
      };
      if (bar === undefined || isBehind(bar, nodeClass.last)) nodeClass.last = bar;
    }
    return best?.index;
  }

  /** Scores a node again whose Pods have changed. @returns how many more of its class take the Pod */
  lookAt(index: number, node: NodeState): number {
    const [nodeClass, at] = [this.#classOf[index], this.#at[index] ?? 0];
    if (nodeClass === undefined) return 0;
    const [before, score] = [nodeClass.ranking.scoreOf(at), this.#scoreOf(node)];
    if (score === before) return 0;
    nodeClass.ranking.set(at, score);
    const grown = (score === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
    nodeClass.size += grown;
    return grown;
  }

  /** Scores a node again that no Pod was placed on. @returns whether a Pod might be placed elsewhere by now */
  changed(index: number, node: NodeState): boolean {
    const nodeClass = this.#classOf[index];
    if (nodeClass === undefined) return false;
    const grown = this.lookAt(index, node);
    // A class that was or is empty changes what the preferences of the others are worth.
    const least = Math.min(nodeClass.least, nodeClass.least + grown);
    nodeClass.least += grown;
    return (grown !== 0 && least < 1 && this.hasPreferences) || this.isAhead(index);
  }

  /** Whether the node, as it was scored last, would have been chosen for one of the Pods. */
  isAhead(index: number): boolean {
    const nodeClass = this.#classOf[index];
    const score = nodeClass?.ranking.scoreOf(this.#at[index] ?? 0);
    if (nodeClass === undefined || score === undefined) return false;
    return nodeClass.last === undefined || isBehind(nodeClass.last, { index, score });
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

const ABSENT = Number.NEGATIVE_INFINITY;

/** Scores of which the highest, and of several the first, is known at any time: a tournament tree. */
class Ranking {
  /** Leaves of the tree: a power of two. */
  readonly #size: number;
  readonly #scores: Float64Array;
  /** Winners: `1` is the root, and the children of `at` are `2 * at` and `2 * at + 1`. */
  readonly #winners: Int32Array;

  /** @param scores undefined for who is out */
  constructor(scores: readonly (number | undefined)[]) {
    this.#size = 2 ** Math.ceil(Math.log2(Math.max(scores.length, 1)));
    this.#scores = new Float64Array(this.#size).fill(ABSENT);
    this.#winners = new Int32Array(2 * this.#size);
    for (const [index, score] of scores.entries()) this.#scores[index] = score ?? ABSENT;
    for (let index = 0; index < this.#size; index += 1) this.#winners[this.#size + index] = index;
    for (let at = this.#size - 1; at > 0; at -= 1) this.#play(at);
  }

  scoreOf(index: number): number | undefined {
    const score = this.#scores[index] ?? ABSENT;
    return score === ABSENT ? undefined : score;
  }

  set(index: number, score: number | undefined): void {
    const next = score ?? ABSENT;
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
    this.#winners[at] = (this.#scores[right] ?? ABSENT) > (this.#scores[left] ?? ABSENT) ? right : left;
  }
}
