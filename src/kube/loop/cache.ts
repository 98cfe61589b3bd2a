/** What a cache needs to know of an object; a reflector's `trim` gives these and whatever else is used. */
export interface Identified {
  /** Empty for cluster-wide objects. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What happened to one object. Never the same state twice: an event that changes nothing is not passed on. */
export type ObjectChange<T> =
  | { readonly type: 'added'; readonly old: undefined; readonly new: T }
  | { readonly type: 'updated'; readonly old: T; readonly new: T }
  /** `old` is the last state that was seen, not always the last there was. */
  | { readonly type: 'deleted'; readonly old: T; readonly new: undefined };

/** Gives the values under which an object is to be found; none, one or several. */
export type Indexer<T> = (object: T) => string | undefined | readonly string[];

/** The reading side of a cache. */
export interface Store<T> {
  readonly size: number;
  get(namespace: string, name: string): T | undefined;
  /** In no particular order. */
  values(): IterableIterator<T>;
  /** In no particular order. @throws for an index that does not exist */
  byIndex(index: string, value: string): T[];
  /** Whether there is one, for as little however many there are. @throws for an index that does not exist */
  hasAny(index: string, value: string): boolean;
  /** The values that some object has in this index. */
  indexValues(index: string): IterableIterator<string>;
}

/** `namespace/name`, or the bare name of a cluster-wide object. */
export const keyOf = (namespace: string, name: string): string =>
  namespace === '' ? name : `${namespace}/${name}`;

/** The parts of what {@link keyOf} made. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, Math.max(0, slash)), name: key.slice(slash + 1) };
}

/** The objects of one kind, as last seen, and indexes over them. */
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

  byIndex(index: string, value: string): T[] {
    const keys = this.#index(index).get(value);
    if (keys === undefined) return [];
    return Array.from(keys, (key) => this.#objects.get(key)).filter((object) => object !== undefined);
  }

  hasAny(index: string, value: string): boolean {
    return this.#index(index).has(value);
  }

  indexValues(index: string): IterableIterator<string> {
    return this.#index(index).keys();
  }

  /**
   * Takes the state of an object. Nothing happens for what is known or older: events come twice, and a watch may begin
   * before what was listed. Another uid under the same name is another object: the first is deleted.
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
   * Takes a deletion. One that is older than the state we have is that of a predecessor: ignored. The change tells the
   * state that was known, not the deleted one: it is under that state's labels that others have filed the object.
   */
  remove(object: T): readonly ObjectChange<T>[] {
    const old = this.get(object.namespace, object.name);
    if (old === undefined || isOlder(object, old)) return [];
    return this.forget(object.namespace, object.name);
  }

  /** Drops an object that is not to be kept any more. */
  forget(namespace: string, name: string): readonly ObjectChange<T>[] {
    const key = keyOf(namespace, name);
    const old = this.#objects.get(key);
    if (old === undefined) return [];
    this.#unset(key, old);
    return [{ type: 'deleted', old, new: undefined }];
  }

  /**
   * Takes a whole list for the truth, even where it is older than what we have (a store restored from a backup): what is
   * not in it is deleted. Changes come one at a time, each when the one before has been dealt with.
   */
  *replace(objects: Iterable<T>): Generator<ObjectChange<T>, void> {
    const present = new Set<string>();
    for (const object of objects) {
      const key = keyOf(object.namespace, object.name);
      present.add(key);
      const old = this.#objects.get(key);
      if (old === undefined) {
        this.#set(key, object);
        yield { type: 'added', old: undefined, new: object };
      } else if (old.resourceVersion !== object.resourceVersion || old.uid !== object.uid) {
        yield* this.#exchange(key, old, object);
      }
    }
    for (const [key, old] of this.#objects) {
      if (present.has(key)) continue;
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

/** resourceVersions grow within one store; those that are no numbers have no order. */
function isOlder({ resourceVersion: one }: Identified, { resourceVersion: other }: Identified): boolean {
  if (!DECIMAL.test(one) || !DECIMAL.test(other)) return false;
  return one.length === other.length ? one < other : one.length < other.length;
}
