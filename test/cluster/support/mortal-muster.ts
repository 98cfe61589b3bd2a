import { setTimeout as delay } from 'node:timers/promises';
import type { Serving } from '../../support/serving.ts';
import { until } from '../control-plane/until.ts';

/** One that does not lead by then is killed all the same (ms). */
const LEADS_WITHIN_MS = 30_000;

export interface MortalMuster {
  /** How often it was killed so far. */
  kills(): number;
  /** Starts that ended by themselves, because the API server did not answer. */
  failedStarts(): number;
  /** No more kills; resolves when one is running that stays. */
  settle(): Promise<void>;
  /** The end of what the last one said. */
  lastWords(): string;
  stop(): Promise<void>;
}

/**
 * Keeps a process running and kills it again and again with SIGKILL, `lifeMs()` after it has taken the Lease: on a busy
 * machine it would else die before it wrote anything. As a Deployment would, it starts a new one at once, and again where
 * the start fails.
 */
export function mortalMuster(start: () => Promise<Serving>, lifeMs: () => number): MortalMuster {
  let [kills, failedStarts] = [0, 0];
  let current: Serving | undefined;
  let lastFailure = 'no start failed';
  const settled = new AbortController();
  const born = async (): Promise<Serving> => {
    for (;;) {
      try {
        return await start();
      } catch (error) {
        failedStarts += 1;
        lastFailure = `${new Date().toISOString()} ${String(error)}`;
        await delay(200);
      }
    }
  };
  const run = async (): Promise<void> => {
    for (;;) {
      const alive = await born();
      current = alive;
      const { signal } = settled;
      const leads = (): boolean => alive.log().some((line) => line['leads'] === true);
      await until('it leads', leads, { withinMs: LEADS_WITHIN_MS, signal }).catch(() => undefined);
      await delay(lifeMs(), undefined, { signal }).catch(() => undefined);
      if (settled.signal.aborted) return;
      kills += 1;
      await current.close();
    }
  };
  const running = run();
  const settle = async (): Promise<void> => {
    settled.abort();
    await running;
  };
  return {
    kills: () => kills,
    failedStarts: () => failedStarts,
    settle,
    lastWords: () =>
      [
        lastFailure,
        `killed ${kills} times, now it is ${new Date().toISOString()}`,
        ...(current?.log() ?? []).slice(-20).map((line) => JSON.stringify(line).slice(0, 400)),
      ].join('\n'),
    stop: async () => {
      await settle();
      await current?.close();
    },
  };
}
