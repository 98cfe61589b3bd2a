/** The fields that a cache needs of an object; a reflector's `trim` returns these and the fields that its users need. */
export interface Identified {
  /** Empty for cluster-wide objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** A change of one object. The states always differ: an event that changes nothing is not passed on. */
export type ObjectChange<T> =
  | { readonly type: 'added'; readonly old: undefined; readonly new: T }
  | { readonly type: 'updated'; readonly old: T; readonly new: T }
  /** `old` is the last state that was seen, not always the last that existed. */
  | { readonly type: 'deleted'; readonly old: T; readonly new: undefined };

/** Returns the values under which an object is indexed: none, one or several. */
export type Indexer<T> = (object: T) => string | undefined | readonly string[];

/** The read interface of a cache. */
export interface Store<T> {
  readonly size: number;
  get(namespace: string, name: string): T | undefined;
  /** Returns all objects in no particular order. */
  values(): IterableIterator<T>;
  /** Returns objects in no particular order. @throws for an index that does not exist */
  byIndex(index: string, value: string): T[];
  /** Whether an object has this value, in constant time. @throws for an index that does not exist */
  hasAny(index: string, value: string): boolean;
  /** The values that at least one object has in this index. */
  indexValues(index: string): IterableIterator<string>;
}

/** `namespace/name`, or the bare name of a cluster-wide object. */
export const keyOf = (namespace: string, name: string): string =>
  namespace === '' ? name : `${namespace}/${name}`;

/** The parts of a key that {@link keyOf} made. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) };
}

/** The objects of one kind as last seen, with indexes. */
export class Cache<T extends Identified> implements Store<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexers: readonly (readonly [string, Indexer<T>])[];
  readonly #indexes = new Map<string, Map<string, Set<string>>>();

  constructor(indexers: Readonly<Record<string, Indexer<T>>> = {}) {
    this.#indexers = Object.entries(indexers);
    for (const [name] of this.#indexers) this.#indexes.set(name, new Map());
  }

  get size(): number {
    return this.#objects.size;
  }

  get(namespace: string, name: string): T | undefined {
    return this.#objects.get(keyOf(namespace, name));
  }

  values(): IterableIterator<T> {
    return this.#objects.values();
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  byIndex(index: string, value: string): T[] {
    const keys = this.#index(index).get(value);
    if (keys === undefined) return [];
    const found: T[] = [];
    // Each look at a gang asks for its Pods; `Array.from` would make an object for every one of them.
    for (const key of keys) {
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  hasAny(index: string, value: string): boolean {
    return this.#index(index).has(value);
  }

  indexValues(index: string): IterableIterator<string> {
    return this.#index(index).keys();
  }

  /**
   * Stores the state of an object. A known or older state is ignored: events may repeat, and a watch may begin before
   * the list. An object of the same name with another uid replaces the first, which counts as deleted.
   */
  put(object: T): readonly ObjectChange<T>[] {
    const key = keyOf(object.namespace, object.name);
    const old = this.#objects.get(key);
    if (old === undefined) {
      this.#set(key, object);
      return [{ type: 'added', old: undefined, new: object }];
    }
    const known = object.resourceVersion === old.resourceVersion && object.uid === old.uid;
    if (known || isOlder(object, old)) return [];
    return this.#exchange(key, old, object);
  }

  /**
   * Removes an object. A deletion that is older than the stored state was that of a predecessor and is ignored. The
   * change contains the stored state and not the deleted one, since subscribers have filed the object under its labels.
   */
  remove(object: T): readonly ObjectChange<T>[] {
    const old = this.get(object.namespace, object.name);
    if (old === undefined || isOlder(object, old)) return [];
    return this.forget(object.namespace, object.name);
  }

  /** Removes an object that is not to be kept any more. */
  forget(namespace: string, name: string): readonly ObjectChange<T>[] {
    const key = keyOf(namespace, name);
    const old = this.#objects.get(key);
    if (old === undefined) return [];
    this.#unset(key, old);
    return [{ type: 'deleted', old, new: undefined }];
  }

  /**
   * Replaces the contents by those of a complete list, even if it is older than the stored state (an etcd restored from
   * a backup). Yields the changes one at a time, each after the caller has handled the one before.
   * @param objects of the list, all or those that are not stored so
   * @param missing keys of the objects that are not in the list, and so are deleted
   */
  *replace(objects: Iterable<T>, missing: Iterable<string>): Generator<ObjectChange<T>, void> {
    for (const object of objects) {
      const key = keyOf(object.namespace, object.name);
      const old = this.#objects.get(key);
      if (old === undefined) {
        this.#set(key, object);
        yield { type: 'added', old: undefined, new: object };
      } else if (old.resourceVersion !== object.resourceVersion || old.uid !== object.uid) {
        yield* this.#exchange(key, old, object);
      }
    }
    for (const key of missing) {
      const old = this.#objects.get(key);
      if (old === undefined) continue;
      this.#unset(key, old);
      yield { type: 'deleted', old, new: undefined };
    }
  }

  #exchange(key: string, old: T, object: T): readonly ObjectChange<T>[] {
    this.#unset(key, old);
    this.#set(key, object);
    if (old.uid === object.uid) return [{ type: 'updated', old, new: object }];
    return [
      { type: 'deleted', old, new: undefined },
      { type: 'added', old: undefined, new: object },
    ];
  }

  #set(key: string, object: T): void {
    this.#objects.set(key, object);
    for (const [name, indexer] of this.#indexers) {
      const index = this.#index(name);
      for (const value of valuesOf(indexer, object)) {
        const keys = index.get(value);
        if (keys === undefined) index.set(value, new Set([key]));
        else keys.add(key);
      }
    }
  }

  #unset(key: string, object: T): void {
    this.#objects.delete(key);
    for (const [name, indexer] of this.#indexers) {
      const index = this.#index(name);
      for (const value of valuesOf(indexer, object)) {
        const keys = index.get(value);
        keys?.delete(key);
        if (keys?.size === 0) index.delete(value);
      }
    }
  }

  #index(name: string): Map<string, Set<string>> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new TypeError(`no index "${name}"`);
    return index;
  }
}

function valuesOf<T>(indexer: Indexer<T>, object: T): readonly string[] {
  const found = indexer(object);
  return found === undefined ? [] : typeof found === 'string' ? [found] : found;
}

const DECIMAL = /^[1-9][0-9]*$/;

/** resourceVersions grow within one etcd; values that are not numbers have no order. */
function isOlder({ resourceVersion: one }: Identified, { resourceVersion: other }: Identified): boolean {
  if (!DECIMAL.test(one) || !DECIMAL.test(other)) return false;
  return one.length === other.length ? one < other : one.length < other.length;
}
