import { figure, short, withInterval, type StageReport } from '../measure/figures.ts';
import { plainMean } from '../measure/interval.ts';
import { contest, type AdmissionSetting } from './admission.ts';
import { ratioBetween, type Rounds } from './ratios.ts';
import { bodyOf } from './reviews.ts';
import { startServer, type RunningServer, type ServerName } from './servers.ts';

export interface RestedTiming {
  readonly rests: number;
  /** How long one of both gets nothing, at least: it gives memory back after ten quiet seconds, for thirty. */
  readonly restMs: number;
  /** CPU time of the other's load each time that it is looked at whether the rest is over. */
  readonly sliceMs: number;
  readonly warmUpMs: number;
  /** The first reviews after the rest, in so many slices of so many reviews. */
  readonly slices: number;
  readonly reviews: number;
}

const BODY = bodyOf(2);
/** Times the CPU of the same reviews by a server that did not rest. */
const MOST_CPU = 1.25;
type Side = Extract<ServerName, 'muster' | 'other'>;

/**
 * What the first reviews after a rest cost, beside one that had work all the time: two Musters of the same build, and who
 * rests changes from rest to rest. Both get each time new connections.
 */
export async function measureRested(timing: RestedTiming, setting: AdmissionSetting): Promise<StageReport> {
  const { scratch, progress } = setting;
  const servers: RunningServer[] = [];
  const results: Rounds[] = [];
  const load = { body: BODY, mode: 'keep', sliceMs: timing.sliceMs } as const;
  try {
    for (const name of ['muster', 'other'] as const) servers.push(await startServer(name, scratch, setting));
    for (let rest = 1; rest <= timing.rests; rest += 1) {
      await contest(servers, { ...load, warmUpMs: timing.warmUpMs, rounds: 1 }, setting);
      const rests: Side = rest % 2 === 0 ? 'muster' : 'other';
      const works: Side = rest % 2 === 0 ? 'other' : 'muster';
      const busy = servers.filter(({ name }) => name === works);
      const over = performance.now() + timing.restMs;
      while (performance.now() < over) await contest(busy, { ...load, warmUpMs: 0, rounds: 10 }, setting);
      const both = { ...load, warmUpMs: 0, rounds: timing.slices, reviews: timing.reviews };
      const { slices } = await contest(servers, both, setting);
      const result = { slices: { muster: slices[rests] ?? [], other: slices[works] ?? [] } };
      results.push(result);
      const ratio = withInterval(ratioBetween('muster', 'other', 'cpuMicros', [result]));
      progress(`after rest ${rest} of ${timing.rests}: CPU ${ratio} × without one`);
    }
  } finally {
    for (const server of servers) await server.stop();
  }
  const micros = (side: Side): string =>
    short(plainMean(results.flatMap(({ slices }) => (slices[side] ?? []).map(({ cpuMicros }) => cpuMicros))));
  const ratio = ratioBetween('muster', 'other', 'cpuMicros', results);
  const first = timing.slices * timing.reviews;
  return {
    tables: {
      rested: [
        [`the first ${first} reviews of 2 KiB over new connections`, 'CPU µs', '× without'],
        ['without a rest', micros('other'), '1'],
        [`after ${short(timing.restMs / 1000)} s without any`, micros('muster'), withInterval(ratio)],
      ],
    },
    figures: [
      figure('rested', `2 KiB: CPU of the first ${first} reviews after a rest, times without one`, ratio, {
        most: MOST_CPU,
      }),
    ],
  };
}
