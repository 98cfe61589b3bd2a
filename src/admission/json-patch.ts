import { isObject, own, type Json, type JsonObject } from '../api/json.ts';

/** One RFC 6902 operation. Only these two are ever emitted: never `copy` or `move`, never a whole object. */
export interface Operation {
  readonly op: 'add' | 'replace';
  readonly path: string;
  readonly value: unknown;
}

/** An operation with the reason for it, one clause, for people. */
export interface Change {
  readonly operation: Operation;
  readonly why: string;
}

/** A key as one part of a JSON pointer (RFC 6901). */
export const pointer = (key: string): string =>
  key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;

/**
 * What to set in one object of the received document. The object may be missing or null there: then it is added
 * as a whole, since an operation under a missing parent refuses the request whatever the failurePolicy.
 */
export class ObjectEdit {
  readonly #path: string;
  readonly #object: JsonObject | undefined;
  readonly #values = new Map<string, { value: unknown; why: string }>();

  /** @param path JSON pointer of the object; its own parent exists in the document */
  constructor(path: string, object: Json | undefined) {
    this.#path = path;
    this.#object = isObject(object) ? object : undefined;
  }

  /** Sets `key`, unless the document has that very string already. A later value wins. */
  set(key: string, value: string | JsonObject | readonly JsonObject[], why: string): void {
    if (own(this.#object, key) === value) this.unset(key);
    else this.#values.set(key, { value, why });
  }

  /** Leaves `key` as the document has it. */
  unset(key: string): void {
    this.#values.delete(key);
  }

  changes(): Change[] {
    if (this.#values.size === 0) return [];
    if (this.#object === undefined) {
      const value = Object.fromEntries([...this.#values].map(([key, entry]) => [key, entry.value]));
      const why = [...new Set([...this.#values.values()].map((entry) => entry.why))].join('; ');
      return [{ operation: { op: 'add', path: this.#path, value }, why }];
    }
    const object = this.#object;
    return [...this.#values].map(([key, { value, why }]) => ({
      operation: {
        op: Object.hasOwn(object, key) ? 'replace' : 'add',
        path: `${this.#path}/${pointer(key)}`,
        value,
      },
      why,
    }));
  }
}
