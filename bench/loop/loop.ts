import { measureMemory, type LoopMemory, type MemoryTiming } from './memory.ts';
import type { Contender, Shape } from './objects.ts';
import { GateObserver } from './observer.ts';
import { arrive, release, type Arrivals, type Release, type ReleaseSetting } from './release.ts';
import { loopReport } from './report.ts';
import { startStage } from './stage.ts';
import type { StageReport } from '../measure/figures.ts';
import { makeScratch } from '../admission/servers.ts';

/** What of the loop is measured; all of it on a real control plane. */
export const LOOP_PARTS = ['loop-release', 'loop-arrivals', 'loop-memory'] as const;
export type LoopPart = (typeof LOOP_PARTS)[number];

export interface LoopTiming {
  readonly rounds: number;
  /** Before the first round, for both contenders: connections, and the compiler. */
  readonly warmUp: Shape;
  readonly one: Shape;
  readonly many: Shape;
  /** Where the Pods are there before their PodGangs; only the writes count. */
  readonly podsFirst: Shape;
  readonly memory: MemoryTiming;
}

/** Both contenders, one after the other. */
export interface ReleaseRound {
  readonly bare: Release;
  readonly muster: Release;
}

/** undefined: not measured. */
export interface LoopFigures {
  readonly timing: LoopTiming;
  readonly one?: readonly ReleaseRound[];
  readonly many?: readonly ReleaseRound[];
  readonly podsFirst?: Release;
  readonly arrivals?: readonly Arrivals[];
  readonly memory?: LoopMemory;
  /** How often the watch of the bench began anew. */
  readonly cuts?: number;
}

type Progress = (line: string) => void;

export async function measureLoop(
  parts: ReadonlySet<string>,
  timing: LoopTiming,
  progress: Progress,
): Promise<StageReport> {
  const speed = parts.has('loop-release') || parts.has('loop-arrivals');
  return loopReport({
    timing,
    ...(speed ? await onStage((setting) => measureSpeed(parts, timing, setting, progress)) : {}),
    ...(parts.has('loop-memory')
      ? { memory: await onStage(({ stage }) => measureMemory(stage, timing.memory, progress)) }
      : {}),
  });
}

/** A control plane of its own for each part: nothing of the one is left for the other to carry. */
async function onStage<T>(measure: (given: Pick<ReleaseSetting, 'stage'>) => Promise<T>): Promise<T> {
  const { scratch, remove } = await makeScratch();
  try {
    const stage = await startStage(scratch);
    try {
      return await measure({ stage });
    } finally {
      await stage.stop();
    }
  } finally {
    remove();
  }
}

async function measureSpeed(
  parts: ReadonlySet<string>,
  timing: LoopTiming,
  { stage }: Pick<ReleaseSetting, 'stage'>,
  progress: Progress,
): Promise<Omit<LoopFigures, 'timing' | 'memory'>> {
  const observer = new GateObserver();
  await observer.start(stage.client);
  const muster = await stage.startMuster();
  const bare = stage.startBare();
  const setting = { stage, observer, bare, muster };
  try {
    await pair('warm-up', timing.warmUp, setting, false);
    const releases = parts.has('loop-release') ? await measureReleases(timing, setting, progress) : {};
    if (!parts.has('loop-arrivals')) return { ...releases, cuts: observer.cuts };
    const arrivals: Arrivals[] = [];
    for (let round = 1; round <= timing.rounds; round += 1) {
      arrivals.push(await arrive(`arrivals-${round}`, timing.many, setting));
      progress(`arrivals: round ${round} of ${timing.rounds}`);
    }
    return { ...releases, arrivals, cuts: observer.cuts };
  } finally {
    await bare.stop();
    await muster.stop();
    await observer.stop();
  }
}

async function measureReleases(
  timing: LoopTiming,
  setting: ReleaseSetting,
  progress: Progress,
): Promise<Pick<LoopFigures, 'one' | 'many' | 'podsFirst'>> {
  const one: ReleaseRound[] = [];
  const many: ReleaseRound[] = [];
  for (let round = 1; round <= timing.rounds; round += 1) {
    const musterFirst = round % 2 === 0;
    one.push(await pair(`one-${round}`, timing.one, setting, musterFirst));
    many.push(await pair(`many-${round}`, timing.many, setting, musterFirst));
    progress(`releases: round ${round} of ${timing.rounds}: ${describe(one)}; ${describe(many)}`);
  }
  const podsFirst = await release('muster', 'pods-first', timing.podsFirst, setting, 'Pods first');
  return { one, many, podsFirst };
}

/** Each in a namespace of its own; who is first changes from round to round. */
async function pair(
  name: string,
  shape: Shape,
  setting: ReleaseSetting,
  musterFirst: boolean,
): Promise<ReleaseRound> {
  const run = (contender: Contender): Promise<Release> =>
    release(contender, `${name}-${contender}`, shape, setting);
  if (musterFirst) {
    const muster = await run('muster');
    return { muster, bare: await run('bare') };
  }
  const bare = await run('bare');
  return { bare, muster: await run('muster') };
}

function describe(rounds: readonly ReleaseRound[]): string {
  const { bare, muster } = rounds.at(-1) as ReleaseRound;
  return `bare ${bare.ms.toFixed(0)} ms, Muster ${muster.ms.toFixed(0)} ms`;
}
