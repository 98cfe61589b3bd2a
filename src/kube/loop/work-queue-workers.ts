import type { Clock } from '../client/clock.ts';
import { sleep, systemClock } from '../client/clock.ts';
import { isUnreachable } from '../client/errors.ts';
import { STARTING_MS } from './backoff.ts';
import type { WorkQueue } from './work-queue.ts';

/**
 * The longest wait (ms) while the API server does not answer, or is starting. All keys fail then, through no fault of
 * theirs, and the workers bound how many ask at a time; with the usual back-off a gang would stand still for as long again
 * as the API server was away.
 */
const AWAY_MS = 2_000;

/** Does what one key needs. Throwing means: again, later. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined | void>;

export interface ReconcileResult {
  /** Again after this time, though nothing failed. */
  readonly requeueAfterMs?: number;
}

export interface WorkersOptions {
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  /** Keys of one namespace worked on at a time: `concurrentSyncs`. Of all together there are at most twice as many. */
  readonly concurrency: number;
  readonly failed?: (key: string, error: unknown, retryInMs: number) => void;
  readonly clock?: Clock;
}

/**
 * How long the work under way may go on once the leadership ends. What is cut off then does no harm, since every write is
 * conditional; what takes longer keeps the successor waiting.
 */
const GRACE_MS = 500;

/** The running workers of one queue. */
export interface Workers {
  /**
   * Takes no more keys and waits for those under work: first patiently, for `graceMs`, then having aborted their signal.
   */
  stop(graceMs?: number): Promise<void>;
}

export function startWorkers(options: WorkersOptions): Workers {
  const { queue, clock = systemClock } = options;
  const giveUp = new AbortController();
  let lostAt = -Infinity;
  const limit = (error: unknown): number | undefined => {
    if (isUnreachable(error)) lostAt = clock.now();
    return clock.now() - lostAt < STARTING_MS ? AWAY_MS : undefined;
  };
  const count = 2 * options.concurrency;
  queue.sharedBy(count);
  const workers = Array.from({ length: count }, () => work(options, limit, giveUp.signal));
  const all = Promise.all(workers);
  return {
    stop: async (graceMs = GRACE_MS) => {
      queue.close();
      const over = new AbortController();
      const patience = sleep(clock, graceMs, over.signal).catch(() => undefined);
      await Promise.race([all, patience]);
      over.abort();
      giveUp.abort(new Error('the controller is stopping'));
      await all;
    },
  };
}

async function work(
  { queue, reconcile, failed }: WorkersOptions,
  limit: (error: unknown) => number | undefined,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const key = await queue.take();
    if (key === undefined) return;
    try {
      const result = await reconcile(key, signal);
      queue.forget(key);
      if (result?.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs);
    } catch (error) {
      if (signal.aborted) continue;
      const retryInMs = queue.retry(key, limit(error));
      failed?.(key, error, retryInMs);
    } finally {
      queue.done(key);
    }
  }
}
