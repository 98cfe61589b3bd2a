import { setTimeout as delay } from 'node:timers/promises';
import { figure, type StageReport } from '../measure/figures.ts';
import { exactly } from '../measure/interval.ts';
import { rssMiBOf } from '../measure/process-usage.ts';
import { contest, type AdmissionSetting } from './admission.ts';
import { bodyOf } from './reviews.ts';
import { startServer } from './servers.ts';

export interface GrowthTiming {
  readonly warmUp: number;
  readonly reviews: number;
  /** How long memory is watched without load. */
  readonly settleMs: number;
}

/** MiB. */
const MAX_GROWTH = 10;
const PARTS = 10;
/** Milliseconds between two looks at memory while there is no load; the lowest counts. */
const READ_EVERY_MS = 100;

/**
 * Whether Muster keeps anything of the reviews it has answered: a fresh one gets many small ones in ten parts, each over
 * connections of its own; memory is read between them, without load, so that what is merely under way does not count.
 */
export async function measureGrowth(
  { warmUp, reviews, settleMs }: GrowthTiming,
  setting: AdmissionSetting,
): Promise<StageReport> {
  const muster = await startServer('muster', setting.scratch, setting);
  const send = (count: number): Promise<unknown> =>
    contest(
      [muster],
      { body: bodyOf(2), mode: 'keep', warmUpMs: 0, rounds: 1, sliceMs: 0, reviews: count },
      setting,
    );
  try {
    await send(warmUp);
    const samples = [await settledRss(muster.pid, settleMs)];
    for (let part = 1; part <= PARTS; part += 1) {
      await send(reviews / PARTS);
      samples.push(await settledRss(muster.pid, settleMs));
      setting.progress(`growth: ${(reviews / PARTS) * part} reviews, ${samples.at(-1)?.toFixed(1)} MiB`);
    }
    const growth = (samples.at(-1) ?? Number.NaN) - (samples[0] ?? Number.NaN);
    const name = `memory growth over ${reviews.toLocaleString('en')} reviews, MiB`;
    return { tables: {}, figures: [figure('growth', name, exactly(growth), { most: MAX_GROWTH })] };
  } finally {
    await muster.stop();
  }
}

/** The lowest memory (MiB) of a process within `settleMs`. */
export async function settledRss(pid: number, settleMs: number): Promise<number> {
  let lowest = Infinity;
  for (const until = performance.now() + settleMs; performance.now() < until; await delay(READ_EVERY_MS)) {
    lowest = Math.min(lowest, rssMiBOf(pid));
  }
  return lowest;
}
