import { join } from 'node:path';
import { readCluster } from '../bench/cluster/results.ts';
import { readSoak } from '../bench/soak/results.ts';
import { clusterChart } from './cluster-chart.ts';
import { cpuChart } from './cpu-chart.ts';
import { dashboardPicture } from './dashboard.ts';
import { readFigures, speedLine } from './figures.ts';
import { gangLife } from './gang-life.ts';
import { guards } from './guards.ts';
import { rooms } from './rooms.ts';
import { soakChart } from './soak-chart.ts';

export const PICTURES_FOLDER = join(import.meta.dirname, '../docs/pictures');

/** Every picture of the documentation, by its file. */
export const PICTURES: Readonly<Record<string, () => string>> = {
  'gang-life.svg': gangLife,
  'guards.svg': guards,
  'rooms.svg': rooms,
  'cluster.svg': () => clusterChart(readCluster()),
  'soak.svg': () => soakChart(readSoak()),
  'dashboard.svg': dashboardPicture,
  'cpu-per-review.svg': () => cpuChart(readFigures()),
};

export const SPEED_PAGES = [
  'README.md',
  'docs/benchmarks.md',
  'docs/adr/0012-webhook-policies-and-loop-outside-the-operator.md',
];

/** A page with its line about speed made anew. */
export const withSpeed = (page: string): string =>
  page.replace(
    /(<!-- speed -->\n)[^]*?(<!-- \/speed -->)/,
    (_all, begin: string, end: string) => `${begin}${speedLine(readFigures())}\n${end}`,
  );
