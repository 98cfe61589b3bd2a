/**
 * Makes the chart from manifests/: `node charts/make.ts`. What values do not reach stays as it is written there, comments
 * included; the values and their schema are made from values-schema.ts. A test compares (test/unit/chart).
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { dashboards } from './sources.ts';
import { madeTemplates } from './templates.ts';
import { valuesPage } from './values-page.ts';
import { valuesDefaults, valuesJsonSchema } from './values-files.ts';

const CHART = join(import.meta.dirname, 'muster');
const PAGE = '../../docs/reference/values.md';

/** Templates that are written by hand, beside the partials. */
const BY_HAND = /(^|\/)_|^(config|dashboards|extra-objects|service-monitor)\.yaml$|^NOTES\.txt$/;

/** Every file of the chart that is made, by its path in the chart. */
export const madeChart = (): ReadonlyMap<string, string> =>
  new Map([
    ...[...madeTemplates()].map(([name, text]) => [`templates/${name}`, text] as const),
    ...dashboards().map(([name, text]) => [`dashboards/${name}`, text] as const),
    [PAGE, valuesPage()],
    ['values.yaml', valuesDefaults()],
    ['values.schema.json', `${JSON.stringify(valuesJsonSchema(), null, 2)}\n`],
  ]);

/** Templates that neither a person nor this program has written: their manifest is gone. */
export const leftOver = (): readonly string[] => {
  const made = madeChart();
  return readdirSync(join(CHART, 'templates'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(CHART, 'templates').length + 1))
    .filter((name) => !BY_HAND.test(name) && !made.has(`templates/${name}`));
};

export function writeChart(): void {
  for (const [name, text] of madeChart()) {
    mkdirSync(dirname(join(CHART, name)), { recursive: true });
    writeFileSync(join(CHART, name), text);
  }
  for (const name of leftOver()) rmSync(join(CHART, 'templates', name));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeChart();
