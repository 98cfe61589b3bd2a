import type { Clock, UniformRandom } from '../client/clock.ts';
import { ApiError, isUnreachable } from '../client/errors.ts';

export interface BackoffLimits {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * For so long (ms) after it could not be reached, what an API server refuses is taken for a part of its start: it answers
 * 403 until it has read the roles, 429 until its watch caches are filled, and 410 to watches from before.
 */
export const STARTING_MS = 60_000;

/**
 * Exponential back-off with full jitter: anything between nothing and `base × 2^attempt`, at most `max`. Full rather than
 * partial jitter, since those who failed together shall not come back together.
 * @param attempt 0 for the first failure
 */
function fullJitter(attempt: number, { baseMs, maxMs }: BackoffLimits, random: UniformRandom): number {
  return random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
}

/**
 * The upper half of the same: between half of `base × 2^attempt` and all of it, at most `max`. So that what fails for ever
 * is certain to be tried no more often than once in half of `max`.
 */
export const halfJitter = (attempt: number, limits: BackoffLimits, random: UniformRandom): number =>
  fullJitter(attempt, limits, () => 0.5 + random() / 2);

/** Milliseconds. */
export interface ServerBackoffTimes {
  /** While nobody answers, and for `startingMs` after that: a restarted API server shall be found at once. */
  readonly unreachable: BackoffLimits;
  readonly startingMs: number;
  /** While the server answers with errors at other times. */
  readonly refused: BackoffLimits;
  /** Without a failure for this long, it begins from the start. */
  readonly healthyAfterMs: number;
}

/**
 * How long a reflector waits after each failure. While the API server starts, nothing that it refuses may cost more than a
 * moment: for a while after it could not be reached it is asked as often as if it still could not be.
 */
export class ServerBackoff {
  readonly #times: ServerBackoffTimes;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #random: UniformRandom;
  #failures = 0;
  #healthySince: number | undefined;
  #lostAt = -Infinity;

  constructor(times: ServerBackoffTimes, clock: Pick<Clock, 'now'>, random: UniformRandom) {
    this.#times = times;
    this.#clock = clock;
    this.#random = random;
  }

  /** The server sent what was asked for. */
  alive(): void {
    this.#healthySince ??= this.#clock.now();
  }

  /** @returns milliseconds */
  after(error: unknown): number {
    const now = this.#clock.now();
    const { healthyAfterMs, startingMs, unreachable, refused } = this.#times;
    if (this.#healthySince !== undefined && now - this.#healthySince >= healthyAfterMs) this.#failures = 0;
    this.#healthySince = undefined;
    if (isUnreachable(error)) this.#lostAt = now;
    const limits = now - this.#lostAt < startingMs ? unreachable : refused;
    const wait = fullJitter(this.#failures, limits, this.#random);
    // Not past the limit: a long outage must not lengthen the wait for whatever comes after it.
    if (limits.baseMs * 2 ** this.#failures < limits.maxMs) this.#failures += 1;
    const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
    return Math.max(wait, Math.min(asked, refused.maxMs));
  }
}
