import { systemClock, type Clock } from './clock.ts';

export interface TokenBucketOptions {
  /** Tokens per second, above 0. */
  readonly qps: number;
  /** Largest number of tokens, at least one; the bucket starts full. */
  readonly burst: number;
  readonly clock?: Clock;
  /** Called with the wait in ms, only for calls that waited. */
  readonly waited?: (ms: number) => void;
}

interface Waiter {
  readonly since: number;
  readonly go: () => void;
}

/** Rounding tolerance: a token that lacks at most this fraction counts as whole. */
const ROUNDING = 1e-6;

/** Limits calls to a rate with a burst, first come, first served, as client-go does. */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  readonly #clock: Clock;
  readonly #burst: number;
  /** In the order of their calls. */
  readonly #waiting = new Set<Waiter>();
  #tokens: number;
  #filledAt: number;
  #cancel: (() => void) | undefined;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#burst = Math.max(1, options.burst);
    this.#tokens = this.#burst;
    this.#filledAt = this.#clock.now();
  }

  /** Takes a token as soon as it is the caller's turn. @throws the signal's reason when it is aborted first */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.takeNow()) return;
    await new Promise<void>((resolve, reject) => {
      const aborted = (): void => {
        this.#waiting.delete(waiter);
        this.#expect();
        reject(signal?.reason instanceof Error ? signal.reason : new Error(String(signal?.reason)));
      };
      const go = (): void => {
        signal?.removeEventListener('abort', aborted);
        resolve();
      };
      const waiter: Waiter = { since: this.#clock.now(), go };
      this.#waiting.add(waiter);
      signal?.addEventListener('abort', aborted, { once: true });
      this.#expect();
    });
  }

  /** Takes a token if one is available and no call waits. @returns whether it took one */
  takeNow(): boolean {
    return this.#waiting.size === 0 && this.#takeOne();
  }

  #takeOne(): boolean {
    const now = this.#clock.now();
    const grown = ((now - this.#filledAt) * this.#options.qps) / 1000;
    this.#tokens = Math.min(this.#burst, this.#tokens + grown);
    this.#filledAt = now;
    if (this.#tokens < 1 - ROUNDING) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Sets the timer for the next token if calls wait. */
  #expect(): void {
    if (this.#waiting.size === 0) {
      this.#cancel?.();
      this.#cancel = undefined;
    } else {
      const ms = ((1 - this.#tokens) / this.#options.qps) * 1000;
      this.#cancel ??= this.#clock.after(Math.max(0, ms), () => this.#handOut());
    }
  }

  #handOut(): void {
    this.#cancel = undefined;
    for (const waiter of this.#waiting) {
      if (!this.#takeOne()) break;
      this.#waiting.delete(waiter);
      this.#options.waited?.(this.#clock.now() - waiter.since);
      waiter.go();
    }
    this.#expect();
  }
}
