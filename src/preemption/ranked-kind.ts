import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { fixedPredicates, judgeFor, capacityPredicates } from './predicates/predicates.ts';
import { preferenceOf, preferenceScore, useScore, type Preference } from './scores.ts';
import type { Pod } from './snapshot.ts';

/** The index of a node, and its score. */
interface Place {
  readonly index: number;
  readonly score: number;
}

/** Nodes that the Pod prefers equally, so that only their use decides between them. */
export interface NodeClass {
  readonly preference: Preference;
  readonly indexes: number[];
  /** Any of its nodes. */
  readonly first: NodeState;
  /** The nodes ranked by use alone. */
  ranking: Ranking;
  /** How many nodes of the class take the Pod. */
  size: number;
  /** The lowest size at any time when a Pod of the kind was placed. */
  least: number;
  /** The worst node chosen so far: a node that is better would be chosen instead. undefined: some Pod found no node. */
  last: Place | undefined;
}

const UNASKED: Place = { index: -1, score: Number.POSITIVE_INFINITY };

/**
 * Node scores for one kind of Pod, grouped by preference.
 *
 * 1. kube-scheduler scales a preference by the highest among the nodes that take the Pod, so a single node that fills up can
 *    change the score of every other. The score for use depends on the node alone.
 * 2. So nodes are grouped into classes of equal preference, and ranked by use within each class, in a tournament tree.
 * 3. To choose a node, take the best of each class, add the present score of the class's preference, and compare these few.
 * 4. A node that changed matters only if it is better than the worst chosen one, or if its class became empty or is no
 *    longer empty, which changes the scores of preferences.
 */
export class RankedKind {
  readonly classes: readonly NodeClass[];
  /** Whether the Pod prefers some nodes to others. */
  readonly hasPreferences: boolean;
  /** The class by index of the node; undefined for a node that never takes the Pod. */
  readonly #classOf: (NodeClass | undefined)[];
  /** The node's index within its class. */
  readonly #at: Int32Array;
  /** The score by use; undefined where the node does not take the Pod at present. */
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
   * Ranks the nodes.
   * @param textOf a text that nodes of one class have in common
   * @param allows a further condition for a node to take the Pod
   */
  static of(
    pod: Pod,
    { state, nodes }: { readonly state: ClusterState; readonly nodes: readonly NodeState[] },
    textOf: (node: NodeState) => string = () => '',
    allows: (node: NodeState) => boolean = () => true,
  ): RankedKind {
    const [fixed, preferenceFor] = [judgeFor(pod, state, fixedPredicates), preferenceOf(pod)];
    const preferences = new Set<string>();
    const classes = new Map<string, NodeClass>();
    for (const [index, node] of nodes.entries()) {
      if (fixed(node) !== undefined) continue;
      const preferred = preferenceFor(node);
      const text = `${preferred.taints} ${preferred.affinity}`;
      preferences.add(text);
      classes
        .getOrInsertComputed(`${text} ${textOf(node)}`, () => newNodeClass(preferred, node))
        .indexes.push(index);
    }
    const [room, use] = [judgeFor(pod, state, capacityPredicates), useScore(pod, state)];
    return new RankedKind({ classes: [...classes.values()], preferences: preferences.size }, nodes, (node) =>
      room(node) === undefined && allows(node) ? use(node) : undefined,
    );
  }

  /** The class of a node; undefined where the node never takes the Pod. */
  nodeClassOf(index: number): NodeClass | undefined {
    return this.#classOf[index];
  }

  /** Called before Pods are placed. */
  begin(): void {
    for (const nodeClass of this.classes) [nodeClass.least, nodeClass.last] = [nodeClass.size, UNASKED];
  }

  /** Returns the index of the best node for the next Pod; of several the first. @param open the classes that may be used */
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

  /** Scores a node again whose Pods have changed. @returns by how many the number of nodes that take the Pod has grown */
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

  /** Scores a node again that has no Pod of the gang. @returns whether a Pod might now be placed elsewhere */
  changed(index: number, node: NodeState): boolean {
    const nodeClass = this.#classOf[index];
    if (nodeClass === undefined) return false;
    const grown = this.lookAt(index, node);
    // The scores of all preferences change when a class becomes empty or is no longer empty.
    const least = Math.min(nodeClass.least, nodeClass.least + grown);
    nodeClass.least += grown;
    return (grown !== 0 && least < 1 && this.hasPreferences) || this.isAhead(index);
  }

  /** Whether the node, by its last score, would have been chosen for one of the Pods. */
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

/** A tournament tree of scores: knows the highest score at any time, and of several equal ones the first. */
class Ranking {
  /** Leaves of the tree: a power of two. */
  readonly #size: number;
  readonly #scores: Float64Array;
  /** Winners: `1` is the root, and the children of `at` are `2 * at` and `2 * at + 1`. */
  readonly #winners: Int32Array;

  /** @param scores the score by index; undefined for an index that takes no part */
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

  /** Returns the best; undefined where no index takes part. */
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
