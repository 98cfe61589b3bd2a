import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The figures of docs/benchmarks.md, for the chart and for the line about speed: `npm run bench:docs` puts them there. */
export interface Figures {
  /** Such as `2026-11-21, 2 cores, Node 26.10`. */
  readonly measuredOn: string;
  /** CPU time of the server for one review, in microseconds. */
  readonly cpuMicros: readonly {
    readonly review: string;
    readonly bare: number;
    readonly muster: number;
    readonly controllerRuntime: number;
    /** The same as multiples of the bare server's: medians of quotients, which are steadier than quotients of medians. */
    readonly timesBare: { readonly muster: number; readonly controllerRuntime: number };
  }[];
}

const PAGE = join(import.meta.dirname, '../docs/benchmarks.md');

/** @throws Error where the page has no such figures */
export function readFigures(page = readFileSync(PAGE, 'utf8')): Figures {
  const between = (name: string): string =>
    new RegExp(`<!-- bench: ${name} -->\\s*([^]*?)\\s*<!-- end -->`).exec(page)?.[1] ?? '';
  // Date, machine, Node; what stands behind a semicolon is about the run.
  const measuredOn = between('admission run').split('; ')[0]?.replace(/\.$/, '') ?? '';
  if (measuredOn === '') throw new Error('docs/benchmarks.md does not say where its reviews were measured');
  return figuresOf(between('reviews'), measuredOn);
}

const SERVERS = {
  'bare node:https': 'bare',
  Muster: 'muster',
  'controller-runtime': 'controllerRuntime',
} as const;
type Server = (typeof SERVERS)[keyof typeof SERVERS];

/**
 * Reads the table of the reviews.
 * @throws Error where the table has no such columns or lacks a server
 */
export function figuresOf(report: string, measuredOn: string): Figures {
  const rows = report
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const head = rows.find((row) => row[0] === 'review' && row.includes('CPU µs'));
  if (head === undefined)
    throw new Error('no table with the columns "review" and "CPU µs": is this the table of the reviews?');
  const [micros, times] = [head.indexOf('CPU µs'), head.indexOf('× bare')];
  const found = new Map<string, Partial<Record<Server, { micros: number; times: number }>>>();
  let review = '';
  for (const row of rows.slice(rows.indexOf(head) + 1)) {
    const server = SERVERS[(row[1] ?? '') as keyof typeof SERVERS];
    if (row[0] !== '') review = row[0] ?? '';
    if (server === undefined || !/^\d+ KiB$/.test(review)) continue;
    const cell = (column: number): number => parseFloat(row[column]?.replaceAll(',', '') ?? '');
    found.set(review, {
      ...found.get(review),
      [server]: { micros: Math.round(cell(micros)), times: cell(times) },
    });
  }
  const cpuMicros = [...found].map(([of, { bare, muster, controllerRuntime: peer }]) => {
    if (!bare || !muster || !peer) throw new Error(`${of}: one of the three servers is missing`);
    const timesBare = { muster: muster.times, controllerRuntime: peer.times };
    return {
      review: of,
      bare: bare.micros,
      muster: muster.micros,
      controllerRuntime: peer.micros,
      timesBare,
    };
  });
  return { measuredOn, cpuMicros: cpuMicros.sort((a, b) => parseInt(a.review, 10) - parseInt(b.review, 10)) };
}

/** README's one line about speed. */
export function speedLine({ measuredOn, cpuMicros }: Figures): string {
  const of = (wanted: string): Figures['cpuMicros'][number] => {
    const found = cpuMicros.find(({ review }) => review === wanted);
    if (found === undefined) throw new Error(`docs/benchmarks.md has no ${wanted}`);
    return found;
  };
  const { muster, controllerRuntime, timesBare } = of('8 KiB');
  return (
    `A review of 8 KiB costs ${muster} µs of CPU, ${timesBare.muster.toFixed(2)} × a bare \`node:https\` server that decides nothing, ` +
    `and 1/${(controllerRuntime / muster).toFixed(0)} of the same webhook on Go's controller-runtime (measured on ${measuredOn}).`
  );
}
