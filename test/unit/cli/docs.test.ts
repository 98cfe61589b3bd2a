import { describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { supportedSchedulers } from '../../../src/backends/registry.ts';
import { verbs } from '../../../src/cli/verbs.ts';
import { muster } from './fake-io.ts';

const FILES: readonly (readonly [file: string, atLeast: number])[] = [
  ['README.md', 1],
  ['docs/reference/cli.md', 4],
  ['docs/configuration.md', 1],
  ['docs/first-hour.md', 1],
  ['docs/migration.md', 4],
];
const BLOCK = /```console\n\$ muster ([^\n]*)\n([\s\S]*?)```\n/g;

/** What the shell would show: both streams, and an exit code that is not 0. */
async function shown(command: string): Promise<string> {
  const { code, out, err } = await muster(command.split(' '));
  const text = [out, err].map((part) => part.replace(/\n+$/, '')).filter((part) => part !== '');
  return `${[...text, ...(code === 0 ? [] : [`(exit code ${code})`])].join('\n')}\n`;
}

async function written(text: string): Promise<string> {
  let result = text;
  for (const [block, command = ''] of text.matchAll(BLOCK)) {
    const now = `\`\`\`console\n$ muster ${command}\n${await shown(command)}\`\`\`\n`;
    result = result.replace(block, () => now);
  }
  return result;
}

test.each(FILES)('%s shows what the program prints', async (file, atLeast) => {
  const text = readFileSync(file, 'utf8');
  const now = await written(text);
  expect([...now.matchAll(BLOCK)].length).toBeGreaterThanOrEqual(atLeast);
  if (process.env['UPDATE_DOCS'] === '1' && text !== now) writeFileSync(file, now);
  else expect(text).toBe(now);
});

describe('docs/reference/cli.md', () => {
  test.each(verbs.map(({ name }) => name))('has a section about %s, with its flags', (name) => {
    const text = readFileSync('docs/reference/cli.md', 'utf8');
    expect(text).toContain(`\n## ${name}\n\n<!-- verb ${name} -->\n`);
  });
});

test('docs/migration.md previews every backend that comes with Muster', () => {
  const text = readFileSync('docs/migration.md', 'utf8');
  const previewed = [...text.matchAll(/\n\$ muster review .*--backend (\S+)/g)].map(([, name]) => name);
  expect([...new Set(previewed)].sort()).toEqual([...supportedSchedulers().names].sort());
});
