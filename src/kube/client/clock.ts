/** Time as a parameter: client and controllers wait only through this interface, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since an arbitrary moment; never goes back. For durations and deadlines. */
  now(): number;
  /** The wall-clock time, for timestamps in objects. */
  date(): Date;
  /** Calls `callback` once after `ms`. @returns a function that cancels the call */
  after(ms: number, callback: () => void): () => void;
}

/** Returns a random number in [0, 1), uniformly distributed. */
export type UniformRandom = () => number;

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Waits `ms`. @throws the signal's reason when it is aborted first */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(asError(signal.reason));
      return;
    }
    const aborted = (): void => {
      cancel();
      reject(asError(signal?.reason));
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    });
    signal?.addEventListener('abort', aborted, { once: true });
  });
}

/** Work on a thread that also answers reviews is done for this long (ms) at a time, as large reviews are. */
const SLICE_MS = 0.5;

/** Divides long work into slices, between which the thread does what else waits. */
export class Slices {
  readonly #clock: Pick<Clock, 'now'>;
  /** Since when there has been work in this turn of the event loop. */
  #since: number | undefined;

  constructor(clock: Pick<Clock, 'now'> = systemClock) {
    this.#clock = clock;
  }

  /** Whether the slice has lasted long enough; begins one where there is none. */
  isOver(): boolean {
    if (this.#since !== undefined) return this.#clock.now() - this.#since >= SLICE_MS;
    this.#since = this.#clock.now();
    setImmediate(() => (this.#since = undefined));
    return false;
  }

  next(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/** Kubernetes' MicroTime, which always has six fractional digits. */
export const microTime = (date: Date): string => date.toISOString().replace(/(\.\d{3})Z$/, '$1000Z');
