/** docs/reference is what the source says: each of its tables is made from it. `UPDATE_DOCS=1` writes them anew. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { topics } from '../../../../src/cli/explain/topics.ts';
import { referenceTables } from '../../../support/reference-tables.ts';

const FOLDER = join(import.meta.dirname, '../../../../docs/reference');
const PAGES = readdirSync(FOLDER);
const BLOCK = /<!-- ([\w -]+) -->\n[^]*?<!-- \/\1 -->/g;

let tables: Awaited<ReturnType<typeof referenceTables>>;
beforeAll(async () => {
  tables = await referenceTables();
});

describe.each(PAGES)('docs/reference/%s', (page) => {
  const file = join(FOLDER, page);

  test('has the tables of the source', () => {
    const text = readFileSync(file, 'utf8');
    const wanted = text.replace(
      BLOCK,
      (_block, name: string) => `<!-- ${name} -->\n\n${tables.get(name)?.text ?? ''}\n\n<!-- /${name} -->`,
    );
    // Not where nothing changes: another test writes the examples of the same page.
    if (process.env['UPDATE_DOCS'] === '1' && text !== wanted) writeFileSync(file, wanted);
    else expect(text).toBe(wanted);
    const names = [...wanted.matchAll(BLOCK)].map(([, name]) => name);
    const own = [...tables].flatMap(([name, table]) => (table.page === page ? [name] : []));
    expect(names.sort()).toEqual(own.sort());
  });
});

test('every table has a page', () => {
  expect(topics().filter((topic) => !PAGES.includes(topic.page))).toEqual([]);
});

test('every entry says what it means', () => {
  for (const { columns, entries, name: topic } of topics()) {
    expect([topic, entries.length]).not.toEqual([topic, 0]);
    const meaning = columns.findIndex(({ key }) => key === 'meaning' || key === 'says');
    const silent = entries.filter(({ cells }) => (cells[meaning] ?? '') === '').map(({ name }) => name);
    expect({ topic, silent }).toEqual({ topic, silent: [] });
    expect(entries.flatMap(({ cells }) => cells).filter((cell) => /\bundefined\b/.test(cell))).toEqual([]);
  }
});
