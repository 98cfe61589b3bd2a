import { isObject, own, ownString, type Json, type JsonObject } from '../../../json/json.ts';
import type { PatchOperation } from '../../../json/patch.ts';

/** A field whose value in the cluster differs from the manifest. */
export interface Difference {
  /** Path for people and for the rows of {@link KindOfObject}: `webhooks[pods.muster.dev].namespaceSelector`. */
  readonly field: string;
  /** undefined: the manifest does not have the field. */
  readonly wanted: Json | undefined;
  /** undefined: the object in the cluster does not have the field. */
  readonly found: Json | undefined;
  /** JSON patch that sets the wanted value. List items are addressed by index, so each is first tested for its name. */
  readonly patch: readonly PatchOperation[];
}

export interface Comparison {
  /** Whether a field that the manifest does not have is a difference. */
  readonly strict: boolean;
  /** Names of fields that are compared and patched as a whole. */
  readonly whole: ReadonlySet<string>;
  /** Names of fields in which an additional item changes the meaning, even where `strict` is false. */
  readonly exact: ReadonlySet<string>;
}

/** Differences of an object's fields, but for its metadata and status. */
export function differences(wanted: JsonObject, found: JsonObject, how: Comparison): Difference[] {
  const pick = (object: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(object).filter(([key]) => !['apiVersion', 'kind', 'metadata', 'status'].includes(key)),
    );
  return compared({ field: '', path: '', tests: [] }, pick(wanted), pick(found), how);
}

/** A position in an object; `tests` check the names of the list items on the way to it. */
interface Place {
  readonly field: string;
  readonly path: string;
  readonly tests: readonly PatchOperation[];
}

function compared(
  at: Place,
  wanted: Json | undefined,
  found: Json | undefined,
  how: Comparison,
): Difference[] {
  if (same(wanted, found)) return [];
  if (wanted === undefined) return how.strict ? [difference(at, wanted, found)] : [];
  const name = at.field.slice(at.field.lastIndexOf('.') + 1);
  if (how.exact.has(name)) return [difference(at, wanted, found)];
  if (how.whole.has(name)) {
    return !how.strict && holds(wanted, found) ? [] : [difference(at, wanted, found)];
  }
  if (isObject(wanted) && isObject(found)) {
    const keys = how.strict ? { ...wanted, ...found } : wanted;
    return Object.keys(keys).flatMap((key) =>
      compared(
        {
          field: at.field === '' ? key : `${at.field}.${key}`,
          path: `${at.path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
          tests: at.tests,
        },
        own(wanted, key),
        own(found, key),
        how,
      ),
    );
  }
  if (Array.isArray(wanted) && Array.isArray(found)) return lists(at, wanted as Json[], found as Json[], how);
  return [difference(at, wanted, found)];
}

/** Compares items by name where all have one, else by index where the lists are equally long, else the lists as a whole. */
function lists(at: Place, wanted: readonly Json[], found: readonly Json[], how: Comparison): Difference[] {
  const names = [wanted, found].map((list) => list.map((one) => ownString(one, 'name')));
  const [ofWanted = [], ofFound = []] = names;
  if (!names.every((list) => !list.includes(undefined) && new Set(list).size === list.length)) {
    if (wanted.length === found.length && wanted.every(isObject)) {
      return wanted.flatMap((one, index) => {
        const place = { ...at, field: `${at.field}[${index}]`, path: `${at.path}/${index}` };
        return compared(place, one, found[index], how);
      });
    }
    return !how.strict && holds(wanted, found) ? [] : [difference(at, wanted, found)];
  }
  const lacking = wanted.flatMap((one, index) => {
    const name = ofWanted[index] ?? '';
    const field = `${at.field}[${name}]`;
    const place = ofFound.indexOf(name);
    if (place < 0) {
      return [{ field, wanted: one, found: undefined, patch: [...at.tests, add(`${at.path}/-`, one)] }];
    }
    return compared(itemOf(at, name, place), one, found[place], how);
  });
  // Indices are removed from the end, since each removal moves the items behind it.
  const excess = ofFound.flatMap((name = '', place) =>
    how.strict && !ofWanted.includes(name)
      ? [difference(itemOf(at, name, place), undefined, found[place])]
      : [],
  );
  return [...lacking, ...excess.reverse()];
}

function itemOf(at: Place, name: string, place: number): Place {
  const path = `${at.path}/${place}`;
  return {
    field: `${at.field}[${name}]`,
    path,
    tests: [...at.tests, { op: 'test', path: `${path}/name`, value: name }],
  };
}

const add = (path: string, value: Json): PatchOperation => ({ op: 'add', path, value });

function difference(at: Place, wanted: Json | undefined, found: Json | undefined): Difference {
  const { field, path, tests } = at;
  const patch: PatchOperation =
    wanted === undefined
      ? { op: 'remove', path }
      : { op: found === undefined ? 'add' : 'replace', path, value: wanted };
  return { field, wanted, found, patch: [...tests, patch] };
}

/** Whether two values mean the same: order of strings in a list, and empty or missing values, do not count. */
export function same(wanted: Json | undefined, found: Json | undefined): boolean {
  if (isEmpty(wanted) && isEmpty(found)) return true;
  return JSON.stringify(plain(wanted ?? null)) === JSON.stringify(plain(found ?? null));
}

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0);

function plain(value: Json): Json {
  if (Array.isArray(value)) {
    const list = (value as Json[]).map(plain);
    return list.every((one) => typeof one === 'string') ? list.sort() : list;
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => !isEmpty(one))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, one]) => [key, plain(one)]),
  );
}

/** Whether the found value contains the wanted one. */
function holds(wanted: Json, found: Json | undefined): boolean {
  if (isObject(wanted)) {
    return Object.entries(wanted).every(([key, one]) => holds(one, own(found, key)));
  }
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(found) && wanted.every((one) => found.some((other) => holds(one as Json, other as Json)))
    );
  }
  return same(wanted, found);
}
