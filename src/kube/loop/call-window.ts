import { systemClock, type Clock } from '../client/clock.ts';
import { Lanes } from './fairness.ts';

/** Calls in flight at first, which is the least, and at most. A further one costs a TLS handshake, on both sides. */
const LEAST = 16;
export const MOST_CALLS = 256;
/** An answer is in time within twice the shortest time of late, or within this much more (ms). */
const IN_TIME_MS = 25;
/** How long the shortest time counts (ms): an API server that has become slower for good is the new measure then. */
const REMEMBERED_MS = 3_000;
/** Calls fewer for one that was refused: so more than a sixth of them refused makes the window smaller, less does not. */
const PER_REFUSAL = 5;
/** A window that was idle for so long starts anew (ms). */
const IDLE_MS = 30_000;
/** Answers that are lost together count once within this time (ms). */
const LOST_TOGETHER_MS = 1_000;
/** What an API server that is overloaded answers, or a proxy in front of it. */
const REFUSALS: ReadonlySet<number> = new Set([429, 503, 504]);
/** Refused by a PodDisruptionBudget with the 429 of an API server that is overloaded. */
const EVICT = 'evict';
/** The verbs whose times are compared: a list takes as long as it is large. */
const COMPARED: ReadonlySet<string> = new Set(['get', 'patch', 'create', 'replace', 'delete']);

interface Waiter {
  /** @returns whether it still waits, and begins now */
  readonly go: () => boolean;
}

/**
 * How many calls are in flight at a time: as many as the API server takes. The window grows by one with each answer in time
 * while calls wait for it, stays where answers take longer, shrinks with what is refused, and is halved where an answer is
 * lost, as TCP does it. Lanes (namespaces) take turns, and the last quarter of the window is for those that have nothing
 * in flight.
 */
export class CallWindow {
  readonly #clock: Clock;
  readonly #waiting = new Lanes<Waiter>();
  /** Calls in flight by lane; no entry for none. */
  readonly #ofLane = new Map<string, number>();
  #limit = LEAST;
  #inFlight = 0;
  #asked = 0;
  #shortest = Infinity;
  /** The shortest since {@link #since}. */
  #shortestSince = Infinity;
  #since = 0;
  #lastAnswer = 0;
  #lostAt = -Infinity;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Calls that may be in flight. */
  get limit(): number {
    return this.#limit;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Makes a call once it may be in flight. While it rests, between an answer that asks for it and the next try, another is
   * in flight in its place.
   * @param first whether it comes before those of its lane that wait and are not; whoever has rested does
   * @throws the signal's reason when it is aborted first
   */
  async run<T>(
    lane: string,
    call: (resting: (rest: Promise<void>) => Promise<void>) => Promise<T>,
    { signal, first = false }: { readonly signal?: AbortSignal | undefined; readonly first?: boolean } = {},
  ): Promise<T> {
    signal?.throwIfAborted();
    if (this.#inFlight === 0 && this.#clock.now() - this.#lastAnswer > IDLE_MS) this.#limit = LEAST;
    await this.#turn(lane, first, signal);
    let inFlight = true;
    const resting = async (rest: Promise<void>): Promise<void> => {
      inFlight = false;
      this.#leave(lane);
      await rest;
      await this.#turn(lane, true, signal);
      inFlight = true;
    };
    try {
      return await call(resting);
    } finally {
      if (inFlight) this.#leave(lane);
    }
  }

  /**
   * Takes note of an answer.
   * @param status undefined: there was none
   * @param ms until the end of the answer; undefined for a streamed answer, which is not compared
   */
  answered(verb: string, status: number | undefined, ms?: number): void {
    const now = this.#clock.now();
    this.#lastAnswer = now;
    if (status === undefined) {
      if (now - this.#lostAt > LOST_TOGETHER_MS) this.#limit = Math.max(LEAST, Math.floor(this.#limit / 2));
      this.#lostAt = now;
    } else if (REFUSALS.has(status) && verb !== EVICT) {
      this.#limit = Math.max(LEAST, this.#limit - PER_REFUSAL);
    } else if (ms !== undefined && COMPARED.has(verb) && this.#inTime(ms, now) && this.waiting > 0) {
      this.#limit = Math.min(MOST_CALLS, this.#limit + 1);
      this.#admit();
    }
  }

  #inTime(ms: number, now: number): boolean {
    if (now - this.#since > REMEMBERED_MS) {
      this.#shortest = this.#shortestSince;
      this.#shortestSince = Infinity;
      this.#since = now;
    }
    this.#shortest = Math.min(this.#shortest, ms);
    this.#shortestSince = Math.min(this.#shortestSince, ms);
    return ms <= Math.max(2 * this.#shortest, this.#shortest + IN_TIME_MS);
  }

  #may(lane: string): boolean {
    const own = this.#ofLane.get(lane) ?? 0;
    return this.#inFlight < this.#limit && (own === 0 || own < (this.#limit * 3) / 4);
  }

  #enter(lane: string): void {
    this.#inFlight += 1;
    this.#ofLane.set(lane, (this.#ofLane.get(lane) ?? 0) + 1);
  }

  #leave(lane: string): void {
    this.#inFlight -= 1;
    const left = (this.#ofLane.get(lane) ?? 1) - 1;
    if (left === 0) this.#ofLane.delete(lane);
    else this.#ofLane.set(lane, left);
    this.#admit();
  }

  async #turn(lane: string, first: boolean, signal: AbortSignal | undefined): Promise<void> {
    if (this.#may(lane)) this.#enter(lane);
    else await this.#waited(lane, first, signal);
  }

  #waited(lane: string, first: boolean, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      let waits = true;
      const aborted = (): void => {
        waits = false;
        reject(signal?.reason as Error);
      };
      const go = (): boolean => {
        signal?.removeEventListener('abort', aborted);
        if (waits) resolve();
        return waits;
      };
      signal?.addEventListener('abort', aborted, { once: true });
      this.#waiting.push(lane, String(this.#asked++), { go }, first);
    });
  }

  /** Lets those begin that may. */
  #admit(): void {
    for (;;) {
      const next = this.#waiting.next((lane) => this.#may(lane));
      if (next === undefined) return;
      if (next.value.go()) this.#enter(next.lane);
    }
  }
}
