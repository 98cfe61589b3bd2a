import { GANG_SIZE } from '../bench/cluster/options.ts';
import type { ClusterResults, Step } from '../bench/cluster/results.ts';
import { podsOf, reachedByBoth, secondsOf } from '../bench/cluster/table.ts';
import { svgPath as path, picture, rect, svgText as text, type Paint } from '../src/text/svg.ts';

const WIDTH = 880;
const LEFT = 150;
const RIGHT = 864;
const TOP = 84;
const PANEL = 84;
const GAP = 26;

interface Bar {
  readonly paint: Paint;
  readonly low: number;
  readonly high: number;
}

interface Panel {
  readonly name: string;
  readonly unit: string;
  /** What stands at a tenth of the run, from left to right; `beside` only where the Pods alone came so far. */
  readonly bars: (step: Step, beside: Step | undefined, pods: number) => readonly Bar[];
}

const bar = (paint: Paint, high: number | null | undefined, low: number | null = 0): readonly Bar[] =>
  typeof high === 'number' && low !== null ? [{ paint, low, high }] : [];

const PANELS: readonly Panel[] = [
  {
    name: 'Speed',
    unit: 'gangs a second',
    bars: (step, beside, pods) => [
      ...bar('other', beside && pods / GANG_SIZE / beside.seconds),
      ...bar('placed', pods / GANG_SIZE / step.seconds),
    ],
  },
  {
    name: 'Release',
    unit: 'ms, p50 to p99',
    bars: ({ releaseP50, releaseP99 }) => bar('placed', releaseP99, releaseP50),
  },
  {
    name: 'API server',
    unit: 'ms of CPU a Pod',
    bars: ({ cpu }, beside) => [
      ...bar('other', beside?.cpu['kube-apiserver']),
      ...bar('placed', cpu['kube-apiserver']),
    ],
  },
  { name: 'Muster', unit: 'MiB', bars: ({ memory }) => bar('placed', memory.muster) },
  { name: 'Loop', unit: 'calls a gang', bars: ({ calls }) => bar('placed', calls) },
];

/** How it goes with the Pods that exist already: with gangs, and the same Pods alone beside it. */
export function clusterChart(results: ClusterResults): string {
  const { alone, muster, nodes } = results;
  const parts = [
    text(16, 28, 'With the Pods that exist already', { bold: true, size: 16 }),
    text(16, 47, `gangs of ${GANG_SIZE} on ${grouped(nodes)} nodes`, { paint: 'soft', size: 12 }),
    rect('placed', LEFT, 58, 10, 10, 2),
    text(LEFT + 15, 67, 'gangs', { size: 11, paint: 'soft' }),
    rect('other', LEFT + 70, 58, 10, 10, 2),
    text(LEFT + 85, 67, 'the same Pods alone', { size: 11, paint: 'soft' }),
  ];
  const wide = (RIGHT - LEFT) / Math.max(1, muster.steps.length);
  let y = TOP;
  for (const { name, unit, bars } of PANELS) {
    const columns = muster.steps.map((step, index) =>
      bars(step, alone.steps[index], step.pods - (muster.steps[index - 1]?.pods ?? 0)),
    );
    const most = Math.max(1, ...columns.flat().map(({ high }) => high));
    const bottom = y + PANEL;
    const height = (value: number): number => tenth(bottom - (PANEL * value) / most);
    parts.push(
      text(16, y + 14, name, { bold: true, size: 13 }),
      text(16, y + 30, unit, { size: 12, paint: 'soft' }),
      text(LEFT - 10, y + 8, grouped(Number(most.toPrecision(3))), { at: 'end', size: 11, paint: 'soft' }),
      text(LEFT - 10, bottom, '0', { at: 'end', size: 11, paint: 'soft' }),
      path(`M${LEFT} ${bottom}H${RIGHT}`),
    );
    for (const [index, column] of columns.entries())
      for (const [place, { paint, low, high }] of column.entries()) {
        const each = (wide - 12) / column.length;
        const x = tenth(LEFT + index * wide + 6 + place * each);
        parts.push(
          rect(paint, x, height(high), tenth(each - 2), Math.max(1.5, tenth(height(low) - height(high))), 0),
        );
      }
    y = bottom + GAP;
  }
  for (const [index, step] of muster.steps.entries())
    parts.push(
      text(tenth(LEFT + (index + 0.5) * wide), y - 8, grouped(step.pods), {
        at: 'middle',
        size: 11,
        paint: 'soft',
      }),
    );
  parts.push(text(16, y - 8, 'Pods bound', { size: 12, paint: 'soft' }));
  return picture({ width: WIDTH, height: y + 8 }, 'A cluster as it fills with gangs', words(results), parts);
}

function words(results: ClusterResults): string {
  const { alone, muster } = reachedByBoth(results);
  const { steps } = results.muster;
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return 'No tenth of the Pods was bound as gangs.';
  const release = ({ releaseP50, releaseP99 }: Step): string => `p50 ${releaseP50} ms, p99 ${releaseP99} ms`;
  const seconds = (run: ClusterResults['alone']): string => grouped(Math.round(secondsOf(run)));
  return (
    `${grouped(podsOf(muster))} Pods were bound after ${seconds(muster)} s as gangs and after ${seconds(alone)} s alone. ` +
    `Release in the first tenth ${release(first)}, in the last ${release(last)}; Muster had ${first.memory.muster} and then ${last.memory.muster} MiB.`
  );
}

const tenth = (value: number): number => Math.round(value * 10) / 10;
const grouped = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
