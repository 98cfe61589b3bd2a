import type { Clock } from '../kube/clock.ts';
import { sleep, systemClock } from '../kube/clock.ts';
import type { WorkQueue } from './work-queue.ts';

/** Looks at one key and does what is needed. Throwing means: again, later. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined | void>;

export interface ReconcileResult {
  /** Look again after this time, though nothing failed. */
  readonly requeueAfterMs?: number;
}

/** Thrown by a reconciler for what no repetition can cure: reported, not retried until the next event. */
export class NotRetryable extends Error {
  override readonly name = 'NotRetryable';
}

export interface WorkersOptions {
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  /** Keys worked on at a time: `concurrentSyncs`. */
  readonly concurrency: number;
  /** @param retryInMs undefined: not retried */
  readonly failed?: (key: string, error: unknown, retryInMs: number | undefined) => void;
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
  const workers = Array.from({ length: options.concurrency }, () => work(options, giveUp.signal));
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

async function work({ queue, reconcile, failed }: WorkersOptions, signal: AbortSignal): Promise<void> {
  for (;;) {
    const key = await queue.take();
    if (key === undefined) return;
    try {
      const result = await reconcile(key, signal);
      queue.forget(key);
      if (result?.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs);
    } catch (error) {
      if (signal.aborted) continue;
      if (error instanceof NotRetryable) {
        queue.forget(key);
        failed?.(key, error, undefined);
      } else {
        const retryInMs = queue.retry(key);
        failed?.(key, error, retryInMs);
      }
    } finally {
      queue.done(key);
    }
  }
}
