import { isObject, own, type Json, type JsonObject } from '../json/json.ts';
import { pointer, type WriteOperation } from '../json/patch.ts';

/** An operation with the reason for it, one clause, for people. */
export interface Change {
  readonly operation: WriteOperation;
  readonly why: string;
}

/** The pointers to what backends set, by object and key: some dozens in the life of a process, asked for with every Pod. */
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
    // Joined: a text that is added up stays in parts, which are put together again whenever it is read.
    text = [path, pointer(key)].join('/');
    if (keys.size < MAX_POINTERS) keys.set(key, text);
  }
  return text;
}

/**
 * What to set in one object of the received document. The object may be missing or null there: then it is added
 * as a whole, since an operation under a missing parent refuses the request whatever the failurePolicy.
 */
export class ObjectEdit {
  readonly #path: string;
  readonly #object: JsonObject | undefined;
  /** A handful at most, so a list is searched faster than a map is made. */
  readonly #edits: { key: string; value: unknown; why: string }[] = [];
  /** Keys to take away: hardly any. */
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
