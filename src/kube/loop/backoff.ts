import type { Random } from '../client/clock.ts';

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
export function fullJitter(attempt: number, { baseMs, maxMs }: BackoffLimits, random: Random): number {
  return random() * Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
}

/**
 * The upper half of the same: between half of `base × 2^attempt` and all of it, at most `max`. So that what fails for ever
 * is certain to be tried no more often than once in half of `max`.
 */
export const halfJitter = (attempt: number, limits: BackoffLimits, random: Random): number =>
  fullJitter(attempt, limits, () => 0.5 + random() / 2);
