import { figure, withInterval, type StageReport } from '../measure/figures.ts';
import { exactly, type Estimate } from '../measure/interval.ts';
import type { ModuleRow } from './module.ts';
import type { PrepareRow } from './prepare.ts';
import type { SyncFigures, SyncPass } from './sync.ts';

/** undefined: not measured. */
export interface BackendFigures {
  readonly prepare?: readonly PrepareRow[];
  readonly module?: readonly ModuleRow[];
  readonly sync?: readonly SyncFigures[];
}

const MAX_MORE_MICROS = 10;
const MAX_MODULE_MICROS = 500;

/** The tables and figures of the backends. */
export function backendReport({ prepare = [], module = [], sync = [] }: BackendFigures): StageReport {
  const perGang = sync.map(({ first, gangs, kinds }) => first.writes.objects / gangs / kinds.length);
  const again = sync.reduce((sum, { second }) => sum + second.writes.objects, 0);
  return {
    tables: {
      prepare: [PREPARE_HEAD, ...prepare.map(prepareRow)],
      module: [MODULE_HEAD, ...module.map(moduleRow)],
      sync: [SYNC_HEAD, ...sync.flatMap(syncRows)],
    },
    figures: [
      figure(
        'backends',
        'preparing a Pod, the dearest backend, CPU µs beyond gates alone',
        most(prepare.slice(1).map(({ moreCpu }) => moreCpu)),
        { most: MAX_MORE_MICROS },
      ),
      figure(
        'backends',
        'a review whose backend has a process of its own, µs beyond one that has not',
        module[1]?.moreWall ?? exactly(Number.NaN),
        { most: MAX_MODULE_MICROS },
      ),
      figure(
        'backends',
        "writes to a backend's objects, first pass, each gang and kind, the most",
        most(perGang.map(exactly)),
        { most: 1 },
      ),
      figure(
        'backends',
        "writes to a backend's objects, second pass, all backends",
        exactly(sync.length === 0 ? Number.NaN : again),
        { most: 0 },
      ),
    ],
  };
}

const most = (estimates: readonly Estimate[]): Estimate =>
  estimates.toSorted((a, b) => b.value - a.value)[0] ?? exactly(Number.NaN);

const PREPARE_HEAD = [
  'decision about a Pod',
  'CPU µs',
  'µs',
  'CPU µs beyond gates alone',
  'µs beyond gates alone',
];

const prepareRow = ({ title, cpu, wall, moreCpu, moreWall }: PrepareRow): string[] => [
  title,
  cpu.toFixed(2),
  wall.toFixed(2),
  withInterval(moreCpu),
  withInterval(moreWall),
];

const MODULE_HEAD = ['a backend', 'µs a review', 'CPU µs of Muster', 'µs beyond this process'];

const moduleRow = ({ title, wall, cpu, moreWall }: ModuleRow): string[] => [
  title,
  wall.toFixed(1),
  cpu.toFixed(1),
  withInterval(moreWall),
];

const SYNC_HEAD = [
  ...['backend', 'pass', 'objects per gang', 'writes', 'per gang', 'refused'],
  ...['writes to PodGangs', 'done after ms', 'first to last write ms', 'CPU ms'],
];

function syncRows({ backend, gangs, kinds, first, second }: SyncFigures): string[][] {
  const row = (names: string[], { ms, cpuMs, writes }: SyncPass): string[] => [
    ...names,
    String(writes.objects),
    (writes.objects / gangs).toFixed(2),
    String(writes.refused),
    String(writes.gangs),
    ...[ms, writes.spanMs, cpuMs].map((value) => value.toFixed(0)),
  ];
  const what = `${backend}, ${gangs.toLocaleString('en')} gangs`;
  return [
    row([what, 'first', String(kinds.length)], first),
    row(['', 'second', String(kinds.length)], second),
  ];
}
