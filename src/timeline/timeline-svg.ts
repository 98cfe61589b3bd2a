import { kubeTime } from '../k8s/time.ts';
import { listed, printable } from '../text/printable.ts';
import { picture, rect, svgPath, svgText, type Paint } from '../text/svg.ts';
import { lanesOf, type GanttLane, type GanttSpan } from './lanes.ts';
import type { Timeline } from './timeline.ts';

const WIDTH = 880;
const LEFT = 210;
const RIGHT = 860;
const TOP = 76;
const LANE = 30;
/** Lanes of one picture; the Pods of the others are counted. */
const MOST_LANES = 40;
/** Letters of a name beside its lane. */
const MOST_LETTERS = 26;

/** How each state looks, and what the legend says. */
export const LOOKS: Readonly<Record<GanttSpan['state'], { readonly paint: Paint; readonly words: string }>> =
  {
    gated: { paint: 'waits', words: 'waits, gated' },
    scheduler: { paint: 'placed', words: 'with its scheduler' },
    starting: { paint: 'other', words: 'starts' },
    running: { paint: 'runs', words: 'runs' },
  };

/** The span of time that a chart shows. */
export function chartTime(
  lanes: readonly GanttLane[],
  now: number,
): { readonly from: number; readonly to: number } {
  const spans = lanes.flatMap((lane) => lane.spans);
  const from = Math.min(now, ...spans.map((span) => span.from));
  const to = Math.max(from + 1000, ...spans.map((span) => span.to));
  return { from, to };
}

/** A timeline as a picture that loads nothing, for light and dark. */
export function timelineSvg(timeline: Timeline): string {
  const lanes = lanesOf(timeline);
  const shown = lanes.slice(0, MOST_LANES);
  const { from, to } = chartTime(shown, Date.parse(timeline.now));
  const xOf = (at: number): number => Math.round(LEFT + ((at - from) / (to - from)) * (RIGHT - LEFT));
  const { namespace, name } = timeline.gang;
  const title = `The timeline of gang ${namespace}/${name}`;
  const bottom = TOP + shown.length * LANE;
  const parts = [
    svgText(16, 28, title, { bold: true, size: 16 }),
    svgText(LEFT, 60, kubeTime(from), { size: 12, paint: 'soft' }),
    svgText(RIGHT, 60, kubeTime(to), { size: 12, paint: 'soft', at: 'end' }),
    ...shown.flatMap((lane, index) => laneParts(lane, TOP + index * LANE, xOf)),
    ...Object.values(LOOKS).flatMap(({ paint, words }, index) => [
      rect(paint, LEFT + index * 150, bottom + 12, 14, 14, 3),
      svgText(LEFT + index * 150 + 20, bottom + 24, words, { size: 12 }),
    ]),
    ...notes(timeline, lanes.length - shown.length).map((words, index) =>
      svgText(16, bottom + 52 + index * 18, words, { size: 12, paint: 'soft' }),
    ),
  ];
  const height = bottom + 44 + notes(timeline, lanes.length - shown.length).length * 18;
  return picture({ width: WIDTH, height }, title, descriptionOf(timeline), parts);
}

function laneParts({ name, spans }: GanttLane, y: number, xOf: (at: number) => number): string[] {
  return [
    svgText(LEFT - 10, y + 17, printable(name, MOST_LETTERS), { at: 'end', size: 13 }),
    svgPath(`M${LEFT} ${y + 12}H${RIGHT}`, true),
    ...spans.map(({ state, from, to }) =>
      // A step of a second is seen in a picture of an hour, too.
      rect(LOOKS[state].paint, xOf(from), y + 2, Math.max(2, xOf(to) - xOf(from)), 20, 3),
    ),
  ];
}

/** Letters of a line below the lanes. */
const MOST_WORDS = 120;

const notes = ({ waiting, unknown }: Timeline, more: number): string[] =>
  [
    ...(more > 0 ? [`${more} more lanes are left out`] : []),
    ...(waiting === undefined ? [] : [`waits since ${waiting.since} for ${waiting.for}`]),
    ...unknown.map((one) => `not known: ${one}`),
  ].map((words) => printable(words, MOST_WORDS));

/** What the picture tells, for those who do not see it. */
const descriptionOf = ({ steps }: Timeline): string =>
  steps.length === 0
    ? 'Nothing is known of any step of this gang.'
    : `${steps
        .map(({ at, step, pods }) => `${at} ${step}${pods.length === 0 ? '' : ` ${listed(pods, 'Pods', 3)}`}`)
        .join('; ')}.`;
