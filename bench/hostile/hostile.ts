import { figure, withInterval, type Figure, type StageReport } from '../measure/figures.ts';
import { exactly, quantile, type Estimate } from '../measure/interval.ts';
import { quantileRatio } from '../measure/quantile-ratio.ts';
import type { Beside, HostileSetting, HostileTiming, Scenario } from './scenario.ts';
import { SCENARIOS } from './scenarios.ts';

/** How much longer the hundredth of a good neighbour’s calls that waits longest may wait beside an attack. */
const MAX_P99_RATIO = 2;
/** MiB: the memory limit of the image’s container. */
const MEMORY_LIMIT = 512;

export const HOSTILE_PARTS: readonly string[] = SCENARIOS.map(({ id }) => id);

/** A good neighbour beside each attack: with and without in turn, so that a mood of the machine meets both. */
export async function measureHostile(
  only: ReadonlySet<string>,
  timing: HostileTiming,
  setting: HostileSetting,
): Promise<StageReport> {
  const measured: (readonly [Scenario, Beside])[] = [];
  for (const scenario of SCENARIOS.filter(({ id }) => only.has(id))) {
    const beside = await scenario.measure(timing, setting);
    measured.push([scenario, beside]);
    setting.progress(
      `${scenario.title}: p99 ${withInterval(ratio(beside))} × without, failed ${beside.failed}, ${beside.peakMiB.toFixed(0)} MiB at most; ${beside.attack}`,
    );
  }
  return { tables: { hostile: table(measured) }, figures: figuresOf(measured) };
}

const ratio = ({ attacked, calm }: Beside): Estimate => quantileRatio(attacked, calm, 0.99);

/** What of it the API server has a part in, as everybody that asks it finds. */
const apiServers = ({ apiServer }: Beside): Estimate | undefined =>
  apiServer && quantileRatio(apiServer.attacked, apiServer.calm, 0.99);

const HEAD = [
  ...['beside', 'p50 ms', 'without', 'p99 ms', 'without', 'p99 × without'],
  ...['API server’s own p99 × without', 'failed', 'most MiB'],
];

const table = (measured: readonly (readonly [Scenario, Beside])[]): string[][] => [
  HEAD,
  ...measured.map(([{ title }, beside]) => {
    const own = apiServers(beside);
    return [
      title,
      ...[0.5, 0.99].flatMap((share) =>
        [beside.attacked, beside.calm].map((waits) => quantile(waits.flat(), share).toFixed(2)),
      ),
      withInterval(ratio(beside)),
      own === undefined ? '' : withInterval(own),
      String(beside.failed),
      beside.peakMiB.toFixed(0),
    ];
  }),
];

function figuresOf(measured: readonly (readonly [Scenario, Beside])[]): Figure[] {
  if (measured.length === 0) return [];
  const peaks = measured.map(([, { peakMiB }]) => peakMiB);
  return [
    ...measured.flatMap(([{ title }, beside]) => [
      figure('hostile', `${title}: p99 of others, times without`, ratio(beside), { most: MAX_P99_RATIO }),
      figure('hostile', `${title}: calls of others that failed`, exactly(beside.failed), { most: 0 }),
    ]),
    figure('hostile', 'most memory (RSS) under any attack, MiB', exactly(Math.max(...peaks)), {
      most: MEMORY_LIMIT,
    }),
  ];
}
