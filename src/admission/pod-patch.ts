import { own, ownList, ownObject, ownString, isObject, type Json, type JsonObject } from '../json/json.ts';
import type { PriorityClass } from '../api/priority-class.ts';
import type { PodField, PodList, PodPatch } from '../preparers/preparer.ts';
import { ListEdits } from './list-edits.ts';
import { pointer, type Change } from '../json/patch.ts';

/**
 * The patch of one Pod. It computes the operations from the received Pod without cloning or comparing it, so that a review
 * costs little more than parsing (docs/adr/0002).
 */
export class JsonPodPatch implements PodPatch {
  readonly #pod: JsonObject;
  readonly #entire: () => JsonObject;
  readonly #spec: ObjectEdit;
  readonly #annotations: ObjectEdit;
  readonly #labels: ObjectEdit;
  /** Created at the first use, since few Pods need it. */
  #lists: ListEdits | undefined;
  readonly #gates: { name: string; why: string }[] = [];

  /**
   * @param pod the received Pod; the review has checked that `metadata` is an object
   * @param entire returns the Pod with the lists of its containers, where they were left out of `pod`
   */
  constructor(pod: JsonObject, entire = () => pod) {
    this.#pod = pod;
    this.#entire = entire;
    const metadata = own(pod, 'metadata');
    this.#spec = new ObjectEdit('/spec', own(pod, 'spec'));
    this.#annotations = new ObjectEdit('/metadata/annotations', own(metadata, 'annotations'));
    this.#labels = new ObjectEdit('/metadata/labels', own(metadata, 'labels'));
  }

  setSchedulerName(name: string, why: string): void {
    this.#spec.set('schedulerName', name, why);
  }

  /**
   * Sets the class. Kubernetes then resolves number and preemption policy again, and refuses a Pod that has those of another
   * class.
   */
  setPriorityClass({ name, preempts }: Pick<PriorityClass, 'name' | 'preempts'>, why: string): void {
    const policy = own(own(this.#pod, 'spec'), 'preemptionPolicy');
    this.#spec.set('priorityClassName', name, why);
    this.#spec.remove('priority', why);
    if ((policy === 'Never') === preempts) this.#spec.remove('preemptionPolicy', why);
  }

  annotate(key: string, value: string, why: string): void {
    this.#annotations.set(key, value, why);
  }

  label(key: string, value: string, why: string): void {
    this.#labels.set(key, value, why);
  }

  addGate(name: string, why: string): void {
    const given = ownList(ownObject(this.#pod, 'spec'), 'schedulingGates') ?? [];
    const present =
      given.some((gate) => ownString(gate, 'name') === name) ||
      this.#gates.some((gate) => gate.name === name);
    if (!present) this.#gates.push({ name, why });
  }

  setSchedulingGroup(podGroupName: string, why: string): void {
    const group = ownObject(ownObject(this.#pod, 'spec'), 'schedulingGroup');
    if (ownString(group, 'podGroupName') === podGroupName) this.#spec.unset('schedulingGroup');
    else this.#spec.set('schedulingGroup', { podGroupName }, why);
  }

  setWorkloadRef({ name, podGroup }: { name: string; podGroup: string }, why: string): void {
    const given = ownObject(ownObject(this.#pod, 'spec'), 'workloadRef');
    const same = ownString(given, 'name') === name && ownString(given, 'podGroup') === podGroup;
    if (same) this.#spec.unset('workloadRef');
    else this.#spec.set('workloadRef', { name, podGroup }, why);
  }

  add(list: PodList, item: JsonObject, why: string, container?: string): void {
    (this.#lists ??= new ListEdits(this.#entire())).add(list, item, why, container);
  }

  set(field: PodField, value: Json, why: string, container?: string): void {
    (this.#lists ??= new ListEdits(this.#entire())).set(field, value, why, container);
  }

  /** The last of {@link changes}: what {@link add} and {@link set} have led to. */
  listChanges(): Change[] {
    return this.#lists?.changes([]) ?? [];
  }

  /** The operations in a fixed order, so that the same Pod gives the same bytes. */
  changes(): Change[] {
    const changes: Change[] = [];
    if (this.#gates.length > 0) {
      if (ownList(own(this.#pod, 'spec'), 'schedulingGates') === undefined) {
        const why = this.#gates.map((gate) => gate.why).join('; ');
        const gates = this.#gates.map(({ name }) => ({ name }));
        this.#spec.set('schedulingGates', gates, why);
      } else {
        for (const { name, why } of this.#gates) {
          changes.push({ operation: { op: 'add', path: '/spec/schedulingGates/-', value: { name } }, why });
        }
      }
    }
    this.#labels.changes(this.#annotations.changes(this.#spec.changes(changes)));
    return this.#lists?.changes(changes) ?? changes;
  }
}

/**
 * JSON pointers to the fields that backends set, by object and key. They are needed for every Pod, and there are only a few
 * dozen.
 */
const pointers = new Map<string, Map<string, string>>();
const MAX_POINTERS = 1024;

function rememberedPointer(path: string, key: string): string {
  let keys = pointers.get(path);
  if (keys === undefined) {
    keys = new Map<string, string>();
    pointers.set(path, keys);
  }
  let text = keys.get(key);
  if (text === undefined) {
    // `join` gives a flat string. V8 keeps a concatenated string in parts and joins them at each read.
    text = [path, pointer(key)].join('/');
    if (keys.size < MAX_POINTERS) keys.set(key, text);
  }
  return text;
}

/**
 * The changes to one object of the received document. If the object is missing or null, it is added whole: an operation
 * under a missing parent makes the API server refuse the request, whatever the failurePolicy.
 */
export class ObjectEdit {
  readonly #path: string;
  readonly #object: JsonObject | undefined;
  /** A handful at most, so searching a list is faster than creating a map. */
  readonly #edits: { key: string; value: unknown; why: string }[] = [];
  /** Keys to remove; hardly ever any. */
  #removed: { key: string; why: string }[] | undefined;

  /** @param path JSON pointer of the object; its own parent exists in the document */
  constructor(path: string, object: Json | undefined) {
    this.#path = path;
    this.#object = isObject(object) ? object : undefined;
  }

  /** Sets `key`, unless the document has that very string or boolean already. A later value wins. */
  set(key: string, value: string | boolean | JsonObject | readonly JsonObject[], why: string): void {
    const index = this.#edits.findIndex((edit) => edit.key === key);
    if (own(this.#object, key) === value) this.unset(key);
    else if (index < 0) this.#edits.push({ key, value, why });
    else this.#edits[index] = { key, value, why };
  }

  /** Takes `key` away, where the document has it. */
  remove(key: string, why: string): void {
    if (this.#object === undefined || !Object.hasOwn(this.#object, key)) return;
    (this.#removed ??= []).push({ key, why });
  }

  /** Leaves `key` as the document has it. */
  unset(key: string): void {
    const index = this.#edits.findIndex((edit) => edit.key === key);
    if (index >= 0) this.#edits.splice(index, 1);
  }

  /** Appends the changes to `changes`, and gives it back. */
  changes(changes: Change[] = []): Change[] {
    for (const { key, why } of this.#removed ?? []) {
      changes.push({ operation: { op: 'remove', path: rememberedPointer(this.#path, key) }, why });
    }
    if (this.#edits.length === 0) return changes;
    const object = this.#object;
    if (object === undefined) {
      const value = Object.fromEntries(this.#edits.map((edit) => [edit.key, edit.value]));
      const why = [...new Set(this.#edits.map((edit) => edit.why))].join('; ');
      changes.push({ operation: { op: 'add', path: this.#path, value }, why });
      return changes;
    }
    for (const { key, value, why } of this.#edits) {
      const op = Object.hasOwn(object, key) ? 'replace' : 'add';
      changes.push({ operation: { op, path: rememberedPointer(this.#path, key), value }, why });
    }
    return changes;
  }
}
