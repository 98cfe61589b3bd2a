import type { Growth } from './growth.ts';
import { medianOf, ratioOf, type Measurements, type Round } from './scenarios.ts';

/** One thing to reach, and whether it was. What was not measured is neither reached nor missed. */
export interface Goal {
  readonly what: string;
  readonly figure: string;
  readonly limit: string;
  readonly verdict: 'PASS' | 'FAIL' | 'NOT MEASURED';
}

const MAX_CPU_TO_BARE = 1.25;
const MIN_PEER_TO_MUSTER = 12;
const MAX_P99_TO_BARE = 1.5;
const MIN_NEW_CONNECTIONS_TO_BARE = 0.9;
/** MiB. */
const MAX_RSS_OVER_BARE = 60;
const MAX_GROWTH = 10;

/** The two sizes that Pods mostly have: plain, and with much environment and managedFields. */
const JUDGED = ['8', '64'];

/** Holds the figures against the goals. */
export function judge(measurements: Measurements, growth: Growth | undefined): Goal[] {
  const rounds = (id: string): readonly Round[] => measurements.get(id) ?? [];
  const eight = rounds('8');
  const more = medianOf(eight, 'muster', 'rssMiB') - medianOf(eight, 'bare', 'rssMiB');
  return [
    ...JUDGED.map((id) =>
      goal(`${id} KiB: CPU per review, times bare`, ratioOf(rounds(id), 'muster', 'bare', 'cpuMicros'), {
        most: MAX_CPU_TO_BARE,
      }),
    ),
    ...JUDGED.map((id) =>
      goal(
        `${id} KiB: controller-runtime's CPU per review, times Muster's`,
        ratioOf(rounds(id), 'peer', 'muster', 'cpuMicros'),
        { least: MIN_PEER_TO_MUSTER },
      ),
    ),
    ...JUDGED.map((id) =>
      goal(`${id} KiB: p99 at 16 connections, times bare`, ratioOf(rounds(id), 'muster', 'bare', 'p99'), {
        most: MAX_P99_TO_BARE,
      }),
    ),
    goal('new connections per second, times bare', ratioOf(rounds('new'), 'muster', 'bare', 'perSecond'), {
      least: MIN_NEW_CONNECTIONS_TO_BARE,
    }),
    goal('memory (RSS) at 8 KiB beyond bare, MiB', more, { most: MAX_RSS_OVER_BARE }, 0),
    goal(
      `memory growth over ${(growth?.reviews ?? 1_000_000).toLocaleString('en')} reviews, MiB`,
      growth?.growthMiB ?? Number.NaN,
      { most: MAX_GROWTH },
      1,
    ),
  ];
}

export function goal(
  what: string,
  figure: number,
  limit: { most: number } | { least: number },
  digits = 2,
): Goal {
  const reached = 'most' in limit ? figure <= limit.most : figure >= limit.least;
  return {
    what,
    figure: Number.isNaN(figure) ? '–' : figure.toFixed(digits),
    limit: 'most' in limit ? `≤ ${limit.most}` : `≥ ${limit.least}`,
    verdict: Number.isNaN(figure) ? 'NOT MEASURED' : reached ? 'PASS' : 'FAIL',
  };
}
