import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { isAlike } from './kinds.ts';
import { counted, Needs, type Preemptor } from './preemptor.ts';
import { SocialKind } from './social-kind.ts';
import { selects, termTakes } from './selectors.ts';
import type { Pod } from './snapshot.ts';

/** Of more cells each Pod would take as long as looking at the nodes one by one. */
const MOST_CELLS = 64;

type Wanting = Pick<Preemptor, 'pods' | 'minimums'>;

/**
 * Says what placing the gang would say, also where it matters who is near. Where its Pods went when they last fitted is
 * remembered, and they are placed again only when a change can have made a difference.
 * @param mostCells so many groups of nodes in the same domains are told apart
 * @returns undefined where nodes are liked in too many ways
 */
export function socialFit(
  { pods, minimums }: Wanting,
  state: ClusterState,
  nodes: readonly NodeState[],
  mostCells = MOST_CELLS,
): SocialFit | undefined {
  for (const { constraints } of pods) state.wanted.know(constraints.antiAffinity);
  const kinds = new Map<Pod, SocialKind>();
  const firsts = new Map<string, { readonly pod: Pod; readonly kind: SocialKind }[]>();
  for (const pod of pods) {
    const alike = firsts.getOrInsertComputed(mindedAs(pod, state), () => []);
    let one = alike.find((other) => isAlike(other.pod, pod));
    if (one === undefined) {
      // One that is never placed, so that whoever is placed counts for it.
      const kind = SocialKind.of({ ...pod }, { state, nodes, mostCells });
      if (kind === undefined) return undefined;
      alike.push((one = { pod, kind }));
    }
    kinds.set(pod, one.kind);
  }
  return new SocialFit({ pods, minimums }, { state, nodes, kinds });
}

/** What rules about others make of the Pod itself. */
function mindedAs(pod: Pod, { wanted, namespaces }: ClusterState): string {
  const { affinity, spread } = pod.constraints;
  return JSON.stringify([
    pod.namespace,
    wanted.against(pod).map(({ id }) => id),
    affinity.map((term) => termTakes(term, pod, namespaces)),
    spread.map(({ selector }) => selects(selector, pod.labels)),
  ]);
}

class SocialFit {
  readonly #preemptor: Wanting;
  readonly #state: ClusterState;
  readonly #nodes: readonly NodeState[];
  readonly #index: ReadonlyMap<NodeState, number>;
  readonly #kindOf: ReadonlyMap<Pod, SocialKind>;
  readonly #kinds: readonly SocialKind[];
  readonly #changed = new Set<NodeState>();
  /** Since the gang fitted. */
  readonly #since = new Set<NodeState>();
  /** Where its Pods went then. */
  #chosen: ReadonlySet<NodeState> = new Set();
  /** Whether it fitted, and whether that can still be relied on. */
  #fitted = false;
  #isValid = false;

  constructor(
    preemptor: Wanting,
    given: {
      readonly state: ClusterState;
      readonly nodes: readonly NodeState[];
      readonly kinds: ReadonlyMap<Pod, SocialKind>;
    },
  ) {
    this.#preemptor = preemptor;
    this.#state = given.state;
    this.#nodes = given.nodes;
    this.#index = new Map(given.nodes.map((node, index) => [node, index]));
    this.#kindOf = given.kinds;
    this.#kinds = [...new Set(given.kinds.values())];
  }

  fits(): boolean {
    let matters = !this.#isValid;
    for (const node of this.#changed) {
      this.#since.add(node);
      const index = this.#index.get(node) ?? -1;
      for (const kind of this.#kinds) if (kind.changed(index, node)) matters = true;
      matters ||= this.#chosen.has(node);
    }
    this.#changed.clear();
    if (matters && !this.#placed()) {
      this.#isValid = false;
      return false;
    }
    for (const kind of this.#kinds)
      for (const rule of kind.rules) for (const node of this.#since) rule.keep(node);
    this.#since.clear();
    this.#fitted = this.#isValid = true;
    return true;
  }

  changed(node: NodeState): void {
    this.#changed.add(node);
  }

  backOut(): void {
    for (const node of this.#changed) {
      const index = this.#index.get(node) ?? -1;
      for (const kind of this.#kinds) kind.lookAt(index, node);
    }
    for (const kind of this.#kinds) for (const rule of kind.rules) rule.backOut();
    this.#changed.clear();
    this.#since.clear();
    this.#isValid = this.#fitted;
  }

  /** Places one Pod after the other that is needed, as it is done for good, and takes them off again. */
  #placed(): boolean {
    const there = new Map<Pod, NodeState>();
    for (const kind of this.#kinds) kind.begin();
    const needs = new Needs(this.#preemptor.minimums);
    for (const pod of this.#preemptor.pods) {
      if (!needs.wants(pod)) continue;
      const node = this.#nodes[this.#kindOf.get(pod)?.choose() ?? -1];
      if (node === undefined) {
        if (this.#everyoneIsNeeded(pod)) break;
        continue;
      }
      this.#state.put(pod, node);
      there.set(pod, node);
      needs.met(pod);
      this.#lookAt(node);
    }
    const chosen = new Set(there.values());
    for (const kind of this.#kinds) {
      kind.end(needs.areMet);
      if (needs.areMet) for (const rule of kind.rules) rule.placed(chosen);
    }
    if (needs.areMet) this.#chosen = chosen;
    for (const [pod, node] of there) this.#state.take(pod, node);
    for (const node of chosen) this.#lookAt(node);
    return needs.areMet;
  }

  /** Whether a minimum cannot be met without this Pod. */
  #everyoneIsNeeded({ group }: Pod): boolean {
    const { pods, minimums } = this.#preemptor;
    return minimums.some(
      (one) => (one.group === undefined || one.group === group) && counted(one, pods) <= one.count,
    );
  }

  #lookAt(node: NodeState): void {
    const index = this.#index.get(node) ?? 0;
    for (const kind of this.#kinds) kind.lookAt(index, node);
  }
}
