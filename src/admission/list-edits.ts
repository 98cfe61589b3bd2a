import type { Change } from '../json/patch.ts';
import { isDeepStrictEqual } from 'node:util';
import { asObject, own, ownList, type Json, type JsonObject } from '../json/json.ts';
import { MusterError } from '../errors.ts';
import { POD_LISTS, type PodField, type PodList } from '../preparers/preparer.ts';
import { isInContainers, keysOf, wayTo, type Way } from './pod-ways.ts';

/** A container, and its index. */
type Placed = readonly [container: JsonObject, index: number];

/** All containers with this name; all containers where there is no name. */
function containersNamed(pod: JsonObject, name: string | undefined): readonly Placed[] {
  const found: Placed[] = [];
  const containers = ownList(own(pod, 'spec'), 'containers') ?? [];
  for (let index = 0; index < containers.length; index += 1) {
    const one = asObject(containers[index]);
    if (one !== undefined && (name === undefined || one['name'] === name)) found.push([one, index]);
  }
  return found;
}

/** The value of a list or field of a Pod; of a list or field of containers the value in the first container of that name. */
export function standingAt(
  pod: JsonObject,
  name: PodList | PodField,
  container: string | undefined,
): Json | undefined {
  const from = isInContainers(name) ? containersNamed(pod, container)[0]?.[0] : pod;
  return from && at(from, keysOf(name));
}

/** The value at the end of these keys; undefined where one of the keys is missing. */
export function at(from: Json | undefined, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = from;
  for (const key of keys) {
    value = Array.isArray(value) ? (value as readonly Json[])[Number(key)] : own(value, key);
  }
  return value;
}

/** A list or field of the received Pod, and how it changes. */
class Edit {
  readonly way: Way;
  /** The value that the received Pod has there. */
  readonly given: Json | undefined;
  /** Index of the first key that the Pod does not have; -1 where it has all. */
  readonly missing: number;
  /** Reasons for the change; created with the first one, since most edits are never used. */
  why: string[] | undefined;
  /** For a list: the items to append. */
  items: JsonObject[] | undefined;
  /** For a field: the new value. */
  value: Json | undefined;

  /** @param from the Pod or the container in which the keys begin */
  constructor(from: JsonObject, way: Way) {
    this.way = way;
    const { keys } = way;
    let given: Json | undefined = from;
    let missing = -1;
    for (let index = 0; index < keys.length && missing < 0; index += 1) {
      given = asObject(given)?.[keys[index] ?? ''];
      if (given === undefined || given === null) missing = index;
    }
    this.given = missing < 0 || missing === keys.length - 1 ? given : undefined;
    this.missing = missing;
  }

  get reason(): string {
    return this.why?.length === 1 ? (this.why[0] ?? '') : (this.why ?? []).join('; ');
  }
}

/** Collects items to append to lists of a Pod, and fields to set. */
export class ListEdits {
  readonly #pod: JsonObject;
  /** All lists and fields that were looked up. */
  readonly #known: Edit[] = [];
  /** The edits that change something, in the order of the calls. */
  readonly #edits: Edit[] = [];
  /** The last look-up, kept since several items for one list mostly come in a row. */
  #last: { name: PodList | PodField; container: string | undefined; edits: readonly Edit[] } | undefined;
  /** The containers of the last look-up by name, kept since most edits are for the same container. */
  #meant: { container: string | undefined; found: readonly Placed[] } | undefined;

  constructor(pod: JsonObject) {
    this.#pod = pod;
  }

  add(list: PodList, item: JsonObject, why: string, container?: string): void {
    const key = POD_LISTS[list];
    for (const edit of this.#editsOf(list, container)) {
      const { given, items } = edit;
      if (Array.isArray(given) && sameIn(given as readonly Json[], item, key) !== undefined) continue;
      const pending = items && sameIn(items, item, key);
      if (pending !== undefined && !isDeepStrictEqual(pending, item)) throw twice(list);
      this.#note(edit, why);
      if (items === undefined) edit.items = [item];
      else if (pending === undefined) items.push(item);
    }
  }

  set(field: PodField, value: Json, why: string, container?: string): void {
    for (const edit of this.#editsOf(field, container)) {
      if (isDeepStrictEqual(edit.given, value)) continue;
      if (edit.value !== undefined && !isDeepStrictEqual(edit.value, value)) throw twice(field);
      this.#note(edit, why);
      edit.value = value;
    }
  }

  #note(edit: Edit, why: string): void {
    if (edit.why === undefined) {
      edit.why = [why];
      this.#edits.push(edit);
    } else if (!edit.why.includes(why)) edit.why.push(why);
  }

  #editsOf(name: PodList | PodField, container: string | undefined): readonly Edit[] {
    if (this.#last?.name !== name || this.#last.container !== container) {
      const edits = isInContainers(name)
        ? this.#containersNamed(container).map(([one, index]) => this.#editAt(one, wayTo(name, index)))
        : [this.#editAt(this.#pod, wayTo(name))];
      this.#last = { name, container, edits };
    }
    return this.#last.edits;
  }

  #containersNamed(container: string | undefined): readonly Placed[] {
    if (this.#meant === undefined || this.#meant.container !== container)
      this.#meant = { container, found: containersNamed(this.#pod, container) };
    return this.#meant.found;
  }

  #editAt(from: JsonObject, way: Way): Edit {
    for (const one of this.#known) if (one.way.end === way.end) return one;
    const edit = new Edit(from, way);
    this.#known.push(edit);
    return edit;
  }

  /** Appends the changes in the order of the calls. Missing parents are added together with their content. */
  changes(changes: Change[]): Change[] {
    const made = new Map<string, { value: Record<string, unknown>; why: string[] }>();
    for (const { way, given, missing, why = [], reason, items = [], value } of this.#edits) {
      const { keys, pointers, end } = way;
      const path = pointers.at(-1) ?? '';
      if (value !== undefined) {
        // A field with the value null exists, so it is replaced.
        const op = missing < 0 || given === null ? 'replace' : 'add';
        changes.push({ operation: { op, path, value }, why: reason });
      } else if (missing < 0) {
        for (const item of items)
          changes.push({ operation: { op: 'add', path: end, value: item }, why: reason });
      } else if (missing === keys.length - 1) {
        changes.push({ operation: { op: 'add', path, value: items }, why: reason });
      } else {
        const root = pointers[missing] ?? '';
        const parent = made.get(root) ?? { value: {}, why: [] };
        if (!made.has(root)) made.set(root, parent);
        parent.why.push(...why.filter((one) => !parent.why.includes(one)));
        let inner = parent.value;
        for (const key of keys.slice(missing + 1, -1)) inner = (inner[key] ??= {}) as Record<string, unknown>;
        inner[keys.at(-1) ?? ''] = items;
      }
    }
    for (const [path, { value, why }] of made) {
      changes.push({ operation: { op: 'add', path, value }, why: why.join('; ') });
    }
    return changes;
  }
}

/** The item with the same value of the list's key field; in a list without a key field the equal item. */
function sameIn<T extends Json>(
  items: readonly T[],
  item: JsonObject,
  key: string | undefined,
): T | undefined {
  const name = key === undefined ? undefined : item[key];
  for (const one of items) {
    if (key === undefined ? isDeepStrictEqual(one, item) : asObject(one)?.[key] === name) return one;
  }
  return undefined;
}

const twice = (what: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `two preparers want ${what} of a Pod to be different things`,
    'let them agree, or give one of them another name for its item',
  );
