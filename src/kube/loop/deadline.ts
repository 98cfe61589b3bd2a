import { systemClock, type Clock } from '../client/clock.ts';

/** Resolves once `signal` is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/**
 * What `work` comes to, or what `signal` is aborted with, whichever is first. Nothing of it is left with the signal, which
 * may live as long as the process, once either is there.
 * @throws what `work` throws, or the signal's reason
 */
export async function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // Where nobody waits for it any more.
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
 * Runs other people's code with a limit: its signal is aborted after `ms` or with `outer`, and from then on nobody waits
 * for it, whatever it does.
 * @throws what it throws, or an Error that names `what` and the limit
 */
export async function within<T>(
  what: string,
  ms: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  // Not AbortSignal.any: what that makes stays with `outer` for as long as somebody listens to it.
  const limit = new AbortController();
  const end = (): void => limit.abort(outer.reason);
  outer.addEventListener('abort', end, { once: true });
  if (outer.aborted) end();
  const cancel = clock.after(ms, () =>
    limit.abort(new Error(`${what} did not answer within ${ms / 1000} s`)),
  );
  try {
    // In a then, so that what is thrown at once is a rejection like any other.
    return await unlessAborted(
      limit.signal,
      Promise.resolve().then(() => work(limit.signal)),
    );
  } finally {
    cancel();
    outer.removeEventListener('abort', end);
  }
}

/** Rings where nothing is heard for so long. */
export interface SilenceAlarm {
  heard(): void;
  cancel(): void;
}

/** One timer, put off when it is due: who hears hundreds of things a second does not set it anew for each. */
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
