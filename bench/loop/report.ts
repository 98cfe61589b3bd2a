import { figure, withInterval, type Figure, type Limit, type StageReport } from '../measure/figures.ts';
import { exactly, meanOf, median, NOTHING, quantile, ratioOf, type Estimate } from '../measure/interval.ts';
import type { LoopFigures, ReleaseRound } from './loop-figures.ts';
import type { MemorySample } from './memory.ts';
import type { Shape } from './objects.ts';
import type { Release } from './release.ts';

const MAX_TIME_TO_BARE = 1.15;
/** To bare that watches: nobody who releases gangs can do without what that does. */
const MAX_CPU_TO_WATCHING = 1.2;
const MAX_MORE_WRITES = 2;
/** A gang that is there before its Pods is told at once that it is not Initialized: one write more, and wanted. */
const MAX_MORE_WRITES_GANG_FIRST = 3;
/** Milliseconds. */
const MAX_P99 = 500;
const MAX_RSS_MIB = 140;
const MAX_KIB_PER_POD = 3;

/** The tables and figures of the loop. */
export const loopReport = (figures: LoopFigures): StageReport => ({
  tables: {
    releases: releases(figures),
    writes: writes(figures),
    arrivals: arrivals(figures),
    memory: memory(figures),
  },
  figures: figuresOf(figures),
  ...(figures.cuts
    ? { notes: [`the watch of the bench was cut ${figures.cuts} times: it saw some gates late`] }
    : {}),
});

const nameOf = ({ gangs, podsPerGang }: Shape): string =>
  `${gangs} × ${podsPerGang.toLocaleString('en')} Pods`;

/** Of the same round each. */
const ratioOfRounds = (
  rounds: readonly ReleaseRound[],
  of: 'ms' | 'ownCpuMs',
  contender: 'muster' | 'watching' = 'muster',
  to: 'bare' | 'watching' = 'bare',
): Estimate =>
  rounds.length === 0
    ? NOTHING
    : ratioOf(
        rounds.map((round) => round[contender][of]),
        rounds.map((round) => round[to][of]),
      );

const RELEASE_HEAD = [
  ...['gates off', 'client', 'ms', 'least', 'most', 'gates per s', '× bare', 'off before'],
  ...['own CPU ms', '× bare', 'API server CPU ms'],
];

const CONTENDERS = { bare: 'bare', watching: 'bare that watches', muster: 'Muster' } as const;

function releases({ timing, one, many }: LoopFigures): string[][] {
  const rowsOf = (shape: Shape, rounds: readonly ReleaseRound[] = []): string[][] =>
    (['bare', 'watching', 'muster'] as const).flatMap((name, index) => {
      const took = rounds.map((round) => round[name]);
      if (took.length === 0) return [];
      const times = took.map(({ ms }) => ms);
      const before = median(took.map((release) => release.before));
      const left = shape.gangs * shape.podsPerGang - before;
      const ratio = (of: 'ms' | 'ownCpuMs'): string =>
        name === 'bare' ? '1' : withInterval(ratioOfRounds(rounds, of, name));
      return [
        [
          index === 0 ? nameOf(shape) : '',
          CONTENDERS[name],
          median(times).toFixed(0),
          Math.min(...times).toFixed(0),
          Math.max(...times).toFixed(0),
          ((left / median(times)) * 1000).toFixed(0),
          ratio('ms'),
          before.toFixed(0),
          median(took.map(({ ownCpuMs }) => ownCpuMs)).toFixed(0),
          ratio('ownCpuMs'),
          median(took.map(({ serverCpuMs }) => serverCpuMs)).toFixed(0),
        ],
      ];
    });
  return [RELEASE_HEAD, ...rowsOf(timing.one, one), ...rowsOf(timing.many, many)];
}

const WRITES_HEAD = ['writes per gang', 'references', 'status', 'gates', 'Events', 'refused'];

function writes({ timing, one, many, podsFirst }: LoopFigures): string[][] {
  const row = (what: string, shape: Shape, releases: readonly Release[]): string[][] => {
    const found = releases.flatMap((release) => release.writes ?? []);
    if (found.length === 0) return [];
    const mean = (of: 'references' | 'status' | 'gates' | 'events' | 'refused'): string =>
      (found.reduce((sum, round) => sum + round[of], 0) / found.length / shape.gangs).toFixed(2);
    return [[what, mean('references'), mean('status'), mean('gates'), mean('events'), mean('refused')]];
  };
  const ofMuster = (rounds: readonly ReleaseRound[] = []): Release[] => rounds.map(({ muster }) => muster);
  return [
    WRITES_HEAD,
    ...row(`PodGang first, ${nameOf(timing.one)}`, timing.one, ofMuster(one)),
    ...row(`PodGang first, ${nameOf(timing.many)}`, timing.many, ofMuster(many)),
    ...row(`Pods first, ${nameOf(timing.podsFirst)}`, timing.podsFirst, podsFirst ? [podsFirst] : []),
  ];
}

function arrivals({ timing, arrivals: rounds = [] }: LoopFigures): string[][] {
  const waits = rounds.flatMap((round) => round.waits);
  const at = (share: number): string => quantile(waits, share).toFixed(0);
  const head = ['from complete to off', 'p50 ms', 'p90 ms', 'p99 ms', 'max ms', 'all created after ms'];
  if (waits.length === 0) return [head];
  const creating = median(rounds.map((round) => round.creatingMs)).toFixed(0);
  return [head, [nameOf(timing.many), at(0.5), at(0.9), at(0.99), at(1), creating]];
}

function memory({ memory: found }: LoopFigures): string[][] {
  const head = ['memory of the process', 'RSS MiB', 'KiB per Pod', 'heap used MiB', 'peak RSS MiB'];
  if (found === undefined) return [head];
  const row = (what: string, sample: MemorySample, pods: number): string[] => [
    what,
    sample.rss.toFixed(0),
    pods === 0 ? '–' : (((sample.rss - found.empty.rss) * 1024) / pods).toFixed(2),
    sample.heapUsed.toFixed(0),
    sample.peak.toFixed(0),
  ];
  const crowd = `${found.pods.toLocaleString('en')} Pods of ${(found.podBytes / 1024).toFixed(1)} KiB`;
  return [
    head,
    row('nothing to watch', found.empty, 0),
    row(`${crowd}, seen coming`, found.lived, found.pods),
    row(`${crowd}, listed`, found.listed, found.pods),
  ];
}

function figuresOf({ timing, one, many, podsFirst, arrivals: waited, memory: found }: LoopFigures): Figure[] {
  const goal = (name: string, estimate: Estimate, limit: Limit): Figure =>
    figure('loop', name, estimate, limit);
  const shapes = [
    { shape: timing.one, rounds: one ?? [] },
    { shape: timing.many, rounds: many ?? [] },
  ];
  const p99 = (waited ?? []).map(({ waits }) => quantile(waits, 0.99));
  const rss = found === undefined ? Number.NaN : Math.max(found.lived.rss, found.listed.rss);
  const perPod = found === undefined ? Number.NaN : ((rss - found.empty.rss) * 1024) / found.pods;
  const pods = found?.pods ?? timing.memory.shape.gangs * timing.memory.shape.podsPerGang;
  return [
    ...shapes.map(({ shape, rounds }) =>
      goal(`${nameOf(shape)}: time to the last gate off, times bare`, ratioOfRounds(rounds, 'ms'), {
        most: MAX_TIME_TO_BARE,
      }),
    ),
    ...shapes.map(({ shape, rounds }) =>
      goal(
        `${nameOf(shape)}: own CPU, times bare that watches`,
        ratioOfRounds(rounds, 'ownCpuMs', 'muster', 'watching'),
        { most: MAX_CPU_TO_WATCHING },
      ),
    ),
    goal(
      'writes for a gang of N beyond N, Pods first',
      exactly(moreWrites(podsFirst === undefined ? [] : [podsFirst], timing.podsFirst)),
      { most: MAX_MORE_WRITES },
    ),
    ...shapes.map(({ shape, rounds }) => {
      const released = rounds.map(({ muster }) => muster);
      const name = `writes for a gang of N beyond N, PodGang first, ${nameOf(shape)}`;
      return goal(name, exactly(moreWrites(released, shape)), { most: MAX_MORE_WRITES_GANG_FIRST });
    }),
    goal(
      `${nameOf(timing.many)}: p99 of gates off after the gang is complete, ms`,
      p99.length === 0 ? NOTHING : meanOf(p99),
      { most: MAX_P99 },
    ),
    goal(`memory (RSS) with ${pods.toLocaleString('en')} Pods, MiB`, exactly(rss), { most: MAX_RSS_MIB }),
    goal('memory per Pod, KiB', exactly(perPod), { most: MAX_KIB_PER_POD }),
  ];
}

/** Writes per gang beyond one for each Pod, Events left out: the worst round. */
function moreWrites(releases: readonly Release[], { gangs, podsPerGang }: Shape): number {
  const each = releases.flatMap(({ writes }) =>
    writes === undefined ? [] : (writes.references + writes.status + writes.gates) / gangs - podsPerGang,
  );
  return each.length === 0 ? Number.NaN : Math.max(...each);
}
