import { isDeepStrictEqual } from 'node:util';
import { asObject, own, ownList, type Json, type JsonObject } from '../api/json.ts';
import { MusterError } from '../errors.ts';
import { POD_FIELDS, POD_LISTS, type PodField, type PodList } from '../preparers/preparer.ts';
import type { Change } from './json-patch.ts';

/** A place in the received Pod, and what comes there. */
interface Edit {
  /** JSON pointer of the Pod, `''`, or of a container: it is there. */
  readonly from: string;
  /** The way on from there. */
  readonly keys: readonly string[];
  /** What stands at its end. */
  readonly given: Json | undefined;
  /** The first of the keys that is not there; -1: all are. */
  readonly missing: number;
  readonly why: string[];
  /** Of a list: what is added to its end. */
  readonly items: JsonObject[];
  /** Of a field: what it is set to. */
  value: Json | undefined;
}

const IN_CONTAINERS = 'containers.';

/** The ways that the names of lists and fields mean. None of the keys needs an escape in a pointer. */
const ways: ReadonlyMap<PodList | PodField, readonly string[]> = new Map(
  ([...Object.keys(POD_LISTS), ...Object.keys(POD_FIELDS)] as (PodList | PodField)[]).map((name) => [
    name,
    (name.startsWith(IN_CONTAINERS) ? name.slice(IN_CONTAINERS.length) : name).split('.'),
  ]),
);

/** Each container that is meant, with its position. */
function containersNamed(pod: JsonObject, name: string | undefined): (readonly [JsonObject, number])[] {
  const found: (readonly [JsonObject, number])[] = [];
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
  const from = name.startsWith(IN_CONTAINERS) ? containersNamed(pod, container)[0]?.[0] : pod;
  return from && at(from, ways.get(name) ?? []);
}

/** What stands at a place; undefined where something on the way is missing. */
export function at(from: JsonObject, keys: readonly string[]): Json | undefined {
  let value: Json | undefined = from;
  for (const key of keys) {
    value = Array.isArray(value) ? (value as readonly Json[])[Number(key)] : own(value, key);
  }
  return value;
}

/** Additions to lists, and fields that are set, wherever they are in a Pod. */
export class ListEdits {
  readonly #pod: JsonObject;
  /** By name and position of the container. */
  readonly #known = new Map<PodList | PodField, Edit[]>();
  /** Those of which something is to be changed, in the order in which they were asked for. */
  readonly #edits: Edit[] = [];
  /** What was asked for last: several items for one list mostly come one after the other. */
  #last: { name: PodList | PodField; container: string | undefined; edits: readonly Edit[] } | undefined;

  constructor(pod: JsonObject) {
    this.#pod = pod;
  }

  add(list: PodList, item: JsonObject, why: string, container?: string): void {
    const key = POD_LISTS[list];
    const same = (other: Json): boolean =>
      key === undefined ? isDeepStrictEqual(other, item) : asObject(other)?.[key] === item[key];
    for (const edit of this.#editsOf(list, container)) {
      const { given, items } = edit;
      if (Array.isArray(given) && (given as readonly Json[]).some(same)) continue;
      const pending = items.find(same);
      if (pending !== undefined && !isDeepStrictEqual(pending, item)) throw twice(list);
      this.#note(edit, why);
      if (pending === undefined) items.push(item);
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
    if (edit.value === undefined && edit.items.length === 0) this.#edits.push(edit);
    if (!edit.why.includes(why)) edit.why.push(why);
  }

  #editsOf(name: PodList | PodField, container: string | undefined): readonly Edit[] {
    if (this.#last?.name !== name || this.#last.container !== container) {
      const edits = name.startsWith(IN_CONTAINERS)
        ? containersNamed(this.#pod, container).map(([one, index]) =>
            this.#editFor(name, index, one, `/spec/containers/${index}`),
          )
        : [this.#editFor(name, 0, this.#pod, '')];
      this.#last = { name, container, edits };
    }
    return this.#last.edits;
  }

  #editFor(name: PodList | PodField, index: number, object: JsonObject, from: string): Edit {
    let known = this.#known.get(name);
    if (known === undefined) this.#known.set(name, (known = []));
    const keys = ways.get(name) ?? [];
    return (known[index] ??= {
      from,
      keys,
      ...standing(object, keys),
      why: [],
      items: [],
      value: undefined,
    });
  }

  /** Appends the changes in the order in which they were asked for. Parents that are missing come with what is in them. */
  changes(changes: Change[]): Change[] {
    const made = new Map<string, { value: Record<string, unknown>; why: string[] }>();
    for (const { from, keys, given, missing, why, items, value } of this.#edits) {
      const place = (length = keys.length): string => `${from}/${keys.slice(0, length).join('/')}`;
      const reason = why.join('; ');
      if (value !== undefined) {
        // Null stands there, and null is a value.
        const op = missing < 0 || given === null ? 'replace' : 'add';
        changes.push({ operation: { op, path: place(), value }, why: reason });
      } else if (missing < 0) {
        const end = `${place()}/-`;
        for (const item of items)
          changes.push({ operation: { op: 'add', path: end, value: item }, why: reason });
      } else if (missing === keys.length - 1) {
        changes.push({ operation: { op: 'add', path: place(), value: items }, why: reason });
      } else {
        const root = place(missing + 1);
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

/** What stands at the end of a way, and the first of its keys that is not there. */
function standing(from: JsonObject, keys: readonly string[]): Pick<Edit, 'given' | 'missing'> {
  let given: Json | undefined = from;
  for (let index = 0; index < keys.length; index += 1) {
    given = own(given, keys[index] ?? '');
    if (given !== undefined && given !== null) continue;
    return { given: index === keys.length - 1 ? given : undefined, missing: index };
  }
  return { given, missing: -1 };
}

const twice = (what: string): MusterError =>
  new MusterError(
    'BACKEND_CONTRACT',
    `two preparers want ${what} of a Pod to be different things`,
    'let them agree, or give one of them another name for its item',
  );
