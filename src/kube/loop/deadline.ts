import { systemClock, type Clock } from '../client/clock.ts';

/** Resolves once `signal` is aborted. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** What `signal` was aborted with, thrown. Nobody has to wait for it. */
export function thrownBy(signal: AbortSignal): Promise<never> {
  const thrown = aborted(signal).then(() => {
    throw signal.reason as Error;
  });
  thrown.catch(() => undefined);
  return thrown;
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
  const late = new AbortController();
  const cancel = clock.after(ms, () => late.abort(new Error(`${what} did not answer within ${ms / 1000} s`)));
  const signal = AbortSignal.any([outer, late.signal]);
  try {
    // In a then, so that what is thrown at once is a rejection like any other.
    return await Promise.race([Promise.resolve().then(() => work(signal)), thrownBy(signal)]);
  } finally {
    cancel();
  }
}
