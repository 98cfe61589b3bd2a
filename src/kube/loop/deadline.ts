import { systemClock, type Clock } from '../client/clock.ts';

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
  const ending = new AbortController();
  const end = (): void => ending.abort(outer.reason);
  let tooLate = (): void => undefined;
  const given = new Promise<never>((_resolve, reject) => {
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason as Error), { once: true });
    tooLate = clock.after(ms, () => ending.abort(new Error(`${what} did not answer within ${ms / 1000} s`)));
  });
  if (outer.aborted) end();
  else outer.addEventListener('abort', end, { once: true });
  try {
    // In a then, so that what is thrown at once is a rejection like any other.
    return await Promise.race([Promise.resolve().then(() => work(ending.signal)), given]);
  } finally {
    tooLate();
    outer.removeEventListener('abort', end);
  }
}
