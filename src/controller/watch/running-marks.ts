import type { PodRecord } from '../../gang/records.ts';
import { keyOf } from '../../kube/loop/cache.ts';
import { runsBy } from '../../preparers/runs-by.ts';

/** By which marks the Pods of each gang run, kept with every change, since it is asked with every new Pod of theirs. */
export class RunningMarks {
  /** Of each gang how many Pods run by each mark. */
  readonly #counts = new Map<string, Map<string, number>>();

  changed({ old, new: now }: Record<'old' | 'new', PodRecord | undefined>): void {
    if (old !== undefined) this.#count(old, -1);
    if (now !== undefined) this.#count(now, 1);
  }

  /** One by which some of them run, other than this; undefined where none does. */
  otherThan(gang: string, mark: string): string | undefined {
    for (const other of this.#counts.get(gang)?.keys() ?? []) if (other !== mark) return other;
    return undefined;
  }

  #count(pod: PodRecord, one: 1 | -1): void {
    const mark = runsBy(pod);
    if (mark === undefined) return;
    const key = keyOf(pod.namespace, pod.gang);
    const counts = this.#counts.get(key) ?? new Map<string, number>();
    const count = (counts.get(mark) ?? 0) + one;
    if (count > 0) counts.set(mark, count);
    else counts.delete(mark);
    if (counts.size > 0) this.#counts.set(key, counts);
    else this.#counts.delete(key);
  }
}
