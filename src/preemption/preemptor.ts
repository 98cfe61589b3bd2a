import type { Refusal } from './refusal.ts';
import type { Pod, Topology } from './snapshot.ts';

/** Who wants room: a gang, or one Pod that is in none. */
export interface Preemptor {
  readonly kind: 'Gang' | 'Pod';
  /** `namespace/name`. */
  readonly key: string;
  /** Its scheduling priority: only what is strictly below can make room. */
  readonly priority: number;
  /** False: it waits until there is room. */
  readonly preempts: boolean;
  /** Those that have no node yet, in the order in which they are placed. */
  readonly pods: readonly Pod[];
  /** What has to be placed together; a Pod beyond its group's count is welcome, not needed. */
  readonly minimums: readonly Minimum[];
  /** Which of its Pods belong together; undefined: they may be anywhere. */
  readonly topology?: Topology | undefined;
  /** Why its scheduler does not even try it; undefined: it does. */
  readonly untried?: Refusal | undefined;
  /** Whether a running Pod is one of its own: it is never its own victim. */
  owns(pod: Pod): boolean;
}

export interface Minimum {
  /** Of {@link Pod.group}; undefined: all Pods count. */
  readonly group: string | undefined;
  /** How many of {@link Preemptor.pods} are needed, less those that run already. */
  readonly count: number;
}

/** How many Pods count for a minimum. */
export function counted({ group }: Minimum, pods: Iterable<Pod>): number {
  let count = 0;
  for (const pod of pods) if (group === undefined || pod.group === group) count += 1;
  return count;
}

/** What is still needed while Pods of a preemptor are placed one after the other. */
export class Needs {
  readonly #left: Map<string | undefined, number>;

  constructor(minimums: readonly Minimum[]) {
    this.#left = new Map(minimums.map(({ group, count }) => [group, count]));
  }

  /** Whether some minimum is not met without this Pod, or another one like it. */
  wants({ group }: Pod): boolean {
    return (this.#left.get(undefined) ?? 0) > 0 || (this.#left.get(group) ?? 0) > 0;
  }

  /** The Pod is placed. */
  met({ group }: Pod): void {
    for (const one of [undefined, group]) {
      const left = this.#left.get(one);
      if (left !== undefined) this.#left.set(one, left - 1);
    }
  }

  get areMet(): boolean {
    for (const left of this.#left.values()) if (left > 0) return false;
    return true;
  }
}
