import { termTakes } from './selectors.ts';
import type { Pod, PodAffinityTerm, Snapshot } from './snapshot.ts';

/** The anti-affinity terms that select a Pod. */
export interface TermsAgainst {
  /** A text that Pods have in common which the same terms select. */
  readonly id: string;
  readonly byTopologyKey: ReadonlyMap<string, ReadonlySet<PodAffinityTerm>>;
}

/** Anti-affinity terms of the Pods on nodes, which every Pod that is placed must satisfy. Equal terms are kept once. */
export class AntiAffinityTerms {
  readonly #namespaces: Snapshot['namespaces'];
  /** All terms, by their text. */
  readonly #all = new Map<string, PodAffinityTerm>();
  /** Terms by the list of terms, which Pods of one template share. */
  readonly #byList = new Map<readonly PodAffinityTerm[], readonly PodAffinityTerm[]>();
  /** Keys of the labels that some term asks for. */
  readonly #keys = new Set<string>();
  /** For each Pod to place the terms that select it, among as many terms as were known at the time. */
  readonly #against = new Map<Pod, { readonly known: number; readonly found: TermsAgainst }>();
  /** The same by what terms ask of a Pod, among all known terms. */
  readonly #asked = new Map<string, TermsAgainst>();
  readonly #byId = new Map<string, TermsAgainst>();
  /** How many Pods on nodes have anti-affinity. */
  #wanting = 0;

  constructor(namespaces: Snapshot['namespaces']) {
    this.#namespaces = namespaces;
  }

  get some(): boolean {
    return this.#wanting > 0;
  }

  put({ constraints: { antiAffinity } }: Pod): void {
    if (antiAffinity.length === 0) return;
    this.#wanting += 1;
    this.know(antiAffinity);
  }

  take({ constraints: { antiAffinity } }: Pod): void {
    if (antiAffinity.length > 0) this.#wanting -= 1;
  }

  /** Registers the terms of a Pod, on a node or not. */
  know(antiAffinity: readonly PodAffinityTerm[]): readonly PodAffinityTerm[] {
    return this.#byList.getOrInsertComputed(antiAffinity, () =>
      antiAffinity.map((term) => this.#known(term)),
    );
  }

  #known(term: PodAffinityTerm): PodAffinityTerm {
    return this.#all.getOrInsertComputed(JSON.stringify(term), () => {
      this.#asked.clear();
      for (const key in term.selector?.matchLabels) this.#keys.add(key);
      for (const { key } of term.selector?.matchExpressions ?? []) this.#keys.add(key);
      return term;
    });
  }

  /** The terms that select the Pod, whether or not a Pod on a node has them at present. */
  against(pod: Pod): TermsAgainst {
    const before = this.#against.get(pod);
    if (before?.known === this.#all.size) return before.found;
    const labels = [...this.#keys].map((key) => pod.labels.get(key) ?? null);
    const asked = JSON.stringify([pod.namespace, labels]);
    const found = this.#asked.getOrInsertComputed(asked, () => this.#search(pod));
    this.#against.set(pod, { known: this.#all.size, found });
    return found;
  }

  #search(pod: Pod): TermsAgainst {
    const terms = [...this.#all.values()];
    const selecting = terms.flatMap((term, id) =>
      termTakes(term, pod, this.#namespaces) ? [{ term, id }] : [],
    );
    const id = selecting.map((one) => one.id).join();
    return this.#byId.getOrInsertComputed(id, () => {
      const byTopologyKey = new Map<string, Set<PodAffinityTerm>>();
      for (const { term } of selecting)
        byTopologyKey.getOrInsertComputed(term.topologyKey, () => new Set()).add(term);
      return { id, byTopologyKey };
    });
  }
}
