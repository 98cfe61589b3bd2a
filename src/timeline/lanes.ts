import { bornAt, lifeEnd, releasedAt, podNames, type ReleasedLife } from './generations.ts';
import { parseKubeTime } from '../k8s/time.ts';
import { latest } from './pod-life.ts';
import type { Timeline } from './timeline.ts';

export interface GanttSpan {
  /** Behind Muster's gate, with the scheduler, on a node and not ready, or ready. */
  readonly state: 'gated' | 'scheduler' | 'starting' | 'running';
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** A line of a Gantt chart: the gang, or the Pods whose moments are the same. */
export interface GanttLane {
  readonly name: string;
  readonly spans: readonly GanttSpan[];
}

/** The gang's lane first, then those of its Pods. A span whose begin or end is not known is left out. */
export function lanesOf(timeline: Timeline): GanttLane[] {
  const now = Date.parse(timeline.now);
  const pods = timeline.generations.flatMap(({ number, lives }) =>
    lives.map((life) => ({ life, number, spans: spansOf(life, now) })),
  );
  const same = Map.groupBy(pods, ({ number, spans }) => `${number} ${JSON.stringify(spans)}`);
  return [
    { name: timeline.gang.name, spans: gangSpans(timeline, now) },
    ...[...same.values()]
      .map((together) => {
        const names = podNames(together.map(({ life }) => life));
        const more = names.length - 1;
        return {
          name: `${names[0] ?? ''}${more > 0 ? ` and ${more} more` : ''}`,
          spans: together[0]?.spans ?? [],
        };
      })
      .filter(({ spans }) => spans.length > 0),
  ];
}

/** From one moment to the next that is known; the last one lasts until `end`. */
function spansBetween(
  marks: readonly (readonly [GanttSpan['state'], number | undefined])[],
  end: number,
): readonly GanttSpan[] {
  let reached = -Infinity;
  const known = marks.flatMap(([state, from]) => {
    if (from === undefined) return [];
    // By clocks that differ a Pod may be bound before it was created.
    reached = Math.max(reached, from);
    return [{ state, from: reached }];
  });
  return known.flatMap(({ state, from }, index) => {
    const to = Math.min(end, known[index + 1]?.from ?? end);
    return to > from ? [{ state, from, to }] : [];
  });
}

/** Of a Pod that is gone Events are left, and none tells when it was ready. */
const runsFrom = ({ ready, gone, started }: ReleasedLife): number | undefined =>
  ready ?? (gone ? started : undefined);

function spansOf(life: ReleasedLife, now: number): readonly GanttSpan[] {
  const { created, gateOff, bound } = life;
  return spansBetween(
    [
      ['gated', created],
      ['scheduler', gateOff],
      ['starting', bound],
      ['running', runsFrom(life)],
    ],
    Math.min(now, lifeEnd(life)),
  );
}

function gangSpans({ steps, generations }: Timeline, now: number): readonly GanttSpan[] {
  const created = parseKubeTime(steps.find(({ step }) => step === 'created')?.at);
  return generations.flatMap(({ lives }, index) => {
    const next = generations[index + 1]?.lives.map(bornAt) ?? [];
    const born = Math.min(...lives.map(bornAt));
    return spansBetween(
      [
        ['gated', index === 0 ? (created ?? born) : born],
        ['scheduler', releasedAt(lives)],
        ['starting', latest(lives.map(({ bound }) => bound))],
        ['running', latest(lives.map(runsFrom))],
      ],
      // A gang whose Pods have all ended runs no more.
      Math.min(now, ...next, Math.max(...lives.map(lifeEnd))),
    );
  });
}
