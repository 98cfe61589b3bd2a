import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { isAlike, type Pod } from './snapshot.ts';
import { InterPodKind, type TrackedRule } from './inter-pod-kind.ts';
import { Placer, type GangToPlace } from './placer.ts';
import { counted } from './preemptor.ts';
import { selects, termTakes } from './selectors.ts';

/** The most cells (see `mostCells`). With more, placing a Pod takes as long as scoring the nodes one by one. */
const MOST_CELLS = 256;

/**
 * Tells whether a gang with inter-Pod constraints (affinity, anti-affinity, topology spread) fits.
 *
 * 1. Pods are of one kind if they are alike and every rule, their own and those of Pods on nodes, treats them the same.
 * 2. Each kind ranks the nodes ({@link InterPodKind}) under rules that follow Pods as they come and go.
 * 3. When the gang fits, the nodes of its Pods are remembered, with the answer of each rule for each domain.
 * 4. The Pods are placed again only if a change can matter: a chosen node changed, another node became better, or a rule
 *    changed its answer for a domain that the gang uses or could have used.
 * 5. When a unit did not fit beside the gang and is removed again, the remembered state is restored (`backOut`).
 * @param mostCells the most groups of nodes in the same domains that are distinguished
 */
export function interPodFit(
  wanting: GangToPlace,
  state: ClusterState,
  nodes: readonly NodeState[],
  mostCells = MOST_CELLS,
): InterPodFit {
  const kinds = new Map<Pod, InterPodKind>();
  for (const [first, ...others] of kindsMinding(wanting.pods, state)) {
    // A copy that is never placed itself, so that every placed Pod counts for it.
    const kind = InterPodKind.of({ ...first }, { state, nodes, mostCells });
    for (const pod of [first, ...others]) kinds.set(pod, kind);
  }
  return new InterPodFit(wanting, new Placer(wanting, { state, nodes, kinds }));
}

/** The Pods by kind: Pods that are alike, and that every rule treats the same. */
export function kindsMinding(pods: readonly Pod[], state: ClusterState): (readonly [Pod, ...Pod[]])[] {
  for (const { constraints } of pods) state.wanted.know(constraints.antiAffinity);
  const kinds: [Pod, ...Pod[]][] = [];
  const byText = new Map<string, [Pod, ...Pod[]][]>();
  for (const pod of pods) {
    const alike = byText.getOrInsertComputed(mindedAs(pod, state), () => []);
    const kind = alike.find(([first]) => isAlike(first, pod));
    if (kind !== undefined) kind.push(pod);
    else {
      const made: [Pod, ...Pod[]] = [pod];
      alike.push(made);
      kinds.push(made);
    }
  }
  return kinds;
}

/** A text of how the rules of other Pods, and its own rules, treat the Pod. */
function mindedAs(pod: Pod, { wanted, namespaces }: ClusterState): string {
  const { affinity, spread } = pod.constraints;
  return JSON.stringify([
    pod.namespace,
    wanted.against(pod).id,
    affinity.map((term) => termTakes(term, pod, namespaces)),
    spread.map(({ selector }) => selects(selector, pod.labels)),
  ]);
}

class InterPodFit {
  readonly #wanting: GangToPlace;
  readonly #placer: Placer<InterPodKind>;
  readonly #rules: readonly TrackedRule[];
  readonly #changed = new Set<NodeState>();
  /** Nodes that changed since the gang fitted. */
  readonly #since = new Set<NodeState>();
  /** Nodes on which the gang's Pods were when it fitted. */
  #chosen: ReadonlySet<NodeState> = new Set();
  /** Whether the gang fitted, and the answer still holds. */
  #fitted = false;
  #isValid = false;

  constructor(wanting: GangToPlace, placer: Placer<InterPodKind>) {
    this.#wanting = wanting;
    this.#placer = placer;
    this.#rules = placer.kinds.flatMap(({ rules }) => rules);
  }

  fits(): boolean {
    const matters = this.#placer.changed(this.#changed, this.#chosen);
    this.#changed.clear();
    this.#isValid = (this.#isValid && !matters) || this.#isPlaced();
    if (!this.#isValid) return false;
    for (const rule of this.#rules) for (const node of this.#since) rule.keep(node);
    this.#since.clear();
    this.#fitted = true;
    return true;
  }

  changed(node: NodeState): void {
    this.#changed.add(node);
    this.#since.add(node);
  }

  backOut(): void {
    for (const node of this.#changed) this.#placer.lookAt(node);
    for (const rule of this.#rules) rule.backOut();
    this.#changed.clear();
    this.#since.clear();
    this.#isValid = this.#fitted;
  }

  #isPlaced(): boolean {
    const { fits, chosen } = this.#placer.place((pod) => this.#isNeeded(pod));
    if (fits) this.#chosen = chosen;
    return fits;
  }

  /** Whether a minimum cannot be met without this Pod. */
  #isNeeded({ group }: Pod): boolean {
    const { pods, minimums } = this.#wanting;
    return minimums.some(
      (one) => (one.group === undefined || one.group === group) && counted(one, pods) <= one.count,
    );
  }
}
