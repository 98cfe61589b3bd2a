import { systemClock, type Clock, type UniformRandom } from '../client/clock.ts';
import { halfJitter, type BackoffLimits } from './backoff.ts';
import { Lanes } from './fairness.ts';

export interface WorkQueueOptions {
  readonly clock?: Clock;
  readonly random?: UniformRandom;
  /** For metrics: a key is tried again after a failure. May not throw. */
  readonly retried?: () => void;
  /**
   * As how many keys one counts while it is under work, at least 1: what takes long to judge takes so much of what its
   * namespace may have at a time. Default 1. May not throw.
   */
  readonly weightOf?: (key: string) => number;
  /** Of the retries of one key. Default 50 ms to 60 s. */
  readonly backoff?: BackoffLimits;
}

/** Half a conflict is over in 50 ms; what fails for hours is tried once or twice a minute, never more often. */
const BACKOFF: BackoffLimits = { baseMs: 50, maxMs: 60_000 };

/**
 * Keys that need work, after client-go's workqueue: a key waits once however often it is added, is never worked on twice
 * at a time, and one that is added while under work comes again afterwards. So no event is lost, and a thousand events of
 * a gang are one reconciliation.
 *
 * Namespaces take turns, and none has more workers at work than there are idle ones: one alone has half of them, several
 * share, and a worker is left for the next that comes. So a namespace with thousands of gangs, or with gangs that take
 * long, keeps nobody else's waiting. A key of more weight counts as several; alone any may be worked on.
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: UniformRandom;
  readonly #retried: () => void;
  readonly #weightOf: (key: string) => number;
  readonly #backoff: BackoffLimits;
  /** Ready, a lane a namespace, with the time since when. */
  readonly #ready = new Lanes<number>();
  /** Under work, with the time since when, and its weight then. */
  readonly #taken = new Map<string, { readonly since: number; readonly weight: number }>();
  /** The weight of what is under work for a namespace; no entry for none. */
  readonly #atWork = new Map<string, number>();
  /** Under work and added again. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  readonly #failures = new Map<string, number>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #workers = Infinity;
  #closed = false;

  constructor(options: WorkQueueOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#retried = options.retried ?? (() => undefined);
    this.#weightOf = options.weightOf ?? (() => 1);
    this.#backoff = options.backoff ?? BACKOFF;
  }

  /** Keys ready to be worked on. */
  get depth(): number {
    return this.#ready.size;
  }

  /** How long the first of them has been ready (ms). */
  get oldestMs(): number {
    const now = this.#clock.now();
    let oldest = now;
    for (const since of this.#ready.firsts()) oldest = Math.min(oldest, since);
    return now - oldest;
  }

  /** Whether any key is ready or under work. */
  get busy(): boolean {
    return this.#ready.size > 0 || this.#taken.size > 0;
  }

  /** How long the longest work under way has taken so far (ms): for a metric that shows what hangs. */
  get longestRunningMs(): number {
    const now = this.#clock.now();
    return Math.max(0, ...Array.from(this.#taken.values(), ({ since }) => now - since));
  }

  /** As many take from it. Without this nobody is held back for others. */
  sharedBy(workers: number): void {
    this.#workers = workers;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#taken.has(key)) this.#again.add(key);
    else this.#makeReady(key);
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
    this.#ready.push(laneOf(key), key, this.#clock.now());
    this.#handOut();
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const idle = this.#workers - this.#taken.size;
      const next = this.#ready.next((lane, key) => {
        const atWork = this.#atWork.get(lane);
        return atWork === undefined ? idle > 0 : atWork + this.#weightOf(key) <= idle;
      });
      if (next === undefined) return;
      const weight = this.#weightOf(next.key);
      this.#taken.set(next.key, { since: this.#clock.now(), weight });
      this.#atWork.set(next.lane, (this.#atWork.get(next.lane) ?? 0) + weight);
      this.#takers.shift()?.(next.key);
    }
  }
}

/** Its namespace; the same for all keys that have none. */
const laneOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf('/')));
