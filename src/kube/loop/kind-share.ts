import type { Change, Identified } from './cache.ts';
import type { CacheRoom, Cut } from './cache-room.ts';
import { heapSize } from './heap-size.ts';

/** An object's places in a cache and its indexes. */
const OVERHEAD = 256;

const sizeOf = (object: Identified): number => OVERHEAD + heapSize(object);

/** What one cache has of the room that all share. Objects of the cluster are in no namespace and always kept. */
export class KindShare<T extends Identified> implements Cut {
  readonly kind: string;
  readonly #room: CacheRoom;
  /** Namespaces of which something was left out. */
  readonly #cut = new Set<string>();
  /** While a list is read: what it will add to the cache, by namespace, and of whom something did not fit. */
  #list: { readonly coming: Map<string, number>; readonly cut: Set<string> } | undefined;

  /** How often something did not fit. */
  refused = 0;

  constructor(room: CacheRoom, kind: string) {
    this.#room = room;
    this.kind = kind;
  }

  get cut(): ReadonlySet<string> {
    return this.#cut;
  }

  beginList(): void {
    this.#list = { coming: new Map(), cut: new Set() };
  }

  /** The cache has what was listed. */
  endList(): void {
    const cut = this.#list?.cut ?? new Set();
    this.#list = undefined;
    for (const namespace of this.#cut) if (!cut.has(namespace)) this.whole(namespace);
  }

  /** All objects of this namespace are in the cache. */
  whole(namespace: string): void {
    if (this.#cut.delete(namespace)) this.#room.whole(namespace, this);
  }

  /**
   * What to keep of an object's state. What does not fit is left out, and what is known stays as it was: to forget it would
   * say that it is gone.
   */
  admit(now: T, known: T | undefined): T | undefined {
    const { namespace } = now;
    if (namespace === '') return now;
    const more = sizeOf(now) - (known === undefined ? 0 : sizeOf(known));
    const coming = this.#list?.coming.get(namespace) ?? 0;
    if (more > 0 && !this.#room.fits(namespace, coming + more)) {
      this.refused += 1;
      this.#cut.add(namespace);
      this.#list?.cut.add(namespace);
      this.#room.leftOut(namespace, this);
      return known;
    }
    this.#list?.coming.set(namespace, coming + Math.max(0, more));
    return now;
  }

  account(change: Change<T>): void {
    const { old, new: now } = change;
    const { namespace } = (now ?? old) as T;
    if (namespace === '') return;
    this.#room.move(namespace, (now === undefined ? 0 : sizeOf(now)) - (old === undefined ? 0 : sizeOf(old)));
  }
}
