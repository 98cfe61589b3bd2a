import { figure, type StageReport } from '../measure/figures.ts';
import { exactly, quantile } from '../measure/interval.ts';
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
  const head = [
    'Pods',
    'empty',
    'seen coming',
    'listed',
    'peak',
    'ready after ms',
    'bare lists ms',
    'reviews',
    'p99 ms',
    'max ms',
    'bare p99 ms',
  ];
  const rows = found.map(([, { pods, empty, lived, listed, readyMs, bareMs, reviewWaits, bareWaits }]) => [
    pods.toLocaleString('en'),
    ...[empty.rss, lived.rss, listed.rss, Math.max(lived.peak, listed.peak), readyMs, bareMs].map((x) =>
      x.toFixed(0),
    ),
    String(reviewWaits.length),
    quantile(reviewWaits, 0.99).toFixed(1),
    quantile(reviewWaits, 1).toFixed(1),
    quantile(bareWaits, 0.99).toFixed(1),
  ]);
  return {
    tables: { large: [head, ...rows] },
    figures: found.flatMap(([part, { pods, lived, listed, readyMs, reviewWaits }]) => {
      const of = (what: string, value: number, most: number) =>
        figure('large', `${pods.toLocaleString('en')} Pods: ${what}`, exactly(value), { most });
      return [
        of('memory (RSS), MiB', Math.max(lived.rss, listed.rss), MAX_RSS[part]),
        ...(part === 'large-100000'
          ? [
              of('ready after a restart, ms', readyMs, MAX_READY),
              of('p99 of reviews while it lists, ms', quantile(reviewWaits, 0.99), MAX_REVIEW_P99),
            ]
          : []),
      ];
    }),
  };
}
