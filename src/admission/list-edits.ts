import { isDeepStrictEqual } from 'node:util';
import { isObject, own, ownList, ownString, type Json, type JsonObject } from '../api/json.ts';
import { pointer } from '../api/json-pointer.ts';
import { MusterError } from '../errors.ts';
import { POD_LISTS, type PodField, type PodList } from '../preparers/preparer.ts';
import type { Change } from './json-patch.ts';

/** A place in the received Pod, and what comes there. */
interface Edit {
  readonly path: readonly string[];
  readonly why: string[];
  /** Of a list: what is added to its end. */
  readonly items: JsonObject[];
  /** Of a field: what it is set to. */
  value: Json | undefined;
}

/** The containers that are meant, as paths. */
export function containerPaths(pod: JsonObject, container: string | undefined): string[][] {
  const containers = ownList(own(pod, 'spec'), 'containers') ?? [];
  return containers.flatMap((one, index) =>
    isObject(one) && (container === undefined || ownString(one, 'name') === container)
      ? [['spec', 'containers', String(index)]]
      : [],
  );
}

/** The places in a Pod that a name of a list or field means. */
export function placesOf(
  pod: JsonObject,
  name: PodList | PodField,
  container: string | undefined,
): readonly (readonly string[])[] {
  const [room = '', ...rest] = name.split('.');
  return room === 'containers'
    ? containerPaths(pod, container).map((path) => [...path, ...rest])
    : [[room, ...rest]];
}

/** What stands at a place; undefined where something on the way is missing. */
export const at = (pod: JsonObject, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>(
    (value, key) => (Array.isArray(value) ? (value as readonly Json[])[Number(key)] : own(value, key)),
    pod,
  );

/** Additions to lists, and fields that are set, wherever they are in a Pod. */
export class ListEdits {
  readonly #pod: JsonObject;
  readonly #edits = new Map<string, Edit>();

  constructor(pod: JsonObject) {
    this.#pod = pod;
  }

  add(list: PodList, item: JsonObject, why: string, container?: string): void {
    const key = POD_LISTS[list];
    const same = (other: Json): boolean =>
      key === undefined ? isDeepStrictEqual(other, item) : own(other, key) === item[key];
    for (const path of placesOf(this.#pod, list, container)) {
      const given = at(this.#pod, path);
      if (Array.isArray(given) && (given as readonly Json[]).some(same)) continue;
      const edit = this.#editOf(path);
      const pending = edit.items.find(same);
      if (pending === undefined) edit.items.push(item);
      else if (!isDeepStrictEqual(pending, item)) throw twice(list);
      if (!edit.why.includes(why)) edit.why.push(why);
    }
  }

  set(field: PodField, value: Json, why: string, container?: string): void {
    for (const path of placesOf(this.#pod, field, container)) {
      if (isDeepStrictEqual(at(this.#pod, path), value)) continue;
      const edit = this.#editOf(path);
      if (edit.value !== undefined && !isDeepStrictEqual(edit.value, value)) throw twice(field);
      edit.value = value;
      if (!edit.why.includes(why)) edit.why.push(why);
    }
  }

  #editOf(path: readonly string[]): Edit {
    const key = path.join('/');
    const edit = this.#edits.get(key) ?? { path, why: [], items: [], value: undefined };
    this.#edits.set(key, edit);
    return edit;
  }

  /** Appends the changes in the order in which they were asked for. Parents that are missing come with what is in them. */
  changes(changes: Change[]): Change[] {
    const made = new Map<string, { value: Record<string, unknown>; why: string[] }>();
    for (const { path, why, items, value } of this.#edits.values()) {
      if (items.length === 0 && value === undefined) continue;
      const missing = path.findIndex((_key, index) => {
        const there = at(this.#pod, path.slice(0, index + 1));
        return there === undefined || there === null;
      });
      const reason = why.join('; ');
      if (value !== undefined) {
        const op = missing < 0 || own(at(this.#pod, path.slice(0, -1)), path.at(-1) ?? '') === null;
        changes.push({
          operation: { op: op ? 'replace' : 'add', path: toPointer(path), value },
          why: reason,
        });
      } else if (missing < 0) {
        for (const item of items) {
          changes.push({ operation: { op: 'add', path: `${toPointer(path)}/-`, value: item }, why: reason });
        }
      } else if (missing === path.length - 1) {
        changes.push({ operation: { op: 'add', path: toPointer(path), value: items }, why: reason });
      } else {
        const root = toPointer(path.slice(0, missing + 1));
        const parent = made.get(root) ?? { value: {}, why: [] };
        if (!made.has(root)) made.set(root, parent);
        parent.why.push(...why.filter((one) => !parent.why.includes(one)));
        let inner = parent.value;
        for (const key of path.slice(missing + 1, -1)) inner = (inner[key] ??= {}) as Record<string, unknown>;
        inner[path.at(-1) ?? ''] = items;
      }
    }
    for (const [path, { value, why }] of made) {
      changes.push({ operation: { op: 'add', path, value }, why: why.join('; ') });
    }
    return changes;
  }
}

const toPointer = (path: readonly string[]): string => path.map((key) => `/${pointer(key)}`).join('');

const twice = (what: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `two preparers want ${what} of a Pod to be different things`,
    'let them agree, or give one of them another name for its item',
  );
