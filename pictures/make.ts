/**
 * `npm run docs:pictures` draws docs/pictures anew. With a file, `npm run docs:pictures -- bench.txt "2026-11-21, 2
 * cores"`, it first takes the figures from what `npm run bench` printed into that file, and where it was measured.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIGURES_FILE, figuresOf } from './figures.ts';
import { PICTURES, PICTURES_FOLDER, SPEED_PAGES, withSpeed } from './pictures.ts';

const [report, measuredOn] = process.argv.slice(2);
if (report !== undefined) {
  if (!measuredOn)
    throw new Error('say where it was measured: npm run docs:pictures -- FILE "DATE, MACHINE"');
  const figures = figuresOf(readFileSync(report, 'utf8'), measuredOn);
  writeFileSync(FIGURES_FILE, `${JSON.stringify(figures, null, 2)}\n`);
}
for (const [name, draw] of Object.entries(PICTURES)) writeFileSync(join(PICTURES_FOLDER, name), draw());
for (const page of SPEED_PAGES) {
  const file = join(import.meta.dirname, '..', page);
  writeFileSync(file, withSpeed(readFileSync(file, 'utf8')));
}
