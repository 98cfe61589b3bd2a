import { figure, withInterval, type Figure, type StageReport } from '../measure/figures.ts';
import { exactly, meanOf, plainMean, quantile, ratioOf, type Estimate } from '../measure/interval.ts';
import { onStage } from './loop.ts';
import { measureMemory, type LoopMemory, type MemoryTiming } from './memory.ts';

/** The loop with so many Pods that creating them takes minutes: only where it is asked for by name. */
export const LARGE_PARTS = ['large-100000', 'large-200000'] as const;
type LargePart = (typeof LARGE_PARTS)[number];

export type LargeTiming = Readonly<Record<LargePart, MemoryTiming>>;

/** MiB. */
const MAX_RSS: Readonly<Record<LargePart, number>> = { 'large-100000': 280, 'large-200000': 360 };
/** Of 100,000 Pods: milliseconds to the first write after a restart, and the p99 of reviews until then. */
const MAX_READY = 8_000;
const MAX_REVIEW_P99 = 20;

export async function measureLarge(
  parts: ReadonlySet<string>,
  timing: LargeTiming,
  progress: (line: string) => void,
): Promise<StageReport> {
  const found: [LargePart, LoopMemory][] = [];
  for (const part of LARGE_PARTS.filter((name) => parts.has(name))) {
    found.push([part, await onStage(({ stage }) => measureMemory(stage, timing[part], progress))]);
  }
  return {
    tables: { large: [HEAD, ...found.map(([, memory]) => row(memory))] },
    figures: found.flatMap(figuresOf),
  };
}

const HEAD = [
  ...['Pods', 'empty', 'seen coming', 'listed', 'peak', 'ready after ms', 'bare lists ms', '× bare'],
  ...['reviews', 'p99 ms', 'max ms', 'bare p99 ms'],
];

function row({ pods, empty, lived, listed, restarts }: LoopMemory): string[] {
  const [ready, bare] = [restarts.map(({ readyMs }) => readyMs), restarts.map(({ bareMs }) => bareMs)];
  const waits = restarts.flatMap(({ reviewWaits }) => reviewWaits);
  const sizes = [empty.rss, lived.rss, listed.rss, Math.max(lived.peak, listed.peak)];
  return [
    pods.toLocaleString('en'),
    ...[...sizes, plainMean(ready), plainMean(bare)].map((value) => value.toFixed(0)),
    withInterval(ratioOf(ready, bare)),
    String(waits.length),
    p99Of(restarts.map(({ reviewWaits }) => reviewWaits)).value.toFixed(1),
    quantile(waits, 1).toFixed(1),
    p99Of(restarts.map(({ bareWaits }) => bareWaits)).value.toFixed(1),
  ];
}

/** Of the reviews of each restart. */
const p99Of = (waits: readonly (readonly number[])[]): Estimate =>
  meanOf(waits.map((ofOne) => quantile(ofOne, 0.99)));

function figuresOf([part, { pods, lived, listed, restarts }]: readonly [LargePart, LoopMemory]): Figure[] {
  const of = (what: string, value: Estimate, most: number): Figure =>
    figure('large', `${pods.toLocaleString('en')} Pods: ${what}`, value, { most });
  const memory = of('memory (RSS), MiB', exactly(Math.max(lived.rss, listed.rss)), MAX_RSS[part]);
  if (part !== 'large-100000') return [memory];
  return [
    memory,
    of('ready after a restart, ms', meanOf(restarts.map(({ readyMs }) => readyMs)), MAX_READY),
    of(
      'p99 of reviews while it lists, ms',
      p99Of(restarts.map(({ reviewWaits }) => reviewWaits)),
      MAX_REVIEW_P99,
    ),
  ];
}
