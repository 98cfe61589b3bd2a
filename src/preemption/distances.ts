import type { NodeState } from './node-state.ts';
import { CountedPods } from './crowd.ts';
import { termTakes } from './selectors.ts';
import type { Pod, PodAffinityTerm, Snapshot } from './snapshot.ts';

/** A term of anti-affinity, and the Pods on nodes that have it. */
export interface AntiAffinityTerm {
  readonly id: number;
  readonly term: PodAffinityTerm;
  readonly crowd: CountedPods;
}

/** What Pods on nodes want to be away from: they judge every newcomer. Terms that say the same are one. */
export class AntiAffinityTerms {
  readonly #namespaces: Snapshot['namespaces'];
  readonly #all: AntiAffinityTerm[] = [];
  readonly #byText = new Map<string, AntiAffinityTerm>();
  /** By a list of terms, which Pods of one template share. */
  readonly #byList = new Map<readonly PodAffinityTerm[], readonly AntiAffinityTerm[]>();
  /** Of a newcomer: those that take it, among as many as were known then. */
  readonly #against = new Map<Pod, { known: number; readonly found: AntiAffinityTerm[] }>();
  /** How many Pods on nodes want distance from anybody. */
  #wanting = 0;

  constructor(namespaces: Snapshot['namespaces']) {
    this.#namespaces = namespaces;
  }

  get some(): boolean {
    return this.#wanting > 0;
  }

  put(pod: Pod, node: NodeState): void {
    const { antiAffinity } = pod.constraints;
    if (antiAffinity.length === 0) return;
    this.#wanting += 1;
    for (const { crowd } of this.know(antiAffinity)) crowd.put(pod, node);
  }

  take(pod: Pod): void {
    const { antiAffinity } = pod.constraints;
    if (antiAffinity.length === 0) return;
    this.#wanting -= 1;
    for (const { crowd } of this.know(antiAffinity)) crowd.take(pod);
  }

  /** Terms that a Pod has, or will have once it is somewhere. */
  know(antiAffinity: readonly PodAffinityTerm[]): readonly AntiAffinityTerm[] {
    return this.#byList.getOrInsertComputed(antiAffinity, () => [
      ...new Set(antiAffinity.map((term) => this.#distance(term))),
    ]);
  }

  #distance(term: PodAffinityTerm): AntiAffinityTerm {
    return this.#byText.getOrInsertComputed(JSON.stringify(term), () => {
      const distance = { id: this.#all.length, term, crowd: new CountedPods() };
      this.#all.push(distance);
      return distance;
    });
  }

  /** Those that speak of the Pod, whether or not somebody on a node has them now. */
  against(pod: Pod): readonly AntiAffinityTerm[] {
    const one = this.#against.getOrInsertComputed(pod, () => ({ known: 0, found: [] }));
    for (; one.known < this.#all.length; one.known += 1) {
      const distance = this.#all[one.known];
      if (distance !== undefined && termTakes(distance.term, pod, this.#namespaces)) one.found.push(distance);
    }
    return one.found;
  }
}
