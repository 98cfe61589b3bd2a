import type { ObjectChange, Identified } from './cache.ts';
/** Limits in bytes. */
export interface MemoryLimits {
  /** For all namespaces in all caches. */
  readonly total: number;
  /** For one namespace in all caches. */
  readonly ofNamespace: number;
  /** Guaranteed to each namespace, even when others have used up the total. */
  readonly reserve: number;
}

/**
 * The memory limits of the caches for a heap: half of it, and half of that for one namespace. The rest is for objects
 * that are being read, listed and reviewed.
 */
export const memoryLimitsOf = (heapLimit: number): MemoryLimits => ({
  total: heapLimit / 2,
  ofNamespace: heapLimit / 4,
  reserve: heapLimit / 512,
});

/** A cache that left objects out. Compared by identity, since two watches may be of kinds with the same name. */
export interface Cut {
  readonly kind: string;
}

/**
 * Shares the memory of all caches among namespaces. Objects that do not fit are left out, and work in their namespace
 * is suspended until all its objects are cached again: nothing may act on an incomplete cache.
 */
export class CacheMemory {
  readonly #limits: MemoryLimits;
  readonly #used = new Map<string, number>();
  /** Caches that left objects out, by namespace; no entry when none did. */
  readonly #cut = new Map<string, Set<Cut>>();
  readonly #handlers: ((namespace: string, why: string | undefined) => void)[] = [];
  #total = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Number of namespaces in which work is suspended. */
  get standing(): number {
    return this.#cut.size;
  }

  /** Why work in this namespace is suspended; undefined when all its objects are cached. */
  why(namespace: string): string | undefined {
    const cuts = this.#cut.get(namespace);
    if (cuts === undefined) return undefined;
    const kinds = new Set(Array.from(cuts, ({ kind }) => kind));
    const most = Math.floor(this.#limits.ofNamespace / 2 ** 20);
    const what = [...kinds].sort().join(', ');
    return `namespace ${namespace} holds more than Muster keeps of one in memory (${most} MiB; left out are some ${what}): its gangs stay as they are until some of it is deleted, or Muster has more memory`;
  }

  /** Called when work in a namespace is suspended, with the reason, or resumed, with undefined. */
  onTurn(handler: (namespace: string, why: string | undefined) => void): void {
    this.#handlers.push(handler);
  }

  fits(namespace: string, bytes: number): boolean {
    const used = (this.#used.get(namespace) ?? 0) + bytes;
    const { ofNamespace, total, reserve } = this.#limits;
    return used <= ofNamespace && (used <= reserve || this.#total + bytes <= total);
  }

  /** Adds `bytes`, which may be negative, to the namespace's use. */
  move(namespace: string, bytes: number): void {
    const used = (this.#used.get(namespace) ?? 0) + bytes;
    this.#total += bytes;
    if (used > 0) this.#used.set(namespace, used);
    else this.#used.delete(namespace);
  }

  leftOut(namespace: string, by: Cut): void {
    const cuts = this.#cut.get(namespace);
    if (cuts === undefined) this.#cut.set(namespace, new Set([by]));
    else cuts.add(by);
    if (cuts === undefined) this.#tell(namespace);
  }

  whole(namespace: string, by: Cut): void {
    const cuts = this.#cut.get(namespace);
    if (cuts?.delete(by) !== true || cuts.size > 0) return;
    this.#cut.delete(namespace);
    this.#tell(namespace);
  }

  #tell(namespace: string): void {
    for (const handler of this.#handlers) handler(namespace, this.why(namespace));
  }
}

/** Bytes of an object's entries in a cache and its indexes. */
const OVERHEAD = 256;

const sizeOf = (object: Identified): number => OVERHEAD + heapSize(object);

/** One cache's part of the shared memory. Cluster-wide objects have no namespace and are always kept. */
export class KindMemory<T extends Identified> implements Cut {
  readonly kind: string;
  readonly #room: CacheMemory;
  /** Namespaces of which an object was left out. */
  readonly #cut = new Set<string>();
  /**
   * While a list is read: the bytes that it will add to the cache, by namespace, and the namespaces with objects left
   * out.
   */
  #list: { readonly coming: Map<string, number>; readonly cut: Set<string> } | undefined;

  /** How many times an object did not fit. */
  refused = 0;

  constructor(room: CacheMemory, kind: string) {
    this.#room = room;
    this.kind = kind;
  }

  get cut(): ReadonlySet<string> {
    return this.#cut;
  }

  beginList(): void {
    this.#list = { coming: new Map(), cut: new Set() };
  }

  /** Called when the listed objects are in the cache. */
  endList(): void {
    const cut = this.#list?.cut ?? new Set();
    this.#list = undefined;
    for (const namespace of this.#cut) if (!cut.has(namespace)) this.whole(namespace);
  }

  /** Called when all objects of this namespace are in the cache. */
  whole(namespace: string): void {
    if (this.#cut.delete(namespace)) this.#room.whole(namespace, this);
  }

  /**
   * Returns the state of an object to keep. A state that does not fit is left out and the known state stays: dropping
   * the known state would mean that the object was deleted.
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

  account(change: ObjectChange<T>): void {
    const { old, new: now } = change;
    const { namespace } = (now ?? old) as T;
    if (namespace === '') return;
    this.#room.move(namespace, (now === undefined ? 0 : sizeOf(now)) - (old === undefined ? 0 : sizeOf(old)));
  }
}

/**
 * Approximate bytes that a JSON value takes in memory, including Maps: precise enough to compare namespaces. A string
 * counts one byte per character; values that are shared count each time.
 */
export function heapSize(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  if (Array.isArray(value)) {
    let size = 32;
    for (const item of value) size += 8 + heapSize(item);
    return size;
  }
  let size = 32;
  if (value instanceof Map) {
    for (const [key, item] of value) size += 32 + heapSize(key) + heapSize(item);
    return size;
  }
  // Field names are usually shared between objects; the keys of a map that a tenant has filled are not.
  for (const key in value) size += 8 + key.length + heapSize((value as Record<string, unknown>)[key]);
  return size;
}
