import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { format, resolveConfig } from 'prettier';
import { rules } from '../../../src/api/rules.ts';

const FILE = join(import.meta.dirname, '../../../docs/rules.md');

const INTRODUCTION = `# Rules

Every rule by which Muster refuses an object. The name stands in brackets at the end of each message. Code 422
means that the object is wrong, 403 that this account, or anybody at this moment, may not do it. Where an answer
names several faults its code is 422 as soon as one of them has it.

This page is written from \`src/api/rules.ts\`. After a change of the rules:
\`UPDATE_DOCS=1 npm run test:unit\`
`;

async function page(): Promise<string> {
  const cell = (text: string): string =>
    text.replaceAll('|', '\\|').replaceAll('_', '\\_').replaceAll('*', '\\*');
  const rows = Object.entries(rules).map(
    ([name, { code, kind, says, fix }]) =>
      `| \`${name}\` | ${code} | ${kind} | ${cell(says)} | ${cell(fix)} |`,
  );
  const table = ['| Rule | Code | Kind | What it says | The way out |', '| - | - | - | - | - |', ...rows];
  const options = (await resolveConfig(FILE)) ?? {};
  return format(`${INTRODUCTION}\n${table.join('\n')}\n`, { ...options, parser: 'markdown' });
}

test('docs/rules.md is what the source says', async () => {
  const wanted = await page();
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, wanted);
  expect(readFileSync(FILE, 'utf8')).toBe(wanted);
});
