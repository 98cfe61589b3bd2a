import type { Plan } from '../../gang/plan/gang-plan.ts';
import type { GangState } from '../../gang/records.ts';

/** How long gangs take from complete to released, as the caches show it: with every watch and queue in between. */
export class ReleaseTimer {
  /** Complete gangs that have a gate left, and since when. */
  readonly #since = new Map<string, number>();

  /**
   * Looks at a gang. One whose Pods wait for a base gang is left out: its time says nothing about the loop.
   * @returns milliseconds, where its last gate is off now
   */
  look(key: string, state: GangState, { summary }: Plan): number | undefined {
    const groups = summary?.groups ?? [];
    const ours = state.notOurs === undefined && state.pods.every((pod) => pod.baseGang === undefined);
    const complete =
      groups.some((group) => group.expected > 0) && groups.every((group) => group.present >= group.expected);
    if (!ours || !complete) {
      this.#since.delete(key);
      return undefined;
    }
    const since = this.#since.get(key);
    if (groups.some((group) => group.gated > 0)) {
      if (since === undefined) this.#since.set(key, state.now);
      return undefined;
    }
    this.#since.delete(key);
    return since === undefined ? undefined : state.now - since;
  }
}
