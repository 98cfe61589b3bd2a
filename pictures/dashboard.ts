import type { Panel, RowPanel } from '@grafana/schema';
import { musterDashboard } from '../monitoring/grafana.ts';
import { readRecorded, type Recorded, type RecordedLine } from '../monitoring/recording/recorded.ts';
import { ceilingOf, quantityText } from './quantity.ts';
import { svgPath as path, picture, rect, svgText as text } from '../src/text/svg.ts';

const WIDTH = 880;
const LEFT = 14;
const TOP = 86;
const COLUMN = (WIDTH - 2 * LEFT) / 24;
/** Height of a unit of Grafana's grid, and air between panels. */
const LINE = 21;
const AIR = 6;
const LETTER = 5.4;

/** Of lines and of what is below them, light and dark. The first is for what is bad. */
const COLOURS = [
  ['#c83c3c', '#f3c9ca', '#ef6b6b', '#5a353c'],
  ['#3f7fd6', '#cbdcf3', '#5b9bf0', '#2c4568'],
  ['#b9780a', '#ecdbba', '#d9982f', '#54452d'],
  ['#2f9c5c', '#c6e4d3', '#3aae69', '#244c3f'],
  ['#8b5cc7', '#dfd2f0', '#a981e0', '#453c60'],
  ['#178f9c', '#c0e0e5', '#2fb3c2', '#214d5a'],
  ['#c2558f', '#f0d0e0', '#de7cb0', '#553b53'],
  ['#7b8694', '#dadfe5', '#9aa4b0', '#414a56'],
] as const;
const BAD = /fail|error|denied|^none$|^403$|^5\d\d$|early|unreleased/;

const colourRules = (scheme: 0 | 2): string =>
  COLOURS.map(
    (colours, index) =>
      `.l${index}{stroke:${colours[scheme]}}.f${index}{fill:${colours[scheme]}}.a${index}{stroke:${colours[scheme]};fill:${colours[scheme + 1]}}`,
  ).join('');
const STYLE =
  `<style>.l{fill:none}.l,.a{stroke-width:1.3;stroke-linejoin:round}${colourRules(0)}@media (prefers-color-scheme: dark){${colourRules(2)}}</style>
`.trim();

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The dashboard as Grafana lays it out, with what a real Prometheus answered to its queries. */
export function dashboardPicture(): string {
  const recorded = readRecorded();
  const title = 'The dashboard, over some minutes with failures';
  const parts = [STYLE, text(16, 28, title, { bold: true, size: 16 })];
  marksOf(recorded).forEach((words, line) =>
    parts.push(text(16, 48 + line * 17, words, { paint: 'soft', size: 12 })),
  );
  let bottom = 0;
  for (const panel of musterDashboard().panels ?? []) {
    const { x = 0, y = 0, w = 0, h = 0 } = panel.gridPos ?? {};
    const [left, width] = [Math.round(LEFT + x * COLUMN), Math.round(w * COLUMN) - AIR];
    const box = { x: left, y: TOP + y * LINE, width, height: h * LINE - AIR };
    bottom = Math.max(bottom, box.y + box.height);
    parts.push(...(panel.type === 'row' ? rowOf(panel as RowPanel, box) : panelOf(panel, box, recorded)));
  }
  return picture({ width: WIDTH, height: bottom + 14 }, title, descriptionOf(recorded), parts);
}

const letterOf = (index: number): string => 'abcdefghij'[index] ?? '';

/** Two lines: where it was recorded, and what each mark means. */
const marksOf = ({ on, events }: Recorded): string[] => [
  `Recorded ${on}.`,
  events.map(({ what }, index) => `${letterOf(index)} ${what}`).join(' · '),
];

const descriptionOf = ({ on, events, panels }: Recorded): string =>
  `Every panel of the dashboard of Muster, recorded ${on}. Meanwhile: ${events
    .map(({ at, what }) => `after ${at} s ${what}`)
    .join(', ')}. Panels: ${Object.keys(panels).join(', ')}.`;

function rowOf({ title = '', collapsed }: RowPanel, { x, y }: Box): string[] {
  return [text(x, y + 14, `${collapsed ? '▸' : '▾'} ${title}`, { bold: true, size: 13 })];
}

function panelOf(panel: Panel, box: Box, recorded: Recorded): string[] {
  const { title = '', type, fieldConfig } = panel;
  const unit = fieldConfig?.defaults.unit ?? 'short';
  const lines = recorded.panels[title] ?? [];
  const head = [
    rect('card', box.x, box.y, box.width, box.height, 4),
    text(box.x + 8, box.y + 15, title, { size: type === 'stat' ? 9 : 11, bold: true }),
  ];
  if (type === 'stat') return [...head, numberOf(panel, box, lines[0], unit)];
  const stacked =
    (fieldConfig?.defaults.custom?.['stacking'] as { mode?: string } | undefined)?.mode === 'normal';
  return [...head, ...graphOf(lines, box, { unit, stacked, recorded })];
}

/** The last value, in the colour of its threshold. */
function numberOf({ fieldConfig }: Panel, box: Box, line: RecordedLine | undefined, unit: string): string {
  const value = line?.values.findLast((one) => one !== null) ?? 0;
  const steps = fieldConfig?.defaults.thresholds?.steps ?? [];
  const colour = steps.findLast((step) => value >= (step.value ?? -Infinity))?.color;
  const paint = colour === 'green' ? 'runs' : colour === 'orange' ? 'waits' : 'bad';
  const at = { x: box.x + box.width / 2, y: box.y + box.height - 18 };
  return text(at.x, at.y, quantityText(value, unit), { paint, size: 20, bold: true, at: 'middle' });
}

interface Graph {
  readonly unit: string;
  readonly stacked: boolean;
  readonly recorded: Recorded;
}

function graphOf(lines: readonly RecordedLine[], box: Box, { unit, stacked, recorded }: Graph): string[] {
  const plot = { x: box.x + 46, y: box.y + 24, width: box.width - 54, height: box.height - 58 };
  const base = plot.y + plot.height;
  const steps = Math.max(
    ...Object.values(recorded.panels).flatMap((all) => all.map(({ values }) => values.length)),
  );
  const seen = lines.filter(({ values }) => values.some((value) => value !== null));
  const layers = stacked ? layersOf(seen) : seen.map(({ values }) => values);
  const top = ceilingOf(Math.max(0, ...layers.flatMap((values) => values.map((value) => value ?? 0))), unit);
  const across = (step: number): number => plot.x + (step * plot.width) / (steps - 1);
  const up = (value: number): number => base - (Math.min(value, top) * plot.height) / top;
  const parts = [
    text(plot.x - 4, plot.y + 8, quantityText(top, unit), { paint: 'soft', size: 10, at: 'end' }),
    text(plot.x - 4, base, '0', { paint: 'soft', size: 10, at: 'end' }),
  ];
  const colours = coloursOf(seen.map(({ name }) => name));
  // The highest layer first, since each is filled down to the base; what is 0 all the time has its name only.
  layers
    .map((values, index) => ({ values, index, own: seen[index]?.values ?? [] }))
    .toReversed()
    .forEach(({ values, index, own }) => {
      if (!own.some(Boolean)) return;
      const way = lineOf(values, across, up);
      const class_ = stacked ? 'a' : 'l';
      const end = stacked ? `V${base}H${plot.x}Z` : '';
      parts.push(`<path class="${class_} ${class_}${colours[index] ?? 0}" d="${way}${end}"/>`);
    });
  parts.push(path(`M${plot.x} ${base}h${plot.width}`));
  parts.push(
    ...marksIn(
      plot,
      recorded.events.map(({ at }) => across(at / recorded.stepSeconds)),
    ),
  );
  if (seen.length === 0)
    parts.push(
      text(plot.x + plot.width / 2, plot.y + 44, 'nothing to show', {
        paint: 'soft',
        size: 11,
        at: 'middle',
      }),
    );
  return [...parts, ...legendOf(seen, colours, box)];
}

/** A dashed line with a letter above it at each x. */
const marksIn = ({ y, height }: Box, at: readonly number[]): string[] => [
  path(at.map((x) => `M${round(x)} ${y}v${height}`).join(''), true),
  `<text class="soft" style="font-size:9px" text-anchor="middle" y="${y - 1}">${at
    .map((x, index) => `<tspan x="${round(x)}">${letterOf(index)}</tspan>`)
    .join('')}</text>`,
];

const round = (value: number): string => String(Math.round(value * 10) / 10);

type Values = readonly (number | null)[];

/** Sums: one on top of the other, the first lowest. */
function layersOf(lines: readonly RecordedLine[]): Values[] {
  let below: Values = lines[0]?.values.map(() => 0) ?? [];
  return lines.map(({ values }) => {
    below = values.map((value, index) => (below[index] ?? 0) + (value ?? 0));
    return below;
  });
}

/** Broken where there is no value; points between equal ones are left out. */
function lineOf(values: Values, across: (step: number) => number, up: (value: number) => number): string {
  return values
    .map((value, step) => {
      const [before, after] = [values[step - 1] ?? null, values[step + 1] ?? null];
      if (value === null || (value === before && value === after)) return '';
      return `${before === null ? 'M' : 'L'}${round(across(step))} ${round(up(value))}`;
    })
    .join('');
}

/** What is bad in the colour for it, the others in turn. */
function coloursOf(names: readonly string[]): number[] {
  let turn = 0;
  return names.map((name) => (BAD.test(name) ? 0 : 1 + (turn++ % (COLOURS.length - 1))));
}

/** At most two lines of names. */
function legendOf(lines: readonly RecordedLine[], colours: readonly number[], box: Box): string[] {
  const parts: string[] = [];
  let [x, y] = [box.x + 8, box.y + box.height - 19];
  lines.forEach(({ name }, index) => {
    const width = 12 + name.length * LETTER + 8;
    if (x + width > box.x + box.width && x > box.x + 8) [x, y] = [box.x + 8, y + 13];
    if (y > box.y + box.height - 4) return;
    parts.push(
      `<rect class="f${colours[index] ?? 0}" x="${round(x)}" y="${y - 7}" width="8" height="8" rx="2"/>`,
    );
    parts.push(text(Math.round(x + 11), y, name, { size: 9.5 }));
    x += width;
  });
  return parts;
}
