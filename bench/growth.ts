import { setTimeout as delay } from 'node:timers/promises';
import { generateLoad } from './generate-load.ts';
import type { Timing } from './options.ts';
import type { Placement } from './placement.ts';
import { rssMiBOf } from './process-usage.ts';
import { startServer, type RunningServer, type Scratch } from './servers.ts';

/** Whether Muster keeps anything of the reviews it has answered. */
export interface Growth {
  readonly reviews: number;
  /** From the settled memory after the warm-up to the settled memory at the end. */
  readonly growthMiB: number;
  /** Least-squares slope over the parts: what a million further reviews would add, in MiB. */
  readonly slopeMiBPerMillion: number;
  /** Settled memory in MiB after the warm-up and after each tenth of the reviews. */
  readonly samplesMiB: readonly number[];
}

const PARTS = 10;
/** Milliseconds between two looks at memory while there is no load; the lowest counts. */
const READ_EVERY_MS = 100;

/**
 * A fresh Muster gets many small reviews in ten parts, each over connections of its own; memory is read between them,
 * without load, so that what is merely under way does not count.
 */
export async function measureGrowth(
  { warmUp, reviews, settleMs }: Timing['growth'],
  setting: { scratch: Scratch; placement: Placement },
  progress: (line: string) => void,
): Promise<Growth> {
  const muster = await startServer('muster', setting.scratch, setting);
  try {
    await send(muster, warmUp, setting);
    const samples = [await settledRss(muster.pid, settleMs)];
    for (let part = 1; part <= PARTS; part += 1) {
      await send(muster, reviews / PARTS, setting);
      samples.push(await settledRss(muster.pid, settleMs));
      progress(`growth: ${(reviews / PARTS) * part} reviews, ${samples.at(-1)?.toFixed(1)} MiB`);
    }
    return {
      reviews,
      growthMiB: (samples.at(-1) ?? Number.NaN) - (samples[0] ?? Number.NaN),
      slopeMiBPerMillion: slopeOf(samples) * PARTS * (1_000_000 / reviews),
      samplesMiB: samples.map((sample) => Math.round(sample * 10) / 10),
    };
  } finally {
    await muster.stop();
  }
}

async function send(
  server: RunningServer,
  reviews: number,
  setting: { scratch: Scratch; placement: Placement },
): Promise<void> {
  const window = { reviews };
  await generateLoad(server, { size: 2, connections: 16, mode: 'keep', rampMs: 0, window }, setting);
}

/** The lowest memory (MiB) of a process within `settleMs`. */
export async function settledRss(pid: number, settleMs: number): Promise<number> {
  let lowest = Infinity;
  for (const until = performance.now() + settleMs; performance.now() < until; await delay(READ_EVERY_MS)) {
    lowest = Math.min(lowest, rssMiBOf(pid));
  }
  return lowest;
}

/** Per step from one sample to the next. */
function slopeOf(samples: readonly number[]): number {
  const middle = (samples.length - 1) / 2;
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  let [upper, lower] = [0, 0];
  for (const [index, sample] of samples.entries()) {
    upper += (index - middle) * (sample - mean);
    lower += (index - middle) ** 2;
  }
  return upper / lower;
}
