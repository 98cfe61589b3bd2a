import type { LoopTiming, LoopFigures, ReleaseRound } from './loop-figures.ts';
import { measureMemory } from './memory.ts';
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
export async function onStage<T>(measure: (given: Pick<ReleaseSetting, 'stage'>) => Promise<T>): Promise<T> {
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
  const [bare, watching] = [stage.startBare('bare'), stage.startBare('watching')];
  const setting = { stage, observer, bare, watching, muster };
  try {
    for (let at = 1; at <= timing.warmUp.rounds; at += 1)
      await round(`warm-up-${at}`, timing.warmUp.shape, setting, ORDERS[0] ?? []);
    const releases = parts.has('loop-release') ? await measureReleases(timing, setting, progress) : {};
    if (!parts.has('loop-arrivals')) return { ...releases, cuts: observer.cuts };
    const arrivals: Arrivals[] = [];
    for (let at = 1; at <= timing.rounds; at += 1) {
      arrivals.push(await arrive(`arrivals-${at}`, timing.many, setting));
      progress(`arrivals: round ${at} of ${timing.rounds}`);
    }
    return { ...releases, arrivals, cuts: observer.cuts };
  } finally {
    await bare.stop();
    await watching.stop();
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
  for (let at = 1; at <= timing.rounds; at += 1) {
    const order = ORDERS[(at - 1) % ORDERS.length] ?? [];
    one.push(await round(`one-${at}`, timing.one, setting, order));
    many.push(await round(`many-${at}`, timing.many, setting, order));
    progress(`releases: round ${at} of ${timing.rounds}: ${describe(one)}; ${describe(many)}`);
  }
  const podsFirst = await release('muster', 'pods-first', timing.podsFirst, setting, { order: 'Pods first' });
  return { one, many, podsFirst };
}

/** Who is first changes from round to round. */
const ORDERS: readonly (readonly Contender[])[] = [
  ['bare', 'watching', 'muster'],
  ['muster', 'bare', 'watching'],
  ['muster', 'watching', 'bare'],
  ['watching', 'bare', 'muster'],
];

/** Each in a namespace of its own. */
async function round(
  name: string,
  shape: Shape,
  setting: ReleaseSetting,
  order: readonly Contender[],
): Promise<ReleaseRound> {
  const released = new Map<Contender, Release>();
  for (const contender of order) {
    released.set(contender, await release(contender, `${name}-${contender}`, shape, setting));
  }
  const of = (contender: Contender): Release => {
    const found = released.get(contender);
    if (found === undefined) throw new Error(`a round without ${contender}`);
    return found;
  };
  return { bare: of('bare'), muster: of('muster'), watching: of('watching') };
}

function describe(rounds: readonly ReleaseRound[]): string {
  const { bare, muster } = rounds.at(-1) as ReleaseRound;
  return `bare ${bare.ms.toFixed(0)} ms, Muster ${muster.ms.toFixed(0)} ms`;
}
