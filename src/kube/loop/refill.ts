import { sleep, type Clock } from '../client/clock.ts';
import type { Identified } from './cache.ts';
import type { KindMemory } from './cache-memory.ts';

/** First and longest delay (ms) before a namespace with objects left out is listed again. */
const AFTER_MS = 30_000;
const AT_MOST_MS = 10 * 60_000;

export interface RefillOptions<T extends Identified> {
  readonly share: KindMemory<T>;
  /** Lists a namespace; rejects with the error that `take` throws. */
  readonly read: (namespace: string, take: (objects: readonly T[]) => void) => Promise<void>;
  /** Puts an object into the cache, if it fits. */
  readonly put: (object: T) => void;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Lists the namespaces with objects left out again, until all of their objects fit into the cache. */
export class Refill<T extends Identified> {
  readonly #options: RefillOptions<T>;
  /**
   * uids of objects deleted during the list: the watch is ahead of a list, so an object that it showed as deleted stays
   * deleted.
   */
  readonly #gone = new Set<string>();
  #running: Promise<void> | undefined;

  constructor(options: RefillOptions<T>) {
    this.#options = options;
  }

  /** Resolves once no list is in progress. */
  get ended(): Promise<void> | undefined {
    return this.#running;
  }

  begin(): void {
    this.#running ??= this.#run();
  }

  wentMeanwhile(uid: string): void {
    if (this.#running !== undefined) this.#gone.add(uid);
  }

  async #run(): Promise<void> {
    const { share, clock, signal } = this.#options;
    for (let wait = AFTER_MS; share.cut.size > 0; wait = Math.min(2 * wait, AT_MOST_MS)) {
      await sleep(clock, wait, signal).catch(() => undefined);
      if (signal.aborted) return;
      for (const namespace of [...share.cut]) await this.#fill(namespace);
    }
    this.#running = undefined;
  }

  async #fill(namespace: string): Promise<void> {
    const { share, read, put } = this.#options;
    const { refused } = share;
    this.#gone.clear();
    try {
      await read(namespace, (objects) => {
        for (const object of objects) if (!this.#gone.has(object.uid)) put(object);
        // The rest of the list would not fit either.
        if (share.refused !== refused) throw new Error('it does not fit yet');
      });
      share.whole(namespace);
    } catch {
      // The namespace is tried again later.
    }
  }
}
