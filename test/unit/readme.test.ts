import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { referenceTable } from '../../src/config/reference.ts';
import { errorCatalogue } from '../../src/errors.ts';
import { metricCatalogue } from '../../src/telemetry/metric-catalogue.ts';

const FILE = join(import.meta.dirname, '../../README.md');
const readme = readFileSync(FILE, 'utf8');

const rows = (head: string, lines: string[]): string =>
  [head, head.replace(/[^|]+/g, '---'), ...lines].join('\n');

/** The tables of README.md, by the name in the comments that enclose them. */
const tables: Record<string, string> = {
  settings: referenceTable(),
  metrics: rows(
    '| Metric | Type | Labels | Meaning |',
    Object.entries(metricCatalogue).map(
      ([name, { type, labels, help }]) =>
        `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
    ),
  ),
  errors: rows(
    '| Code | Exit | Meaning |',
    Object.entries(errorCatalogue).map(
      ([code, { exitCode, summary }]) => `| \`${code}\` | ${exitCode} | ${summary} |`,
    ),
  ),
};

const between = (name: string): RegExp => new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- /${name} -->)`);

describe('README.md', () => {
  test('has the tables of the source', () => {
    const expected = Object.entries(tables).reduce(
      (text, [name, table]) => text.replace(between(name), (_all, begin, end) => `${begin}${table}\n${end}`),
      readme,
    );
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, expected);
    else expect(readme).toBe(expected);
    for (const name of Object.keys(tables)) expect(readme).toMatch(between(name));
  });

  test('has exactly two commands that set a fresh machine up', () => {
    expect(readme.match(/^npm ci .*$/gm)).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
  });

  test('links to files that are there', () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map((match) => match[1] ?? '');
    expect(links.length).toBeGreaterThan(8);
    expect(links.filter((link) => !existsSync(join(FILE, '..', link)))).toEqual([]);
  });

  test('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(FILE, '../package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...readme.matchAll(/npm run ([a-z:-]+)/g)].map((match) => match[1] ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});
