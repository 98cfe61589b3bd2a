import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { OBSERVED, SEEN_WITH } from '../../support/observed-flux.ts';
import { fluxSettingRows } from '../../../src/preparers/flux/settings.ts';

const FILE = join(import.meta.dirname, '../../../docs/hpc.md');
const SEEN = /<!-- observed -->\n[^]*<!-- \/observed -->/;
const PLACE = /<!-- settings -->\n[^]*<!-- \/settings -->/;

test('docs/hpc.md has the settings of the source', async () => {
  const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``);
  const rows = Object.entries(fluxSettingRows).map(([name, { form, byDefault, meaning, environment }]) => {
    const cells = [code(name), form, code(byDefault), meaning, code(environment)];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  const table = ['| Setting | Must be | Default | Meaning | Variable |', '| - | - | - | - | - |', ...rows];
  const text = readFileSync(FILE, 'utf8');
  const filled = text.replace(PLACE, () => `<!-- settings -->\n\n${table.join('\n')}\n\n<!-- /settings -->`);
  const wanted = await format(filled, { ...(await resolveConfig(FILE)), parser: 'markdown' });
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, wanted);
  expect(readFileSync(FILE, 'utf8')).toBe(wanted);
  expect(text).toMatch(PLACE);
});

test('docs/hpc.md has what the real Flux was seen to do', async () => {
  const rows = OBSERVED.map(({ when, did }) => `| ${when} | ${did} |`);
  const table = [`Seen with ${SEEN_WITH}:`, '', '| When | Flux |', '| - | - |', ...rows].join('\n');
  const text = readFileSync(FILE, 'utf8');
  expect(text).toMatch(SEEN);
  const filled = text.replace(SEEN, () => `<!-- observed -->\n\n${table}\n\n<!-- /observed -->`);
  const wanted = await format(filled, { ...(await resolveConfig(FILE)), parser: 'markdown' });
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, wanted);
  expect(readFileSync(FILE, 'utf8')).toBe(wanted);
});
