import { keyOf } from '../../kube/loop/cache.ts';
import type { GangKind } from '../../workloads/gang-kind.ts';

/** Which gangs were made, or are to be made, from which workload: what happens to that concerns them. */
export class AskedFor {
  /** By kind, then by the workload's `namespace/name`. */
  readonly #gangs = new Map<string, Map<string, Set<string>>>();
  readonly #workloads = new Map<string, { readonly kind: string; readonly workload: string }>();

  remember(gang: string, { short }: GangKind, namespace: string, name: string): void {
    const workload = keyOf(namespace, name);
    this.#gangs.getOrInsert(short, new Map()).getOrInsert(workload, new Set()).add(gang);
    this.#workloads.set(gang, { kind: short, workload });
  }

  forget(gang: string): void {
    const known = this.#workloads.get(gang);
    if (known === undefined) return;
    const ofKind = this.#gangs.get(known.kind);
    const gangs = ofKind?.get(known.workload);
    gangs?.delete(gang);
    if (gangs?.size === 0) ofKind?.delete(known.workload);
    this.#workloads.delete(gang);
  }

  /** @param namespace absent: of all workloads of the kind */
  *gangsOf({ short }: GangKind, namespace?: string, name = ''): Generator<string, void> {
    const ofKind = this.#gangs.get(short);
    if (ofKind === undefined) return;
    if (namespace !== undefined) return yield* ofKind.get(keyOf(namespace, name)) ?? [];
    for (const gangs of ofKind.values()) yield* gangs;
  }
}
