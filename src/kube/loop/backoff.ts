import type { Clock, UniformRandom } from '../client/clock.ts';
import { ApiError, isUnreachable } from '../client/errors.ts';

export interface BackoffLimits {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * For this long (ms) after an API server was unreachable, its errors count as part of its start: it answers 403 until
 * it has read the roles, 429 until its watch caches are filled, and 410 to watches from before the restart.
 */
export const STARTING_MS = 60_000;

/**
 * Exponential back-off with full jitter: a wait between 0 and `base × 2^attempt`, at most `max`. Full rather than
 * partial jitter keeps clients that failed together from retrying together.
 * @param attempt 0 for the first failure
 */
function fullJitter(attempt: number, { baseMs, maxMs }: BackoffLimits, random: UniformRandom): number {
  return random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
}

/**
 * The upper half of the same range: between half of `base × 2^attempt` and all of it, at most `max`. A call that always
 * fails is therefore retried at most once in half of `max`.
 */
export const halfJitter = (attempt: number, limits: BackoffLimits, random: UniformRandom): number =>
  fullJitter(attempt, limits, () => 0.5 + random() / 2);

/** Times in milliseconds. */
export interface ServerBackoffTimes {
  /** While the server is unreachable, and for `startingMs` after that: a restarted API server has to be found quickly. */
  readonly unreachable: BackoffLimits;
  readonly startingMs: number;
  /** While the server answers with errors at other times. */
  readonly refused: BackoffLimits;
  /** After this long without a failure the back-off starts over. */
  readonly healthyAfterMs: number;
}

/**
 * How long a reflector waits after each failure. For `startingMs` after the API server was unreachable, retries are as
 * frequent as if it still were, so that errors during its start delay nothing for long.
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

  /** Records that the server answered as requested. */
  alive(): void {
    this.#healthySince ??= this.#clock.now();
  }

  /** @returns the wait in milliseconds */
  after(error: unknown): number {
    const now = this.#clock.now();
    const { healthyAfterMs, startingMs, unreachable, refused } = this.#times;
    if (this.#healthySince !== undefined && now - this.#healthySince >= healthyAfterMs) this.#failures = 0;
    this.#healthySince = undefined;
    if (isUnreachable(error)) this.#lostAt = now;
    const limits = now - this.#lostAt < startingMs ? unreachable : refused;
    const wait = fullJitter(this.#failures, limits, this.#random);
    // Failures beyond the limit are not counted: a long outage must not lengthen the wait after a later failure.
    if (limits.baseMs * 2 ** this.#failures < limits.maxMs) this.#failures += 1;
    const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
    return Math.max(wait, Math.min(asked, refused.maxMs));
  }
}
