/** The documentation stays short enough to be read: what is written by hand is counted, what is made from the source is not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const DOCS = join(import.meta.dirname, '../../docs');

/** Written by their tests from beginning to end. */
const MADE_WHOLE = ['reference/attacks.md', 'reference/values.md'];

/** Tables between marks, those of the benches, and what the program prints. */
const MADE = [
  /<!-- bench: [^>]*-->[^]*?<!-- end -->/g,
  /<!-- ([\w-]+(?: [\w-]+)*)(?::[^>]*)? -->\n[^]*?<!-- \/\1 -->/g,
  /```console\n\$ muster [^]*?```\n/g,
];

const writtenIn = (page: string): string => MADE.reduce((text, made) => text.replaceAll(made, ''), page);

const pages = ['', 'reference']
  .flatMap((folder) => readdirSync(join(DOCS, folder)).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.md') && !MADE_WHOLE.includes(file))
  .map((file) => ({ file, bytes: Buffer.byteLength(writtenIn(readFileSync(join(DOCS, file), 'utf8'))) }));

describe('docs, without decision records and what is made from the source', () => {
  test('is at most 300 KB', () => {
    expect(pages.length).toBeGreaterThan(15);
    expect(pages.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(300_000);
  });

  test('has no page above 28 KB', () => {
    expect(pages.filter(({ bytes }) => bytes > 28_000)).toEqual([]);
  });
});

test('what is made is told by its marks', () => {
  const page =
    'a\n<!-- rows: made from x -->\n| 1 |\n<!-- /rows -->\nb\n<!-- tested: c -->\n```sh\nd\n```\n' +
    '<!-- bench: e run -->\n2026\n<!-- end -->\n```console\n$ muster version\n1\n```\n';
  expect(writtenIn(page)).toBe('a\n\nb\n<!-- tested: c -->\n```sh\nd\n```\n\n');
});
