import type { ObjectChange, Identified } from './cache.ts';
/** Bytes. */
export interface MemoryLimits {
  /** Of all namespaces in all caches. */
  readonly total: number;
  /** Of one namespace in all caches. */
  readonly ofNamespace: number;
  /** What a namespace may have in any case: others that fill all the room do not keep it out. */
  readonly reserve: number;
}

/**
 * What the caches may take of a heap: half, of which one namespace has half again. The rest is for what is being read,
 * listed and reviewed meanwhile.
 */
export const memoryLimitsOf = (heapLimit: number): MemoryLimits => ({
  total: heapLimit / 2,
  ofNamespace: heapLimit / 4,
  reserve: heapLimit / 512,
});

/** What leaves objects out: two watches may be of kinds that are called the same. */
export interface Cut {
  readonly kind: string;
}

/**
 * Shares the memory of all caches among namespaces. What does not fit is left out, and its namespace stands still until
 * all of it is known again: nobody may act on half of what there is.
 */
export class CacheMemory {
  readonly #limits: MemoryLimits;
  readonly #used = new Map<string, number>();
  /** Caches that dropped objects, by namespace; no entry where none did. */
  readonly #cut = new Map<string, Set<Cut>>();
  readonly #handlers: ((namespace: string, why: string | undefined) => void)[] = [];
  #total = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Namespaces that stand still. */
  get standing(): number {
    return this.#cut.size;
  }

  /** Why nothing may be done in this namespace; undefined where all of it is known. */
  why(namespace: string): string | undefined {
    const cuts = this.#cut.get(namespace);
    if (cuts === undefined) return undefined;
    const kinds = new Set(Array.from(cuts, ({ kind }) => kind));
    const most = Math.floor(this.#limits.ofNamespace / 2 ** 20);
    const what = [...kinds].sort().join(', ');
    return `namespace ${namespace} holds more than Muster keeps of one in memory (${most} MiB; left out are some ${what}): its gangs stay as they are until some of it is deleted, or Muster has more memory`;
  }

  /** Hears of a namespace that stands still from now on, and why, or goes on. */
  onTurn(handler: (namespace: string, why: string | undefined) => void): void {
    this.#handlers.push(handler);
  }

  fits(namespace: string, bytes: number): boolean {
    const used = (this.#used.get(namespace) ?? 0) + bytes;
    const { ofNamespace, total, reserve } = this.#limits;
    return used <= ofNamespace && (used <= reserve || this.#total + bytes <= total);
  }

  /** Takes so much more, or gives so much back. */
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

/** An object's places in a cache and its indexes. */
const OVERHEAD = 256;

const sizeOf = (object: Identified): number => OVERHEAD + heapSize(object);

/** What one cache has of the room that all share. Objects of the cluster are in no namespace and always kept. */
export class KindMemory<T extends Identified> implements Cut {
  readonly kind: string;
  readonly #room: CacheMemory;
  /** Namespaces of which something was left out. */
  readonly #cut = new Set<string>();
  /** While a list is read: what it will add to the cache, by namespace, and of whom something did not fit. */
  #list: { readonly coming: Map<string, number>; readonly cut: Set<string> } | undefined;

  /** How often something did not fit. */
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

  account(change: ObjectChange<T>): void {
    const { old, new: now } = change;
    const { namespace } = (now ?? old) as T;
    if (namespace === '') return;
    this.#room.move(namespace, (now === undefined ? 0 : sizeOf(now)) - (old === undefined ? 0 : sizeOf(old)));
  }
}

/**
 * About how many bytes a value made of JSON takes in memory, Maps included: good enough to hold one namespace's against
 * another's. A string counts a byte a character; what is shared with other values counts each time.
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
  // Names of fields are most often shared; those of a map that a tenant has filled are not.
  for (const key in value) size += 8 + key.length + heapSize((value as Record<string, unknown>)[key]);
  return size;
}
