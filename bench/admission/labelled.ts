import { figure, short, withInterval, type StageReport } from '../measure/figures.ts';
import { plainMean } from '../measure/interval.ts';
import { contest, type AdmissionSetting, type AdmissionTiming } from './admission.ts';
import { ratioBetween, type Rounds } from './ratios.ts';
import { patchOf } from './patch-of.ts';
import { bodyOf, type Body } from './reviews.ts';
import { startServer, type RunningServer } from './servers.ts';

const NAMED = bodyOf(8);
const ASKING: Body = { ...NAMED, asks: true };
/** Times what a Pod with both labels costs. */
const MOST_CPU = 1.05;

/**
 * What a Pod costs whose gang and group are told by its workload (`muster.dev/gang`), beside one with both labels: two Musters
 * of the same build, each with one of the two; who has which changes from start to start.
 */
export async function measureLabelled(
  { starts, rounds, sliceMs, firstWarmUpMs }: AdmissionTiming,
  setting: AdmissionSetting,
): Promise<StageReport> {
  const { scratch, progress } = setting;
  const results: Rounds[] = [];
  for (let start = 1; start <= starts; start += 1) {
    const servers: RunningServer[] = [];
    try {
      for (const name of ['muster', 'other'] as const)
        servers.push(await startServer(name, scratch, setting));
      const [named, asking] =
        start % 2 === 0 ? (['muster', 'other'] as const) : (['other', 'muster'] as const);
      const patch = await patchOf(servers[0] as RunningServer, scratch.caFile, ASKING);
      const { slices } = await contest(
        servers,
        {
          ...{ body: NAMED, mode: 'keep', rounds, sliceMs, warmUpMs: firstWarmUpMs },
          own: { [asking]: { body: ASKING, patch } },
        },
        setting,
      );
      const result = { slices: { muster: slices[asking] ?? [], other: slices[named] ?? [] } };
      results.push(result);
      const ratio = withInterval(ratioBetween('muster', 'other', 'cpuMicros', [result]));
      progress(`a Pod with muster.dev/gang, start ${start} of ${starts}: CPU ${ratio} × with both labels`);
    } finally {
      for (const server of servers) await server.stop();
    }
  }
  const micros = (name: 'muster' | 'other'): string =>
    short(plainMean(results.flatMap(({ slices }) => (slices[name] ?? []).map(({ cpuMicros }) => cpuMicros))));
  const ratio = ratioBetween('muster', 'other', 'cpuMicros', results);
  return {
    tables: {
      labelled: [
        ['8 KiB', 'CPU µs', '× both labels'],
        ['a Pod with both labels', micros('other'), '1'],
        ['a Pod with muster.dev/gang alone', micros('muster'), withInterval(ratio)],
      ],
    },
    figures: [
      figure('labelled', '8 KiB: CPU per review of a Pod with muster.dev/gang, times both labels', ratio, {
        most: MOST_CPU,
      }),
    ],
  };
}
