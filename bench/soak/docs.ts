// `npm run soak:docs [-- FILE]`: docs/reliability.md shows this run from now on. Its picture is drawn by npm right after.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { aligned } from '../measure/figures.ts';
import { rewritePage, withPlaces } from '../measure/page.ts';
import { readSoak, RECORDED, type SoakResults } from './results.ts';
import { figuresLine, runLine, tablesOf } from './table.ts';

const PAGE = join(import.meta.dirname, '../../docs/reliability.md');

/** @throws where the page lacks a place for something of the run */
export function withSoak(page: string, results: SoakResults): string {
  const tables = Object.entries(tablesOf(results)).map(([name, rows]) => [name, aligned(rows)] as const);
  const all = [['run', [runLine(results), '', figuresLine(results)]] as const, ...tables];
  return withPlaces(
    page,
    PAGE,
    all.map(([name, lines]) => [`soak ${name}`, lines]),
  );
}

if (import.meta.main) {
  const [file = 'bench/soak/results.json'] = process.argv.slice(2);
  copyFileSync(file, RECORDED);
  rewritePage(PAGE, (page) => withSoak(page, readSoak()));
}
