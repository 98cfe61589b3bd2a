import { BLAMED, type Blamed } from '../bench/soak/failures.ts';
import type { Sample, SoakResults } from '../bench/soak/results.ts';
import { KINDS } from '../bench/soak/schedule.ts';
import { svgPath as path, picture, rect, svgText as text, type Paint } from '../src/text/svg.ts';

const WIDTH = 880;
const LEFT = 150;
const RIGHT = 864;
const LANE = 15;
const TOP = 66;
const PANEL = 96;
const GAP = 30;

const PAINTS: Readonly<Record<Blamed, Paint>> = {
  Muster: 'bad',
  SIGKILL: 'waits',
  SIGSTOP: 'waits',
  balancer: 'other',
  'API server': 'other',
};

interface Panel {
  readonly name: string;
  readonly unit: string;
  readonly logarithmic: boolean;
  /** Lowest and highest of a sample; undefined where there is nothing. */
  readonly range: (sample: Sample) => readonly [number, number] | undefined;
}

const between = (low: number | null, high: number | null): readonly [number, number] | undefined =>
  low === null || high === null ? undefined : [low, high];

const PANELS: readonly Panel[] = [
  {
    name: 'Creation',
    unit: 'ms',
    logarithmic: true,
    range: ({ createP50, createP99 }) => between(createP50, createP99),
  },
  {
    name: 'Release',
    unit: 'ms',
    logarithmic: true,
    range: ({ releaseP50, releaseP99 }) => between(releaseP50, releaseP99),
  },
  {
    name: 'Memory',
    unit: 'MiB',
    logarithmic: false,
    range: ({ memory }) => (memory.length === 0 ? undefined : [Math.min(...memory), Math.max(...memory)]),
  },
];

/** What was done, and below it latency, release, memory and failures, second by second. */
export function soakChart(results: SoakResults): string {
  const { samples, bucket, events, seed } = results;
  const end = Math.max(bucket, (samples.at(-1)?.at ?? 0) + bucket);
  const x = (at: number): number => Math.round((LEFT + ((RIGHT - LEFT) * at) / end) * 10) / 10;
  const wide = Math.max(1, x(bucket) - x(0) - 0.5);
  const parts = [text(16, 28, 'Under load, and disturbed', { bold: true, size: 16 })];
  const minutes = (end / 60).toFixed(0);
  parts.push(
    text(
      16,
      47,
      `${minutes} minutes, ${results.rate} Pods a second, seed ${seed}; bars reach from p50 to p99`,
      {
        paint: 'soft',
        size: 12,
      },
    ),
  );
  let y = TOP;
  for (const kind of KINDS) {
    const all = events.filter((event) => event.kind === kind);
    if (all.length === 0) continue;
    parts.push(text(LEFT - 10, y + 11, kind, { at: 'end', size: 12 }));
    for (const { begun, ended } of all)
      parts.push(rect('placed', x(begun), y + 2, Math.max(2, x(ended) - x(begun)), LANE - 4, 2));
    y += LANE;
  }
  y += 16;
  for (const panel of PANELS) {
    parts.push(...panelOf(panel, samples, { y, x, wide }));
    y += PANEL + GAP;
  }
  parts.push(...failuresOf(samples, { y, x, wide }));
  y += PANEL / 2 + 18;
  for (let minute = 0; minute * 60 <= end; minute += step(end))
    parts.push(text(x(minute * 60), y, `${minute} min`, { at: 'middle', size: 11, paint: 'soft' }));
  return picture(
    { width: WIDTH, height: y + 14 },
    'Muster under load while it is disturbed',
    words(results),
    parts,
  );
}

interface Place {
  readonly y: number;
  readonly x: (at: number) => number;
  readonly wide: number;
}

function panelOf(
  { name, unit, logarithmic, range }: Panel,
  samples: readonly Sample[],
  place: Place,
): string[] {
  const { y, x, wide } = place;
  const ranges = samples.flatMap((sample) => {
    const found = range(sample);
    return found === undefined ? [] : [{ at: sample.at, low: found[0], high: found[1] }];
  });
  const most = Math.max(1, ...ranges.map(({ high }) => high));
  // A logarithmic scale begins at the power of ten below all of them.
  const first = Math.floor(Math.log10(Math.max(1, Math.min(most, ...ranges.map(({ low }) => low)))));
  const powers = Math.max(0.1, Math.log10(most) - first);
  const share = (value: number): number =>
    logarithmic ? Math.max(0, Math.log10(Math.max(1, value)) - first) / powers : value / most;
  const height = (value: number): number => Math.round((y + PANEL - PANEL * share(value)) * 10) / 10;
  const ticks = logarithmic
    ? Array.from({ length: Math.floor(Math.log10(most)) - first + 1 }, (_, power) => 10 ** (first + power))
    : [0, most];
  return [
    text(16, y + 14, name, { bold: true, size: 13 }),
    text(16, y + 30, unit, { size: 12, paint: 'soft' }),
    ...ticks.map((tick) =>
      text(LEFT - 10, height(tick) + 4, grouped(tick), { at: 'end', size: 11, paint: 'soft' }),
    ),
    path(`M${LEFT} ${y + PANEL}H${RIGHT}`),
    ...ranges.map(({ at, low, high }) =>
      rect('placed', x(at), height(high), wide, Math.max(1.5, height(low) - height(high)), 0),
    ),
  ];
}

/** Creations that failed, by whom they are counted to. */
function failuresOf(samples: readonly Sample[], { y, x, wide }: Place): string[] {
  const tall = PANEL / 2;
  const sums = samples.map(({ failed }) => BLAMED.reduce((sum, who) => sum + (failed[who] ?? 0), 0));
  const most = Math.max(1, ...sums);
  const parts = [
    text(16, y + 14, 'Failed', { bold: true, size: 13 }),
    text(16, y + 30, 'creations', { size: 12, paint: 'soft' }),
    text(LEFT - 10, y + 8, String(most), { at: 'end', size: 11, paint: 'soft' }),
    path(`M${LEFT} ${y + tall}H${RIGHT}`),
  ];
  for (const { at, failed } of samples) {
    let below = y + tall;
    for (const who of BLAMED) {
      const height = (tall * (failed[who] ?? 0)) / most;
      if (height === 0) continue;
      below -= height;
      parts.push(rect(PAINTS[who], x(at), Math.round(below * 10) / 10, wide, Math.max(1.5, height), 0));
    }
  }
  const legend = [
    ['bad', 'nothing excuses'],
    ['waits', 'in flight at SIGKILL, SIGSTOP'],
    ['other', 'balancer, API server'],
  ] as const satisfies readonly (readonly [Paint, string])[];
  let left = LEFT;
  for (const [paint, name] of legend) {
    parts.push(
      rect(paint, left, y - 16, 10, 10, 2),
      text(left + 15, y - 7, name, { size: 11, paint: 'soft' }),
    );
    left += 40 + name.length * 5.5;
  }
  return parts;
}

const step = (seconds: number): number => Math.max(1, Math.ceil(seconds / 60 / 10));
const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');

function words({ gangs, pods, overall, memoryMost, goals, failures }: SoakResults): string {
  const lost = BLAMED.map((who) => {
    const times = failures.filter(({ blamed }) => blamed === who).reduce((sum, one) => sum + one.times, 0);
    return `${who} ${times}`;
  });
  return (
    `${gangs} gangs of ${pods} Pods. Creation p50 ${overall.createP50} ms, p99 ${overall.createP99} ms; ` +
    `from complete to released p50 ${overall.releaseP50} ms, p99 ${overall.releaseP99} ms; at most ${memoryMost} MiB. ` +
    `Creations that failed: ${lost.join(', ')}. ${goals.map(({ name, found }) => `${name}: ${found}`).join('; ')}.`
  );
}
