import { systemClock, type Clock } from '../client/clock.ts';

/** Resolves once `signal` is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * Resolves or rejects like `work`, or rejects with the reason of `signal`, whichever happens first. Removes its
 * listener from the signal, which may live as long as the process.
 * @throws the error of `work`, or the signal's reason
 */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // Handles a rejection that arrives after the signal was aborted.
  work.catch(() => undefined);
  signal.throwIfAborted();
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(signal.reason);
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/**
 * Runs foreign code with a time limit: its signal is aborted after `ms` or with `outer`, and its result is then
 * ignored.
 * @throws the error of the code, or an Error that names `what` and the limit
 */
export async function within<T>(
  what: string,
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  // Not AbortSignal.any: its signal stays referenced by `outer` for as long as it has listeners.
  const limit = new AbortController();
  const end = (): void => limit.abort(outer.reason);
  outer.addEventListener('abort', end, { once: true });
  if (outer.aborted) end();
  const cancel = clock.after(ms, () =>
    limit.abort(new Error(`${what} did not answer within ${ms / 1000} s`)),
  );
  try {
    // Inside `then`, so that a synchronous error becomes a rejection too.
    return await unlessAborted(
      limit.signal,
      Promise.resolve().then(() => work(limit.signal)),
    );
  } finally {
    cancel();
    outer.removeEventListener('abort', end);
  }
}

/** Calls back when `heard` was not called for a given time. */
export interface SilenceAlarm {
  heard(): void;
  cancel(): void;
}

/** Uses one timer that is renewed only when it expires: `heard` may be called hundreds of times a second. */
export function startSilenceAlarm(clock: Clock, silenceMs: number, ring: () => void): SilenceAlarm {
  let heardAt = clock.now();
  let cancel = (): void => undefined;
  const expect = (ms: number): void => {
    cancel = clock.after(ms, () => {
      const left = heardAt + silenceMs - clock.now();
      if (left > 0) expect(left);
      else ring();
    });
  };
  expect(silenceMs);
  return {
    heard: () => {
      heardAt = clock.now();
    },
    cancel: () => cancel(),
  };
}
