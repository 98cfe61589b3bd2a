import type { ClusterState } from './cluster-state.ts';
import type { NodeState } from './node-state.ts';
import { isAlike, type Pod } from './snapshot.ts';
import { InterPodKind, type TrackedRule } from './inter-pod-kind.ts';
import { Placer, type GangToPlace } from './placer.ts';
import { counted } from './preemptor.ts';
import { selects, termTakes } from './selectors.ts';

/** With more cells, placing a Pod takes as long as scoring the nodes one by one. */
const MOST_CELLS = 64;

/**
 * Tells whether a gang with inter-Pod constraints (affinity, anti-affinity, topology spread) fits.
 *
 * 1. Pods are of one kind if they are alike and every rule, their own and that of Pods on nodes, treats them the same.
 * 2. Each kind ranks the nodes ({@link InterPodKind}) under rules that follow Pods as they come and go.
 * 3. Where the Pods went when they last fitted is remembered, with what each rule said of each domain then.
 * 4. They are placed again only if a change can matter: a chosen node changed, another became better, or a rule now says
 *    something else of a domain that the gang uses or could have used.
 * 5. A unit that did not fit beside the gang is taken away again: what was known before it came holds again (`backOut`).
 * @param mostCells groups of nodes in the same domains that are told apart
 * @returns undefined where nodes are preferred in too many ways
 */
export function interPodFit(
  wanting: GangToPlace,
  state: ClusterState,
  nodes: readonly NodeState[],
  mostCells = MOST_CELLS,
): InterPodFit | undefined {
  for (const { constraints } of wanting.pods) state.wanted.know(constraints.antiAffinity);
  const kinds = new Map<Pod, InterPodKind>();
  const firsts = new Map<string, { readonly pod: Pod; readonly kind: InterPodKind }[]>();
  for (const pod of wanting.pods) {
    const alike = firsts.getOrInsertComputed(mindedAs(pod, state), () => []);
    let one = alike.find((other) => isAlike(other.pod, pod));
    if (one === undefined) {
      // A copy that is never placed, so that every Pod that is placed counts for it.
      const kind = InterPodKind.of({ ...pod }, { state, nodes, mostCells });
      if (kind === undefined) return undefined;
      alike.push((one = { pod, kind }));
    }
    kinds.set(pod, one.kind);
  }
  return new InterPodFit(wanting, new Placer(wanting, { state, nodes, kinds }));
}

/** How the rules of others, and its own, treat the Pod itself. */
function mindedAs(pod: Pod, { wanted, namespaces }: ClusterState): string {
  const { affinity, spread } = pod.constraints;
  return JSON.stringify([
    pod.namespace,
    wanted.against(pod).map(({ id }) => id),
    affinity.map((term) => termTakes(term, pod, namespaces)),
    spread.map(({ selector }) => selects(selector, pod.labels)),
  ]);
}

class InterPodFit {
  readonly #wanting: GangToPlace;
  readonly #placer: Placer<InterPodKind>;
  readonly #rules: readonly TrackedRule[];
  readonly #changed = new Set<NodeState>();
  /** Since the gang fitted. */
  readonly #since = new Set<NodeState>();
  /** Where its Pods went then. */
  #chosen: ReadonlySet<NodeState> = new Set();
  /** Whether it fitted, and whether that can still be relied on. */
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
