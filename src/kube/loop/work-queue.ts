import { systemClock, type Clock, type UniformRandom } from '../client/clock.ts';
import { halfJitter, type BackoffLimits } from './backoff.ts';
import { Lanes } from './fairness.ts';

export interface WorkQueueOptions {
  readonly clock?: Clock;
  readonly random?: UniformRandom;
  /** Called when a key is retried after a failure, for metrics. Must not throw. */
  readonly retried?: () => void;
  /**
   * The number of keys of ten that a key counts as while it is being processed, at least 1: keys that take long use more
   * of their namespace's share of the workers, however many workers there are. Default 1. Must not throw.
   */
  readonly weightOf?: (key: string) => number;
  /** Back-off of the retries of one key. Default 50 ms to 60 s. */
  readonly backoff?: BackoffLimits;
}

/** The workers that weights are given for. */
const WEIGHED_BY = 10;

/** Half of all conflicts are over in 50 ms; a key that fails for hours is retried once or twice a minute. */
const BACKOFF: BackoffLimits = { baseMs: 50, maxMs: 60_000 };

/**
 * Keys that need work, modelled on client-go's workqueue: a key waits once however often it is added, is never
 * processed twice at a time, and is processed again when it was added during processing. So no event is lost, and a
 * thousand events of a gang become one reconciliation.
 *
 * Namespaces take turns, and none has more busy workers than there are idle ones: a single namespace gets half of the
 * workers, several share them, and one worker is left for the next namespace. So a namespace with thousands of gangs,
 * or with slow gangs, does not delay the others. A key with a higher weight counts as several keys; a namespace with no
 * key in progress may always process one.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: UniformRandom;
  readonly #retried: () => void;
  readonly #weightOf: (key: string) => number;
  readonly #backoff: BackoffLimits;
  /** Keys that are ready, with the time since when; one lane per namespace. */
  readonly #ready = new Lanes<number>();
  /** Keys that are being processed, with the time since when and their weight at that time. */
  readonly #taken = new Map<string, { readonly since: number; readonly weight: number }>();
  /** Total weight of the keys being processed, by namespace; no entry for none. */
  readonly #atWork = new Map<string, number>();
  /** Keys that were added again while being processed. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #workers: () => number = () => Infinity;
  #closed = false;

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#retried = options.retried ?? (() => undefined);
    this.#weightOf = options.weightOf ?? (() => 1);
    this.#backoff = options.backoff ?? BACKOFF;
  }

  /** Number of keys that are ready. */
  get depth(): number {
    return this.#ready.size;
  }

  /** How long the oldest ready key has been waiting (ms). */
  get oldestMs(): number {
    const now = this.#clock.now();
    let oldest = now;
    for (const since of this.#ready.firsts()) oldest = Math.min(oldest, since);
    return now - oldest;
  }

  /** Whether any key is ready or being processed. */
  get busy(): boolean {
    return this.#ready.size > 0 || this.#taken.size > 0;
  }

  /** How long the longest processing in progress has taken so far (ms), for a metric that shows hangs. */
  get longestRunningMs(): number {
    const now = this.#clock.now();
    return Math.max(0, ...Array.from(this.#taken.values(), ({ since }) => now - since));
  }

  /** Number of keys being processed. */
  get busySlots(): number {
    return this.#taken.size;
  }

  /** Number of keys that may be processed concurrently. */
  get slots(): number {
    return this.#workers();
  }

  /** Sets the number of workers, which may change. Without it no namespace is limited in favour of others. */
  sharedBy(workers: () => number): void {
    this.#workers = workers;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#taken.has(key)) this.#again.add(key);
    else this.#makeReady(key);
  }

  /** Adds the key after `ms`. Of several delays the earliest counts; an {@link add} in between does not cancel it. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const at = this.#clock.now() + ms;
    const waiting = this.#delayed.get(key);
    if (waiting !== undefined) {
      if (waiting.at <= at) return;
      waiting.cancel();
    }
    const cancel = this.#clock.after(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { at, cancel });
  }

  /**
   * Adds the key again after a failure, with a longer delay for each. @returns the delay in milliseconds
   * @param atMostMs the longest delay for this kind of failure. Failures beyond it are not counted, so that a long
   *   outage does not lengthen the delay after a later failure
   */
  retry(key: string, atMostMs = Infinity): number {
    const failures = this.#failures.get(key) ?? 0;
    const { baseMs, maxMs } = this.#backoff;
    if (baseMs * 2 ** failures < atMostMs) this.#failures.set(key, failures + 1);
    const wait = halfJitter(failures, { baseMs, maxMs: Math.min(maxMs, atMostMs) }, this.#random);
    this.#retried();
    this.addAfter(key, wait);
    return wait;
  }

  /** Resets the key's failures after a success. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Resolves with the next key, undefined once the queue is closed. The caller has to call {@link done} for each key. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#handOut();
    });
  }

  done(key: string): void {
    const taken = this.#taken.get(key);
    if (taken === undefined) return;
    this.#taken.delete(key);
    const lane = laneOf(key);
    const left = (this.#atWork.get(lane) ?? 0) - taken.weight;
    if (left <= 0) this.#atWork.delete(lane);
    else this.#atWork.set(lane, left);
    if (this.#again.delete(key) && !this.#closed) this.#makeReady(key);
    this.#handOut();
  }

  /** Stops handing out and accepting keys. The next leader starts with all keys, so remaining keys are not lost. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#ready.clear();
    this.#again.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #makeReady(key: string): void {
    this.#ready.push(laneOf(key), key, this.#clock.now());
    this.#handOut();
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const workers = this.#workers();
      const idle = workers - this.#taken.size;
      // Without a number of workers nothing is limited, and no weight may be infinite.
      const scale = workers === Infinity ? 1 : Math.max(1, workers / WEIGHED_BY);
      const weigh = (key: string): number => {
        const weight = this.#weightOf(key);
        return weight === 1 ? 1 : Math.ceil(weight * scale);
      };
      const next = this.#ready.next((lane, key) => {
        const atWork = this.#atWork.get(lane);
        return atWork === undefined ? idle > 0 : atWork + weigh(key) <= idle;
      });
      if (next === undefined) return;
      const weight = weigh(next.key);
      this.#taken.set(next.key, { since: this.#clock.now(), weight });
      this.#atWork.set(next.lane, (this.#atWork.get(next.lane) ?? 0) + weight);
      this.#takers.shift()?.(next.key);
    }
  }
}

/** The lane of a key: its namespace, or one lane for all keys without a namespace. */
const laneOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));
