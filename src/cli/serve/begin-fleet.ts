import { messageOf } from '../../errors.ts';
import { sleep, systemClock, type Clock, type Random } from '../../kube/client/clock.ts';
import { halfJitter } from '../../kube/loop/backoff.ts';

/** A loop that runs. */
export interface FleetLoop {
  /** undefined once it knows what it works with, else what is missing. */
  check(): string | undefined;
  stop(): Promise<void>;
}

/** Between two attempts at most (ms). */
const AGAIN = { baseMs: 1_000, maxMs: 30_000 };

/**
 * Begins the loop of a fleet as soon as it can be begun, however long that takes: Karmada's API server is another than that
 * of the cluster whose Pods are reviewed, and whoever waits for it must not keep reviews waiting.
 * @param begin throws while there is something in its way
 */
export function beginWhenPossible(
  begin: () => Promise<FleetLoop>,
  failed: (error: unknown, retryInMs: number) => void,
  clock: Clock = systemClock,
  random: Random = Math.random,
): FleetLoop {
  const stopping = new AbortController();
  const { signal } = stopping;
  let loop: FleetLoop | undefined;
  let missing = 'it has not begun yet';
  const begun = async (): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      try {
        loop = await begin();
        return;
      } catch (error) {
        missing = messageOf(error);
        if (signal.aborted) return;
        const retryInMs = Math.round(halfJitter(attempt, AGAIN, random));
        failed(error, retryInMs);
        await sleep(clock, retryInMs, signal).catch(() => undefined);
      }
    }
  };
  const beginning = begun();
  return {
    check: () => (loop === undefined ? missing : loop.check()),
    stop: async () => {
      stopping.abort(new Error('the program is ending'));
      await beginning;
      await loop?.stop();
    },
  };
}
