import { setTimeout as delay } from 'node:timers/promises';

export interface UntilOptions {
  /** Milliseconds after which the wait is given up, not before the fifth probe. Default 60,000. */
  readonly withinMs?: number;
  /** Milliseconds between two probes. Default: a tenth of what was waited so far, from 20 to 250. */
  readonly everyMs?: number;
  /** Aborting rejects the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks `probe` again and again until it answers with something truthy, and gives that back.
 *
 * A probe that throws has "not yet" as its answer: most things that are waited for are not there at first, and the
 * client says so by throwing. The last error is kept, so that a wait that runs out says what stood in the way.
 *
 * @throws Error naming `what`, the time waited and the last error.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  { withinMs = 60_000, everyMs, signal }: UntilOptions = {},
): Promise<T> {
  const waited = countWaiting(withinMs);
  let lastError: unknown;
  for (;;) {
    signal?.throwIfAborted();
    try {
      const answer = await probe();
      if (answer) return answer;
      lastError = undefined;
    } catch (error) {
      if (error instanceof GiveUp) throw error;
      lastError = error;
    }
    const waitedMs = waited();
    if (waitedMs > withinMs) {
      const seconds = (withinMs / 1000).toFixed(withinMs < 10_000 ? 1 : 0);
      const reason = lastError instanceof Error ? `; last error: ${lastError.message}` : '';
      throw new Error(`waited ${seconds} s in vain: ${what}${reason}`, { cause: lastError });
    }
    // Most comes within moments; what does not is not brought nearer by twenty questions a second.
    const pauseMs = everyMs ?? Math.min(250, Math.max(20, waitedMs / 10));
    await delay(pauseMs, undefined, signal ? { signal } : {});
  }
}

/**
 * Counts what was waited of a limit (ms). A machine that stood still has not waited: of the time between two looks no more
 * than a quarter of the limit counts.
 * @returns to be called at each look: the milliseconds so far
 */
export function countWaiting(withinMs: number): () => number {
  let waitedMs = 0;
  let lookedAt = performance.now();
  return () => {
    const now = performance.now();
    waitedMs += Math.min(now - lookedAt, withinMs / 4);
    lookedAt = now;
    return waitedMs;
  };
}

/** Thrown by a probe that knows that waiting any longer is pointless: ends the wait at once. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp';
}
