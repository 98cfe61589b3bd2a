// `npm run soak:docs [-- FILE]`: docs/reliability.md shows this run from now on. Its picture is drawn by npm right after.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aligned } from '../measure/figures.ts';
import { readSoak, RECORDED, type SoakResults } from './results.ts';
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
  writeFileSync(PAGE, withSoak(readFileSync(PAGE, 'utf8'), readSoak()));
}
