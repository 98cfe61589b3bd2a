import { goal, type Goal } from './goals.ts';
import { median } from './histogram.ts';
import type { LoopFigures, ReleaseRound } from './loop.ts';
import type { Shape } from './loop-objects.ts';
import type { Release } from './loop-release.ts';

const MAX_TIME_TO_BARE = 1.2;
const MAX_MORE_WRITES = 2;
/** A gang that is there before its Pods is told at once that it is not Initialized: one write more, and wanted. */
const MAX_MORE_WRITES_GANG_FIRST = 3;
/** Milliseconds. */
const MAX_P99 = 1000;
const MAX_RSS_MIB = 200;
const MAX_KIB_PER_POD = 3;

/** Holds the figures of the loop against its goals. */
export function judgeLoop({ timing, one, many, podsFirst, arrivals, memory }: LoopFigures): Goal[] {
  const shapes = [
    { shape: timing.one, rounds: one ?? [] },
    { shape: timing.many, rounds: many ?? [] },
  ];
  const waits = (arrivals ?? []).flatMap((round) => round.waits);
  const rss = memory === undefined ? Number.NaN : Math.max(memory.lived.rss, memory.listed.rss);
  const perPod = memory === undefined ? Number.NaN : ((rss - memory.empty.rss) * 1024) / memory.pods;
  const pods = memory?.pods ?? timing.memory.shape.gangs * timing.memory.shape.podsPerGang;
  return [
    ...shapes.map(({ shape, rounds }) =>
      goal(`${nameOf(shape)}: time to the last gate off, times bare`, ratioToBare(rounds), {
        most: MAX_TIME_TO_BARE,
      }),
    ),
    goal(
      `writes for a gang of N beyond N, Pods first`,
      moreWrites(podsFirst === undefined ? [] : [podsFirst], timing.podsFirst),
      { most: MAX_MORE_WRITES },
    ),
    ...shapes.map(({ shape, rounds }) =>
      goal(
        `writes for a gang of N beyond N, PodGang first, ${nameOf(shape)}`,
        moreWrites(
          rounds.map(({ muster }) => muster),
          shape,
        ),
        { most: MAX_MORE_WRITES_GANG_FIRST },
      ),
    ),
    goal(
      `${nameOf(timing.many)}: p99 of gates off after the gang is complete, ms`,
      quantile(waits, 0.99),
      { most: MAX_P99 },
      0,
    ),
    goal(`memory (RSS) with ${pods.toLocaleString('en')} Pods, MiB`, rss, { most: MAX_RSS_MIB }, 0),
    goal(`memory per Pod, KiB`, perPod, { most: MAX_KIB_PER_POD }),
  ];
}

export const nameOf = ({ gangs, podsPerGang }: Shape): string =>
  `${gangs} × ${podsPerGang.toLocaleString('en')} Pods`;

/** The median of the quotients of each round, see ratioOf. */
export const ratioToBare = (rounds: readonly ReleaseRound[]): number =>
  median(rounds.map(({ bare, muster }) => muster.ms / bare.ms));

/** Writes per gang beyond one for each Pod, Events left out: the worst round. */
function moreWrites(releases: readonly Release[], { gangs, podsPerGang }: Shape): number {
  const each = releases.flatMap(({ writes }) =>
    writes === undefined ? [] : (writes.references + writes.status + writes.gates) / gangs - podsPerGang,
  );
  return each.length === 0 ? Number.NaN : Math.max(...each);
}

/** The value that `share` of all are not above; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
}
