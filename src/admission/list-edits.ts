import type { Change } from '../json/patch.ts';
import { isDeepStrictEqual } from 'node:util';
import { asObject, own, ownList, type Json, type JsonObject } from '../json/json.ts';
import { MusterError } from '../errors.ts';
import { POD_LISTS, type PodField, type PodList } from '../preparers/preparer.ts';
import { isInContainers, keysOf, wayTo, type Way } from './pod-ways.ts';

/** A container, and its position. */
type Placed = readonly [container: JsonObject, index: number];

/** Each container that is meant. */
function containersNamed(pod: JsonObject, name: string | undefined): readonly Placed[] {
  const found: Placed[] = [];
  const containers = ownList(own(pod, 'spec'), 'containers') ?? [];
  for (let index = 0; index < containers.length; index += 1) {
    const one = asObject(containers[index]);
    if (one !== undefined && (name === undefined || one['name'] === name)) found.push([one, index]);
  }
  return found;
}

/** What stands in the first place in a Pod that a name of a list or field means. */
export function standingAt(
  pod: JsonObject,
  name: PodList | PodField,
  container: string | undefined,
): Json | undefined {
  const from = isInContainers(name) ? containersNamed(pod, container)[0]?.[0] : pod;
  return from && at(from, keysOf(name));
}

/** What stands at a place; undefined where something on the way is missing. */
export function at(from: JsonObject, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = from;
  for (const key of keys) {
    value = Array.isArray(value) ? (value as readonly Json[])[Number(key)] : own(value, key);
  }
  return value;
}

/** A place in the received Pod, and what comes there. */
class Edit {
  readonly way: Way;
  /** What stands at its end. */
  readonly given: Json | undefined;
  /** The first of the keys that is not there; -1: all are. */
  readonly missing: number;
  /** Made with the first of each, as most of the places are only for one or the other. */
  why: string[] | undefined;
  /** Of a list: what is added to its end. */
  items: JsonObject[] | undefined;
  /** Of a field: what it is set to. */
  value: Json | undefined;

  /** @param from the Pod, or the container */
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

/** Additions to lists, and fields that are set, wherever they are in a Pod. */
export class ListEdits {
  readonly #pod: JsonObject;
  /** All that were asked for. */
  readonly #known: Edit[] = [];
  /** Those of which something is to be changed, in the order in which they were asked for. */
  readonly #edits: Edit[] = [];
  /** What was asked for last: several items for one list mostly come one after the other. */
  #last: { name: PodList | PodField; container: string | undefined; edits: readonly Edit[] } | undefined;
  /** Mostly it is one container that all is for. */
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

  /** Appends the changes in the order in which they were asked for. Parents that are missing come with what is in them. */
  changes(changes: Change[]): Change[] {
    const made = new Map<string, { value: Record<string, unknown>; why: string[] }>();
    for (const { way, given, missing, why = [], reason, items = [], value } of this.#edits) {
      const { keys, pointers, end } = way;
      const path = pointers.at(-1) ?? '';
      if (value !== undefined) {
        // Null stands there, and null is a value.
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

/** The item of a list that is known by the same field as this; without such a field, the same item. */
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
