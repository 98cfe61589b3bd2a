import type { Clock } from '../client/clock.ts';
import { sleep, Slices, systemClock } from '../client/clock.ts';
import { isUnreachable } from '../client/errors.ts';
import { STARTING_MS } from './backoff.ts';
import { aborted } from './deadline.ts';
import type { Controller } from './manager.ts';
import type { ManagedWatch } from './watches.ts';
import { WorkQueue, type WorkQueueOptions } from './work-queue.ts';

/**
 * The longest retry delay (ms) while the API server is unreachable or starting. All keys fail then, through no fault of
 * their own, and the number of workers limits the load. With the usual back-off a gang could wait for as long again as
 * the outage lasted.
 */
const AWAY_MS = 2_000;

/** Reconciles one key. A rejection makes the key be retried later. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined | void>;

export interface ReconcileResult {
  /** Delay until the key is reconciled again although nothing failed. */
  readonly requeueAfterMs?: number;
}

/** One term as leader, with its own reconcile function and therefore its own memory. */
export interface Term {
  readonly reconcile: Reconcile;
  /** The keys to reconcile first: those of all watched objects, since the queue starts empty. */
  readonly keys?: Iterable<string>;
  /** Called and awaited at the end of the term; the signals of calls in progress are not aborted yet. */
  readonly end?: () => Promise<void> | void;
}

export interface KeyedControllerOptions
  extends WorkQueueOptions, Pick<WorkersOptions, 'concurrency' | 'failed'> {
  readonly name: string;
  readonly watches: Iterable<ManagedWatch>;
  /** Begins a term. Keys may be added from then on. */
  readonly begin: () => Term;
  /** Whether Events wait while the queue has work. Default: false. */
  readonly eventsWait?: boolean;
}

/**
 * A controller that reconciles by key, as in controller-runtime: watch handlers add keys, and workers call
 * `reconcile(key, signal)`, which may request another call after a delay. It works only while this replica leads; keys
 * added at other times are dropped, since each term begins with a new queue and all keys.
 */
export class KeyedController implements Controller {
  readonly name: string;
  readonly watches: Iterable<ManagedWatch>;
  readonly #options: KeyedControllerOptions;
  #queue: WorkQueue | undefined;

  constructor(options: KeyedControllerOptions) {
    this.name = options.name;
    this.watches = options.watches;
    this.#options = options;
  }

  /** For metrics; undefined while another replica leads. */
  get queue():
    Pick<WorkQueue, 'depth' | 'oldestMs' | 'longestRunningMs' | 'slots' | 'busySlots'> | undefined {
    return this.#queue;
  }

  /** {@link queue} as a list. */
  get queues(): readonly Pick<WorkQueue, 'slots' | 'busySlots'>[] {
    return this.#queue === undefined ? [] : [this.#queue];
  }

  get leads(): boolean {
    return this.#queue !== undefined;
  }

  add(key: string): void {
    this.#queue?.add(key);
  }

  addAfter(key: string, ms: number): void {
    this.#queue?.addAfter(key, ms);
  }

  busy(): boolean {
    return this.#options.eventsWait === true && this.#queue?.busy === true;
  }

  async lead(signal: AbortSignal): Promise<void> {
    const { begin, concurrency, failed, clock } = this.#options;
    const queue = new WorkQueue(this.#options);
    this.#queue = queue;
    try {
      const { reconcile, keys = [], end } = begin();
      for (const key of keys) queue.add(key);
      const workers = startWorkers({
        queue,
        reconcile,
        concurrency,
        ...(failed && { failed }),
        ...(clock && { clock }),
      });
      await aborted(signal);
      this.#queue = undefined;
      await Promise.all([workers.stop(), end?.()]);
    } finally {
      this.#queue = undefined;
    }
  }
}

/** A number, or one that changes. */
export type Concurrency = number | (() => number);

export interface WorkersOptions {
  readonly queue: WorkQueue;
  readonly reconcile: Reconcile;
  /** Keys of one namespace processed concurrently. Across namespaces at most twice as many. */
  readonly concurrency: Concurrency;
  readonly failed?: (key: string, error: unknown, retryInMs: number) => void;
  readonly clock?: Clock;
}

/**
 * How long (ms) reconciliations may continue once the leadership ends. Aborting them does no harm, since every write is
 * conditional; waiting longer would delay the next leader.
 */
const GRACE_MS = 500;

/** The running workers of one queue. */
export interface Workers {
  /** Takes no more keys and waits for the ones in progress; after `graceMs` it aborts their signal and waits on. */
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
  const { concurrency } = options;
  queue.sharedBy(() => 2 * (typeof concurrency === 'number' ? concurrency : concurrency()));
  const all = processAll(queue, (key) => processOne(key, options, limit, giveUp.signal), clock);
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

/**
 * Begins with each key as soon as the queue hands it out. Keys with nothing to write never wait for anything, and a new
 * leader has many thousands of them, so reviews are answered in between.
 * @returns once the queue is closed and all have ended
 */
async function processAll(
  queue: WorkQueue,
  process: (key: string) => Promise<void>,
  clock: Clock,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const slices = new Slices(clock);
  for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
    const one = process(key).finally(() => underWay.delete(one));
    underWay.add(one);
    if (slices.isOver()) await slices.next();
  }
  await Promise.all(underWay);
}

async function processOne(
  key: string,
  { queue, reconcile, failed }: WorkersOptions,
  limit: (error: unknown) => number | undefined,
  signal: AbortSignal,
): Promise<void> {
  try {
    const result = await reconcile(key, signal);
    queue.forget(key);
    if (result?.requeueAfterMs !== undefined) queue.addAfter(key, result.requeueAfterMs);
  } catch (error) {
    if (signal.aborted) return;
    const retryInMs = queue.retry(key, limit(error));
    failed?.(key, error, retryInMs);
  } finally {
    queue.done(key);
  }
}
