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

/** What leaves objects out: two watches may be of kinds that are called the same. */
export interface Cut {
  readonly kind: string;
}

/**
 * Shares the memory of all caches among namespaces. What does not fit is left out, and its namespace stands still until
 * all of it is known again: nobody may act on half of what there is.
 */
export class CacheRoom {
  readonly #limits: RoomLimits;
  readonly #used = new Map<string, number>();
  /** Who leaves something out, by namespace; no entry for nobody. */
  readonly #cut = new Map<string, Set<Cut>>();
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
