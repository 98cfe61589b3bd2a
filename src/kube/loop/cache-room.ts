/** Bytes. */
export interface RoomLimits {
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
export const roomIn = (heapLimit: number): RoomLimits => ({
  total: heapLimit / 2,
  ofNamespace: heapLimit / 4,
  reserve: heapLimit / 512,
});

/**
 * Shares the memory of all caches among namespaces. What does not fit is left out, and its namespace stands still until
 * all of it is known again: nobody may act on half of what there is.
 */
export class CacheRoom {
  readonly #limits: RoomLimits;
  readonly #used = new Map<string, number>();
  /** Kinds of which something is left out, by namespace; no entry for none. */
  readonly #cut = new Map<string, Set<string>>();
  readonly #handlers: ((namespace: string, why: string | undefined) => void)[] = [];
  #total = 0;

  constructor(limits: RoomLimits) {
    this.#limits = limits;
  }

  /** Namespaces that stand still. */
  get standing(): number {
    return this.#cut.size;
  }

  /** Why nothing may be done in this namespace; undefined where all of it is known. */
  why(namespace: string): string | undefined {
    const kinds = this.#cut.get(namespace);
    if (kinds === undefined) return undefined;
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

  leftOut(namespace: string, kind: string): void {
    const kinds = this.#cut.get(namespace);
    if (kinds === undefined) this.#cut.set(namespace, new Set([kind]));
    else kinds.add(kind);
    if (kinds === undefined) this.#tell(namespace);
  }

  whole(namespace: string, kind: string): void {
    const kinds = this.#cut.get(namespace);
    if (kinds?.delete(kind) !== true || kinds.size > 0) return;
    this.#cut.delete(namespace);
    this.#tell(namespace);
  }

  #tell(namespace: string): void {
    for (const handler of this.#handlers) handler(namespace, this.why(namespace));
  }
}
