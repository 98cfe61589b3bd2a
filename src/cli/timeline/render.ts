import { listed, printable } from '../../text/printable.ts';
import { lanesOf, type GanttLane, type GanttSpan } from '../../timeline/lanes.ts';
import type { LifeStep } from '../../timeline/step.ts';
import { chartTime, LOOKS } from '../../timeline/timeline-svg.ts';
import type { Timeline } from '../../timeline/timeline.ts';
import { paletteFor, type Palette } from '../output/palette.ts';
import { columns, reflowed } from '../output/text-layout.ts';
import { ageText, cut, painted, span, widthOf, type Line, type Span } from '../status/table.ts';

/** Lanes of one chart; the others are counted. */
const MOST_LANES = 24;
const MOST_NAME = 28;
const NARROWEST_BAR = 20;
/** Letters of what somebody else said. */
const MOST_SAID = 1_024;

const BARS: Readonly<Record<GanttSpan['state'], { readonly sign: string; readonly tone: Span['tone'] }>> = {
  gated: { sign: '░', tone: 'warn' },
  scheduler: { sign: '▒', tone: 'strong' },
  starting: { sign: '▓', tone: 'reason' },
  running: { sign: '█', tone: 'good' },
};

/** As `-o json` prints it. */
export const timelineJson = ({ gang, steps, waiting, unknown }: Timeline): object => ({
  gang,
  steps,
  ...(waiting !== undefined && { waiting }),
  unknown,
});

interface Look {
  readonly palette: Palette;
  readonly width: number;
}

/** The steps as a table, the same as a Gantt chart, what is waited for now, and what is not known. */
export function timelineText(timeline: Timeline, { palette, width }: Look): string {
  const { head, steps, chart, notes } = timelineParts(timeline, width);
  const lines = [head, ...steps, [], ...chart, ...(notes.length === 0 ? [] : [[], ...notes])];
  return lines.map((line) => `${painted(line, palette)}\n`).join('');
}

/** As {@link timelineText}, for a screen that may be too low: the chart comes before the steps, which grow. */
export function timelineScreen(timeline: Timeline, width: number): Line[] {
  const { head, steps, chart, notes } = timelineParts(timeline, width);
  return [head, ...chart, ...notes, ...steps];
}

function timelineParts(
  timeline: Timeline,
  width: number,
): { readonly head: Line } & Readonly<Record<'steps' | 'chart' | 'notes', Line[]>> {
  const { gang, steps, waiting, unknown } = timeline;
  const [heads, ...rows] = steps.length === 0 ? [] : unpainted(columns(stepRows(steps), PLAIN, width));
  const notes = [
    ...(waiting === undefined
      ? []
      : [
          `waits since ${waiting.since} (${ageText(Date.parse(timeline.now) - Date.parse(waiting.since))}) for ${printable(waiting.for, MOST_SAID)}`,
        ]),
    ...unknown.map((one) => `not known: ${printable(one, MOST_SAID)}`),
  ];
  return {
    head: [span(`${gang.namespace}/${gang.name}`, 'strong'), ...daysOf(steps).map((day) => span(`  ${day}`))],
    steps: heads === undefined ? [] : [heads.map(({ text }) => span(text, 'strong')), ...rows],
    chart: ganttLines(timeline, width),
    notes: unpainted(notes.map((note) => reflowed(note, width))),
  };
}

const PLAIN = paletteFor('never', { env: {}, isTerminal: false });
const unpainted = (texts: readonly string[]): Line[] =>
  texts.flatMap((text) => text.split('\n')).map((line) => [span(line)]);

/** The day of all steps; nothing where they are of several. */
function daysOf(steps: readonly LifeStep[]): string[] {
  const days = [...new Set(steps.map(({ at }) => at.slice(0, 10)))];
  return days.length === 1 ? days : [];
}

function stepRows(steps: readonly LifeStep[]): string[][] {
  const [first] = steps;
  const several = steps.some(({ generation }) => generation !== first?.generation);
  const begun = Date.parse(first?.at ?? '');
  const [day] = daysOf(steps);
  return [
    ['AT', 'AFTER', 'STEP', ...(several ? ['GENERATION'] : []), 'PODS', 'WAITED FOR'],
    ...steps.map(({ at, step, generation, pods, waitedFor, says }) => [
      day === undefined ? at : at.slice(11),
      ageText(Date.parse(at) - begun),
      step,
      ...(several ? [String(generation)] : []),
      pods.length === 0 ? '-' : printable(listed(pods, 'Pods', 2)),
      printable([waitedFor, says].filter((one) => one !== undefined && one !== '').join(': '), MOST_SAID) ||
        '-',
    ]),
  ];
}

/** The lanes of the chart below its times, each at most `width` characters wide. */
export function ganttLines(timeline: Timeline, width: number): Line[] {
  const lanes = lanesOf(timeline);
  const shown = lanes.slice(0, MOST_LANES);
  const names = shown.map(({ name }) => cut(printable(name), MOST_NAME));
  const nameWidth = Math.max(...names.map(widthOf));
  const room = Math.max(NARROWEST_BAR, width - nameWidth - 2);
  const time = chartTime(shown, Date.parse(timeline.now));
  const [from, to] = [time.from, time.to].map((at) => new Date(at).toISOString().slice(11, 19));
  const axis = `${from ?? ''}${' '.repeat(Math.max(1, room - 16))}${to ?? ''}`;
  const more = lanes.length - shown.length;
  return [
    [span(`${' '.repeat(nameWidth)}  ${axis}`, 'reason')],
    ...shown.map((lane, index): Line => [
      span(`${(names[index] ?? '').padEnd(nameWidth)}  `),
      ...barOf(lane, time, room),
    ]),
    ...(more > 0 ? [[span(`… ${more} more lanes`, 'reason')]] : []),
    [
      span(`${' '.repeat(nameWidth)}  `),
      ...Object.entries(BARS).flatMap(([state, { sign, tone }]) => [
        span(sign, tone),
        span(` ${LOOKS[state as GanttSpan['state']].words}  `, 'reason'),
      ]),
    ],
  ];
}

/** A span has at least one character, unless another begins in it. */
function barOf(
  { spans }: GanttLane,
  { from, to }: { readonly from: number; readonly to: number },
  room: number,
): Span[] {
  const cellOf = (at: number): number => ((at - from) / (to - from)) * room;
  const cells = new Array<GanttSpan['state'] | undefined>(room).fill(undefined);
  for (const one of spans) {
    const first = Math.min(room - 1, Math.floor(cellOf(one.from)));
    cells.fill(one.state, first, Math.max(first + 1, Math.round(cellOf(one.to))));
  }
  return cells.map((state) => (state === undefined ? span(' ') : span(BARS[state].sign, BARS[state].tone)));
}
