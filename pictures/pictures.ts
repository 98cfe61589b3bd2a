import { join } from 'node:path';
import { cpuChart } from './cpu-chart.ts';
import { readFigures, speedLine } from './figures.ts';
import { gangLife } from './gang-life.ts';
import { guards } from './guards.ts';

export const PICTURES_FOLDER = join(import.meta.dirname, '../docs/pictures');
export const README_FILE = join(import.meta.dirname, '../README.md');

/** Every picture of the documentation, by its file. */
export const PICTURES: Readonly<Record<string, () => string>> = {
  'gang-life.svg': gangLife,
  'guards.svg': guards,
  'cpu-per-review.svg': () => cpuChart(readFigures()),
};

/** README with its line about speed made anew. */
export const withSpeed = (readme: string): string =>
  readme.replace(
    /(<!-- speed -->\n)[^]*?(<!-- \/speed -->)/,
    (_all, begin: string, end: string) => `${begin}${speedLine(readFigures())}\n${end}`,
  );
