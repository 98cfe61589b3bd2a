// `npm run soak:docs [-- FILE]`: takes a run as the one that docs/reliability.md shows, and makes its tables and picture anew.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PICTURES_FOLDER } from '../../pictures/pictures.ts';
import { readSoak, RECORDED, soakChart } from '../../pictures/soak-chart.ts';
import { aligned } from '../measure/figures.ts';
import type { SoakResults } from './results.ts';
import { figuresLine, runLine, tablesOf } from './table.ts';

const PAGE = join(import.meta.dirname, '../../docs/reliability.md');

/** @throws where the page lacks a place for something of the run */
export function withSoak(page: string, results: SoakResults): string {
  const tables = Object.entries(tablesOf(results)).map(([name, rows]) => [name, aligned(rows)] as const);
  for (const [name, lines] of [['run', [runLine(results), '', figuresLine(results)]] as const, ...tables]) {
    const place = new RegExp(`(<!-- bench: soak ${name} -->\n)[^]*?(<!-- end -->)`);
    if (!place.test(page)) throw new Error(`docs/reliability.md has no place for: soak ${name}`);
    page = page.replace(place, (_, begin: string, end: string) => `${begin}\n${lines.join('\n')}\n\n${end}`);
  }
  return page;
}

if (import.meta.main) {
  const [file = 'bench/soak/results.json'] = process.argv.slice(2);
  copyFileSync(file, RECORDED);
  const results = readSoak();
  writeFileSync(PAGE, withSoak(readFileSync(PAGE, 'utf8'), results));
  writeFileSync(join(PICTURES_FOLDER, 'soak.svg'), soakChart(results));
}
