import type { ClusterState, NodeState } from './cluster-state.ts';
import { isAlike, kindsOf } from './kinds.ts';
import { fixedPredicates, judgeFor, ownPredicates } from './predicates/predicates.ts';
import { counted, type Preemptor } from './preemptor.ts';
import { Ranking } from './ranking.ts';
import { scoredApart, useScore } from './scores.ts';
import type { Pod } from './snapshot.ts';

/** A kind of Pod: what every node is for it, and the worst that one of them had to take. */
interface Kind {
  readonly ranking: Ranking;
  /** undefined where the node does not take such a Pod as it is. */
  readonly scoreOf: (node: NodeState) => number | undefined;
  /** Of the nodes that its Pods went to the last that would be chosen; undefined: there was none for one of them. */
  last: { readonly index: number; readonly score: number } | undefined;
}

/**
 * Says what placing the gang would say. Of each kind of Pod the nodes stand in a ranking; where the Pods went is remembered,
 * and looked at again only when one of those nodes changes, or another that is by now better than one of them.
 * @returns undefined where a node's score depends on which other nodes there are
 */
export function rankedFit(
  { pods, minimums }: Pick<Preemptor, 'pods' | 'minimums'>,
  state: ClusterState,
  nodes: readonly NodeState[],
): RankedFit | undefined {
  const kinds = new Map<Pod, Kind>();
  for (const first of kindsOf(pods)) {
    const kind = kindOf(first, state, nodes);
    if (kind === undefined) return undefined;
    for (const pod of pods) if (isAlike(first, pod)) kinds.set(pod, kind);
  }
  return new RankedFit({ pods, minimums }, { state, nodes, kinds });
}

function kindOf(pod: Pod, state: ClusterState, nodes: readonly NodeState[]): Kind | undefined {
  const fixed = judgeFor(pod, state, fixedPredicates);
  const possible = nodes.filter((node) => fixed(node) === undefined);
  if (!scoredApart(pod, possible)) return undefined;
  const own = judgeFor(
    pod,
    state,
    ownPredicates.filter((one) => !fixedPredicates.includes(one)),
  );
  const use = useScore(pod, state);
  const taken = new Set(possible);
  const scoreOf = (node: NodeState): number | undefined =>
    taken.has(node) && own(node) === undefined ? use(node) : undefined;
  return { ranking: new Ranking(nodes.map(scoreOf)), scoreOf, last: undefined };
}

class RankedFit {
  readonly #preemptor: Pick<Preemptor, 'pods' | 'minimums'>;
  readonly #state: ClusterState;
  readonly #nodes: readonly NodeState[];
  readonly #index: ReadonlyMap<NodeState, number>;
  readonly #kindOf: ReadonlyMap<Pod, Kind>;
  readonly #kinds: readonly Kind[];
  readonly #changed = new Set<NodeState>();
  /** Where the Pods went. */
  readonly #chosen = new Set<NodeState>();
  #fits: boolean;

  constructor(
    preemptor: Pick<Preemptor, 'pods' | 'minimums'>,
    given: {
      readonly state: ClusterState;
      readonly nodes: readonly NodeState[];
      readonly kinds: ReadonlyMap<Pod, Kind>;
    },
  ) {
    this.#preemptor = preemptor;
    this.#state = given.state;
    this.#nodes = given.nodes;
    this.#index = new Map(given.nodes.map((node, index) => [node, index]));
    this.#kindOf = given.kinds;
    this.#kinds = [...new Set(given.kinds.values())];
    this.#fits = this.#placed();
  }

  fits(): boolean {
    let matters = false;
    for (const node of this.#changed) {
      this.#lookAt(node);
      matters ||= this.#chosen.has(node) || this.#kinds.some((kind) => this.#isBetter(node, kind));
    }
    this.#changed.clear();
    if (matters) this.#fits = this.#placed();
    return this.#fits;
  }

  changed(node: NodeState): void {
    if (this.#index.has(node)) this.#changed.add(node);
  }

  #lookAt(node: NodeState): void {
    const index = this.#index.get(node) ?? 0;
    for (const { ranking, scoreOf } of this.#kinds) ranking.set(index, scoreOf(node));
  }

  /** Whether a Pod of the kind would rather go there than to some node that one went to. */
  #isBetter(node: NodeState, { ranking, last }: Kind): boolean {
    const index = this.#index.get(node) ?? 0;
    const score = ranking.scoreOf(index);
    if (score === undefined) return false;
    return last === undefined || score > last.score || (score === last.score && index < last.index);
  }

  /** Places one Pod after the other, as it is done for good, and takes them off again. */
  #placed(): boolean {
    const there = new Map<Pod, NodeState>();
    this.#chosen.clear();
    for (const kind of this.#kinds) kind.last = { index: -1, score: Number.POSITIVE_INFINITY };
    for (const pod of this.#preemptor.pods) {
      const kind = this.#kindOf.get(pod);
      const best = kind?.ranking.best();
      const node = best && this.#nodes[best.index];
      if (kind === undefined || best === undefined || node === undefined) {
        if (kind !== undefined) kind.last = undefined;
        continue;
      }
      if (kind.last !== undefined && isBehind(best, kind.last)) kind.last = best;
      this.#state.put(pod, node);
      there.set(pod, node);
      this.#chosen.add(node);
      this.#lookAt(node);
    }
    for (const [pod, node] of there) this.#state.take(pod, node);
    for (const node of this.#chosen) this.#lookAt(node);
    return this.#preemptor.minimums.every((one) => counted(one, there.keys()) >= one.count);
  }
}

const isBehind = (
  a: { readonly index: number; readonly score: number },
  b: { readonly index: number; readonly score: number },
): boolean => a.score < b.score || (a.score === b.score && a.index > b.index);
