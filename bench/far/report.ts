import { figure, withInterval, type Figure, type StageReport } from '../measure/figures.ts';
import {
  exactly,
  meanOf,
  NOTHING,
  plainMean,
  quantile,
  ratioOf,
  type Estimate,
} from '../measure/interval.ts';
import type { Shape } from '../loop/objects.ts';

export interface FarTiming {
  readonly rounds: number;
  /** In each of three namespaces. */
  readonly shape: Shape;
  /** Without the proxy, beside the bare client. */
  readonly thousand: Shape;
}

/** One round: how long each gang took from its last Pod's creation to its last gate seen off (ms), and what was written. */
export interface DistantRound {
  readonly waits: readonly number[];
  /** From the last Pod's creation to the last gate seen off (ms), of Muster and of bare that watches. */
  readonly ms: number;
  readonly bareMs: number | undefined;
  readonly writesBeyondPods: number;
  /** Of these, how often a gang was told again what it waits for: where its last Pod comes three seconds after the others. */
  readonly toldAgain: number;
  readonly otherWritesBeyondPods: number;
  readonly refused: number;
}

export const NAMESPACES = ['a', 'b', 'c'];
/** Seconds. */
const [MAX_P50, MAX_P99] = [1.5, 4];
const MAX_TIMES_REFUSING = 2;
const MAX_TIME_TO_BARE = 1.15;
/** A gang that is there before its Pods is told so: one write more than references and Initialized. */
const MAX_MORE_WRITES = 3;

interface Found {
  readonly slow: readonly DistantRound[] | undefined;
  readonly refusing: readonly DistantRound[] | undefined;
  readonly thousand: readonly { readonly muster: number; readonly bare: number }[] | undefined;
}

const timesBare = (rounds: readonly DistantRound[]): Estimate =>
  ratioOf(
    rounds.flatMap(({ ms, bareMs }) => (bareMs === undefined ? [] : [ms])),
    rounds.flatMap(({ bareMs }) => bareMs ?? []),
  );

/** The table and the goals. */
export function farReport({ shape, thousand }: FarTiming, found: Found): StageReport {
  const seconds = (rounds: readonly DistantRound[] | undefined, share: number): Estimate =>
    rounds === undefined ? NOTHING : meanOf(rounds.map(({ waits }) => quantile(waits, share) / 1000));
  const rows = [
    ['200 ms', found.slow],
    ['200 ms, a tenth refused', found.refusing],
  ] as const;
  const gangs = `${shape.gangs * NAMESPACES.length} × ${shape.podsPerGang} Pods`;
  const goal = (name: string, estimate: Estimate, most: number): Figure =>
    figure('far', name, estimate, { most });
  const writes = Math.max(...(found.slow ?? []).map((round) => round.otherWritesBeyondPods));
  const p = [0.5, 0.99] as const;
  return {
    tables: {
      far: [
        [
          ...['every call later by', 'p50 s', 'p99 s', 'all s', '× bare that watches'],
          ...['writes beyond Pods a gang', 'of these told again', 'refused by the API server'],
        ],
        ...rows.flatMap(([what, rounds]) =>
          rounds === undefined
            ? []
            : [
                [
                  what,
                  ...p.map((share) => withInterval(seconds(rounds, share))),
                  withInterval(meanOf(rounds.map(({ ms }) => ms / 1000))),
                  rounds.some(({ bareMs }) => bareMs === undefined) ? '–' : withInterval(timesBare(rounds)),
                  plainMean(rounds.map((round) => round.writesBeyondPods)).toFixed(2),
                  plainMean(rounds.map((round) => round.toldAgain)).toFixed(2),
                  plainMean(rounds.map((round) => round.refused)).toFixed(0),
                ],
              ],
        ),
      ],
    },
    figures: [
      goal(
        `${gangs}, calls later by 200 ms: p50 from complete to released, s`,
        seconds(found.slow, 0.5),
        MAX_P50,
      ),
      goal(`${gangs}, calls later by 200 ms: p99, s`, seconds(found.slow, 0.99), MAX_P99),
      goal(
        `${gangs}, calls later by 200 ms: time to the last gate off, times bare that watches`,
        found.slow === undefined ? NOTHING : timesBare(found.slow),
        MAX_TIME_TO_BARE,
      ),
      goal(
        `${gangs}, calls later by 200 ms: writes for a gang of N beyond N, told again left out`,
        exactly(writes),
        MAX_MORE_WRITES,
      ),
      ...p.map((share, index) =>
        goal(
          `${gangs}, a tenth of calls answered 429: ${['p50', 'p99'][index]}, times without`,
          found.slow === undefined || found.refusing === undefined
            ? NOTHING
            : ratioOf(
                found.refusing.map(({ waits }) => quantile(waits, share)),
                found.slow.map(({ waits }) => quantile(waits, share)),
              ),
          MAX_TIMES_REFUSING,
        ),
      ),
      goal(
        `${thousand.gangs.toLocaleString('en')} × ${thousand.podsPerGang} Pods at once: time to the last gate off, times bare`,
        found.thousand === undefined
          ? NOTHING
          : ratioOf(
              found.thousand.map(({ muster }) => muster),
              found.thousand.map(({ bare }) => bare),
            ),
        MAX_TIME_TO_BARE,
      ),
    ],
  };
}
