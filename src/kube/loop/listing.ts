import type { WatchEvent } from '../client/client.ts';
import type { KubeObject } from '../client/resources.ts';
import { keyOf, type Cache, type Identified, type ObjectChange } from './cache.ts';

/** What a watch says about one object. */
export interface Happened<T> {
  readonly deleted: boolean;
  readonly namespace: string;
  readonly name: string;
  /** undefined: the object is left out. */
  readonly object: T | undefined;
}

export interface ListingOptions<T> {
  readonly trim: (object: KubeObject) => T | undefined;
  /** Returns the state to keep: the given one, the known one, or none. */
  readonly admit: (object: T) => T | undefined;
  /** Called whenever the list starts over. */
  readonly begun: () => void;
}

export function happenedIn<T>(
  { type, object }: WatchEvent<KubeObject>,
  trim: (object: KubeObject) => T | undefined,
): Happened<T> {
  const { namespace = '', name } = object.metadata;
  return { deleted: type === 'DELETED', namespace, name, object: trim(object) };
}

/**
 * A list that is being received: only what it will change in the cache is kept, so a repeated list takes little memory,
 * and little time when it is complete.
 */
export class Listing<T extends Identified> {
  readonly #cache: Cache<T>;
  readonly #trim: (object: KubeObject) => T | undefined;
  readonly #admit: (object: T) => T | undefined;
  readonly #begun: () => void;
  #changed: T[] = [];
  /** Keys of known objects that were not listed yet. */
  #missing = new Set<string>();
  /** What happened to objects during a streamed list. */
  #later: Happened<T>[] = [];
  #laterKeys = new Set<string>();
  #count = 0;

  constructor(cache: Cache<T>, { trim, admit, begun }: ListingOptions<T>) {
    this.#cache = cache;
    this.#trim = trim;
    this.#admit = admit;
    this.#begun = begun;
  }

  /** Objects that are kept. */
  get count(): number {
    return this.#count;
  }

  /** What happened since the objects were listed, in order. */
  get later(): readonly Happened<T>[] {
    return this.#later;
  }

  /** Starts over: everything received so far is void. */
  begin(): void {
    this.#changed = [];
    this.#missing = new Set(this.#cache.keys());
    this.#later = [];
    this.#laterKeys = new Set();
    this.#count = 0;
    this.#begun();
  }

  take(object: KubeObject): void {
    const now = this.#trim(object);
    if (now === undefined) return;
    const known = this.#cache.get(now.namespace, now.name);
    const same = known?.resourceVersion === now.resourceVersion && known.uid === now.uid;
    const kept = same ? known : this.#admit(now);
    if (kept === undefined) return;
    this.#count += 1;
    if (known !== undefined) this.#missing.delete(keyOf(now.namespace, now.name));
    if (kept !== known) this.#changed.push(kept);
  }

  /** Takes an event of a streamed list: an object, or a change of one that precedes the end of the list. */
  takeEvent(event: WatchEvent<KubeObject>): void {
    const { namespace = '', name } = event.object.metadata;
    const key = keyOf(namespace, name);
    if (event.type === 'ADDED' && !this.#laterKeys.has(key)) {
      this.take(event.object);
      return;
    }
    this.#laterKeys.add(key);
    this.#later.push(happenedIn(event, this.#trim));
  }

  /** Replaces the contents of the cache by the list; see {@link Cache.replace}. */
  changes(): Generator<ObjectChange<T>, void> {
    return this.#cache.replace(this.#changed, this.#missing);
  }
}
