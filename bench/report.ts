import type { Goal } from './goals.ts';
import { medianOf, ratioOf, scenarios, type Measurements, type Round } from './scenarios.ts';
import type { ServerName } from './servers.ts';

const NAMES: Readonly<Record<ServerName, string>> = {
  bare: 'bare node:https',
  muster: 'Muster',
  peer: 'controller-runtime',
};

const HEAD = ['review', 'server', 'per s', 'CPU µs', '× bare', 'p50 ms', 'p99 ms', 'RSS MiB', 'others'];

/** One line per scenario and server, Markdown, ready for docs/benchmarks.md. */
export function tableOf(measurements: Measurements): string[] {
  const rows = scenarios.flatMap(({ id, title }) => {
    const rounds = measurements.get(id) ?? [];
    const present = (['bare', 'muster', 'peer'] as const).filter((name) => rounds[0]?.[name] !== undefined);
    return present.map((name, index) => rowOf(index === 0 ? title : '', name, rounds));
  });
  return rows.length === 0 ? [] : aligned([HEAD, ...rows]);
}

function rowOf(title: string, name: ServerName, rounds: readonly Round[]): string[] {
  const figure = (of: Parameters<typeof medianOf>[2], digits: number): string =>
    number(medianOf(rounds, name, of), digits);
  return [
    title,
    NAMES[name],
    figure('perSecond', 0),
    figure('cpuMicros', 0),
    number(ratioOf(rounds, name, 'bare', 'cpuMicros'), 2),
    figure('p50', 2),
    figure('p99', 2),
    figure('rssMiB', 0),
    percent(medianOf(rounds, name, 'others')),
  ];
}

/** Above it, what others took of the server's core shows in times and rates; CPU per review suffers less. */
const MAX_OTHERS = 0.05;
const MAX_CLIENT = 0.9;

/** What speaks against the figures of this run. */
export function warnings(measurements: Measurements): string[] {
  const results = [...measurements.values()].flat().flatMap((round) => Object.values(round));
  const noisy = results.filter(({ others }) => others > MAX_OTHERS).length;
  const bound = results.filter(({ client }) => client > MAX_CLIENT).length;
  const of = `of ${results.length} windows`;
  return [
    ...(noisy === 0
      ? []
      : [`noisy: in ${noisy} ${of} others took more than ${percent(MAX_OTHERS)} of the core`]),
    ...(bound === 0
      ? []
      : [`in ${bound} ${of} the load generator was busy all the time and may be the limit`]),
  ];
}

/** The goals, one a line, and their count. */
export function goalLines(goals: readonly Goal[], quick: boolean): string[] {
  const count = (verdict: Goal['verdict']): number => goals.filter((goal) => goal.verdict === verdict).length;
  const rows = goals.map(({ what, figure, limit, verdict }) => [
    what,
    figure,
    limit,
    quick ? 'not judged' : verdict,
  ]);
  const lines = aligned([['goal', 'figure', 'limit', 'verdict'], ...rows]);
  if (quick) return lines;
  return [
    ...lines,
    '',
    `${count('PASS')} passed, ${count('FAIL')} failed, ${count('NOT MEASURED')} not measured`,
  ];
}

const number = (value: number, digits: number): string => (Number.isNaN(value) ? '–' : value.toFixed(digits));
const percent = (share: number): string => (Number.isNaN(share) ? '–' : `${(share * 100).toFixed(0)} %`);

/** A Markdown table whose columns also line up in a terminal; numbers to the right. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const head = rows[0] ?? [];
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)));
  const right = head.map((_, column) => rows.slice(1).every((row) => /^([–\d]|≤|≥)/.test(row[column] ?? '')));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (right[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `| ${widths.map((width, column) => (right[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`;
  return [line(head), rule, ...rows.slice(1).map(line)];
}
