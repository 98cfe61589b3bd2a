import type { Json, JsonObject } from '../json/json.ts';
import type { PodField, PodList, PodPatch, WorkloadRef } from '../preparers/preparer.ts';
import { MOST_EDITS } from './replay.ts';

/** Writes down what a backend wants of a Pod, for it to be done where the Pod is. */
class RecordedPatch implements PodPatch {
  readonly edits: unknown[][] = [];

  setSchedulerName(name: string, why: string): void {
    this.#record('setSchedulerName', name, why);
  }

  annotate(key: string, value: string, why: string): void {
    this.#record('annotate', key, value, why);
  }

  label(key: string, value: string, why: string): void {
    this.#record('label', key, value, why);
  }

  addGate(name: string, why: string): void {
    this.#record('addGate', name, why);
  }

  setSchedulingGroup(podGroupName: string, why: string): void {
    this.#record('setSchedulingGroup', podGroupName, why);
  }

  setWorkloadRef(reference: WorkloadRef, why: string): void {
    this.#record('setWorkloadRef', reference, why);
  }

  add(list: PodList, item: JsonObject, why: string, container?: string): void {
    this.#record('add', list, item, why, container);
  }

  set(field: PodField, value: Json, why: string, container?: string): void {
    this.#record('set', field, value, why, container);
  }

  #record(...edit: unknown[]): void {
    if (this.edits.length >= MOST_EDITS) throw new Error(`a Pod gets ${MOST_EDITS} edits at most`);
    this.edits.push(edit);
  }
}

/** What one call wants of a Pod. @param prepare returns nothing; that it returned something is told */
export function recorded(prepare: (patch: PodPatch) => unknown): JsonObject {
  const patch = new RecordedPatch();
  const returned = prepare(patch);
  const edits = patch.edits as Json[];
  if (returned === undefined) return { edits };
  Promise.resolve(returned).catch(() => undefined);
  return { edits, returned: true };
}
