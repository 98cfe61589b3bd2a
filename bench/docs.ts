// `npm run bench:docs -- FILE`: puts the tables that a run has written with --json into docs/benchmarks.md, each between
// the comments that name it. What the run did not measure stays. Figures of a machine that was at work elsewhere are refused.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { disturbed } from './measure/elsewhere.ts';
import { aligned, short, type Figure } from './measure/figures.ts';
import { rewritePage, withPlaces } from './measure/page.ts';
import type { Results } from './results.ts';

const PAGE = join(import.meta.dirname, '..', 'docs', 'benchmarks.md');

/** @throws where the page lacks a place that the run has something for */
export function withTables(page: string, { date, commit, node, machine, rows, tables }: Results): string {
  const stages = new Set(rows.map(({ stage }) => stage));
  const when = [`${date.slice(0, 10)}, ${machine}, Node ${node}, commit ${commit}.`];
  const parts = new Map<string, string[]>(
    Object.entries(tables).map(([name, cells]) => [name, aligned(cells)]),
  );
  for (const stage of stages) {
    parts.set(`${stage} run`, when);
    parts.set(`${stage} goals`, goals(rows.filter((row) => row.stage === stage)));
  }
  for (const [name, lines] of parts) {
    // Only a head, or nothing: not measured.
    if (lines.length === 0 || (tables[name] !== undefined && lines.length < 3)) parts.delete(name);
  }
  return withPlaces(page, PAGE, parts);
}

function goals(rows: readonly Figure[]): string[] {
  const measured = rows.filter(({ limit, value }) => limit !== undefined && value !== null);
  if (measured.length === 0) return [];
  const cells = measured.map(({ name, value, low, high, limit = '', verdict = '' }) => [
    name,
    short(value),
    low === high ? '' : `${short(low)} … ${short(high)}`,
    limit,
    verdict,
  ]);
  return aligned([['goal', 'figure', '95 %', 'limit', 'verdict'], ...cells]);
}

if (import.meta.main) {
  const [file = 'bench/results.json'] = process.argv.slice(2);
  const results = JSON.parse(readFileSync(file, 'utf8')) as Results;
  const disturbance = disturbed(results.elsewhere);
  if (disturbance !== undefined) throw new Error(`${file}: ${disturbance}`);
  rewritePage(PAGE, (page) => withTables(page, results));
}
