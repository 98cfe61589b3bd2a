import { systemClock, type Clock, type Random } from '../client/clock.ts';
import { halfJitter, type BackoffLimits } from './backoff.ts';

export interface WorkQueueOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  /** For metrics: a key is tried again after a failure. May not throw. */
  readonly retried?: () => void;
  /** Of the retries of one key. Default 50 ms to 60 s. */
  readonly backoff?: BackoffLimits;
}

/** Half a conflict is over in 50 ms; what fails for hours is tried once or twice a minute, never more often. */
const BACKOFF: BackoffLimits = { baseMs: 50, maxMs: 60_000 };

/**
 * Keys that need work, after client-go's workqueue: a key waits once however often it is added, is never worked on twice
 * at a time, and one that is added while under work comes again afterwards. So no event is lost, and a thousand events of
 * a gang are one reconciliation.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #retried: () => void;
  readonly #backoff: BackoffLimits;
  /** Ready, in order, with the time since when. */
  readonly #ready = new Map<string, number>();
  /** Under work, with the time since when. */
  readonly #taken = new Map<string, number>();
  /** Under work and added again. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#retried = options.retried ?? (() => undefined);
    this.#backoff = options.backoff ?? BACKOFF;
  }

  /** Keys ready to be worked on. */
  get depth(): number {
    return this.#ready.size;
  }

  /** How long the first of them has been ready (ms). */
  get oldestMs(): number {
    for (const since of this.#ready.values()) return this.#clock.now() - since;
    return 0;
  }

  /** Whether any key is ready or under work. */
  get busy(): boolean {
    return this.#ready.size > 0 || this.#taken.size > 0;
  }

  /** How long the longest work under way has taken so far (ms): for a metric that shows what hangs. */
  get longestRunningMs(): number {
    const now = this.#clock.now();
    return Math.max(0, ...Array.from(this.#taken.values(), (since) => now - since));
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#taken.has(key)) this.#again.add(key);
    else if (!this.#ready.has(key)) this.#makeReady(key);
  }

  /** Adds the key after `ms`. Of several times the earliest counts; an {@link add} meanwhile does not cancel it. */
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
   * Adds the key again after a failure, later with each. @returns the milliseconds until then
   * @param atMostMs a limit for this kind of failure. Those past it count no more, so that a long outage does not
   *   lengthen the wait for whatever comes after it
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

  /** The key succeeded: its next failure is its first. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key, as soon as there is one; undefined once the queue is closed. Each key taken has to be {@link done}. */
  take(): Promise<string | undefined> {
    for (const key of this.#ready.keys()) {
      this.#ready.delete(key);
      this.#taken.set(key, this.#clock.now());
      return Promise.resolve(key);
    }
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(key: string): void {
    if (!this.#taken.delete(key)) return;
    if (this.#again.delete(key) && !this.#closed) this.#makeReady(key);
  }

  /** Nothing is handed out or taken in any more. What was not worked on is found again by whoever comes next. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#ready.clear();
    this.#again.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #makeReady(key: string): void {
    const taker = this.#takers.shift();
    const now = this.#clock.now();
    if (taker === undefined) {
      this.#ready.set(key, now);
      return;
    }
    this.#taken.set(key, now);
    taker(key);
  }
}
