import type { Clock, Random } from '../client/clock.ts';
import { ApiError, isUnreachable } from '../client/errors.ts';
import { fullJitter } from './backoff.ts';
import type { ReflectorTimes } from './reflector-options.ts';

/**
 * How long a reflector waits after each failure. While the API server starts, nothing that it refuses may cost more than a
 * moment: for a while after it could not be reached it is asked as often as if it still could not be.
 */
export class ReflectorBackoff {
  readonly #times: Pick<ReflectorTimes, 'unreachable' | 'refused' | 'startingMs' | 'healthyAfterMs'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #random: Random;
  #failures = 0;
  #healthySince: number | undefined;
  #lostAt = -Infinity;

  constructor(
    times: Pick<ReflectorTimes, 'unreachable' | 'refused' | 'startingMs' | 'healthyAfterMs'>,
    clock: Pick<Clock, 'now'>,
    random: Random,
  ) {
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
