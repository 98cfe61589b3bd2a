/** The pages of docs/backends: each has the table of its backend's settings, as the source has them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { coschedulingSettings } from '../../../src/backends/coscheduling/config.ts';
import { kaiSettings } from '../../../src/backends/kai/config.ts';
import { KUBE_SETTINGS } from '../../../src/backends/native/config.ts';
import type { ProfileSettings } from '../../../src/backends/profile-config.ts';
import { volcanoSettings } from '../../../src/backends/volcano/config.ts';

const PAGES: Readonly<Record<string, ProfileSettings>> = {
  coscheduling: coschedulingSettings,
  kai: kaiSettings,
  kube: KUBE_SETTINGS,
  volcano: volcanoSettings,
};
const SETTINGS = /(<!-- settings -->\n)[^]*?(<!-- \/settings -->)/;

const tableOf = (settings: ProfileSettings): string =>
  [
    '| Key | Type | Default | Meaning |',
    '|---|---|---|---|',
    ...Object.entries(settings).map(([key, setting]) => {
      const fallback = setting.default === undefined ? 'none' : `\`${JSON.stringify(setting.default)}\``;
      return `| \`${key}\` | ${setting.type} | ${fallback} | ${setting.description} |`;
    }),
  ].join('\n');

test.each(Object.entries(PAGES))('docs/backends/%s.md has its settings', (name, settings) => {
  const file = join(import.meta.dirname, `../../../docs/backends/${name}.md`);
  const page = readFileSync(file, 'utf8');
  expect(page).toMatch(SETTINGS);
  const wanted = page.replace(SETTINGS, (_all, begin, end) => `${begin}${tableOf(settings)}\n${end}`);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(file, wanted);
  else expect(page).toBe(wanted);
});

test.each(Object.keys(PAGES))('docs/backends/%s.md is linked from docs/backends.md', (name) => {
  const index = readFileSync(join(import.meta.dirname, '../../../docs/backends.md'), 'utf8');
  expect(index).toContain(`(backends/${name}.md)`);
  expect(
    existsSync(
      join(import.meta.dirname, `../../../src/backends/${name === 'kube' ? 'native' : name}/backend.ts`),
    ),
  ).toBe(true);
});
