import type { PrepareRow } from './backend-prepare.ts';
import type { SyncFigures, SyncPass } from './backend-sync.ts';
import type { BackendFigures } from './backends.ts';
import { aligned } from './report.ts';

/** The tables of the backends, Markdown, ready for docs/benchmarks.md. */
export function backendTables({ prepare = [], sync = [] }: BackendFigures): string[] {
  const tables = [
    [PREPARE_HEAD, ...prepare.map(prepareRow)],
    [SYNC_HEAD, ...sync.flatMap(syncRows)],
  ];
  return tables.filter((rows) => rows.length > 1).flatMap((rows) => [...aligned(rows), '']);
}

const PREPARE_HEAD = [
  'decision about a Pod',
  'CPU µs',
  'µs',
  'CPU µs beyond gates alone',
  'µs beyond gates alone',
];

const prepareRow = ({ title, cpu, wall, moreCpu, moreWall }: PrepareRow): string[] => [
  title,
  ...[cpu, wall, moreCpu, moreWall].map((micros) => micros.toFixed(2)),
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
