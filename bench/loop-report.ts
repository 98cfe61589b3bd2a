import { median } from './histogram.ts';
import type { LoopFigures, ReleaseRound } from './loop.ts';
import { nameOf, quantile, ratioToBare } from './loop-goals.ts';
import type { MemorySample } from './loop-memory.ts';
import type { Shape } from './loop-objects.ts';
import type { Release } from './loop-release.ts';
import { aligned } from './report.ts';

/** The tables of the loop, Markdown, ready for docs/benchmarks.md. */
export function loopTables(figures: LoopFigures): string[] {
  const tables = [releases(figures), writes(figures), arrivals(figures), memory(figures)];
  return tables.filter((rows) => rows.length > 1).flatMap((rows) => [...aligned(rows), '']);
}

const RELEASE_HEAD = [
  ...['gates off', 'client', 'ms', 'least', 'most', 'gates per s', '× bare', 'off before'],
  ...['own CPU ms', 'API server CPU ms'],
];

function releases({ timing, one, many }: LoopFigures): string[][] {
  const rowsOf = (shape: Shape, rounds: readonly ReleaseRound[] | undefined): string[][] =>
    rounds === undefined
      ? []
      : (['bare', 'muster'] as const).map((name, index) => {
          const times = rounds.map((round) => round[name].ms);
          const before = median(rounds.map((round) => round[name].before));
          const left = shape.gangs * shape.podsPerGang - before;
          return [
            index === 0 ? nameOf(shape) : '',
            name === 'bare' ? 'bare' : 'Muster',
            median(times).toFixed(0),
            Math.min(...times).toFixed(0),
            Math.max(...times).toFixed(0),
            ((left / median(times)) * 1000).toFixed(0),
            name === 'bare' ? '1.00' : ratioToBare(rounds).toFixed(2),
            before.toFixed(0),
            median(rounds.map((round) => round[name].ownCpuMs)).toFixed(0),
            median(rounds.map((round) => round[name].serverCpuMs)).toFixed(0),
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
