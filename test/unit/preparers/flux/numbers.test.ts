/** The vectors and pitfalls of Flux inside a gang have numbers, and each has a test that says so in its name. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { FLUX } from '../../../../src/preparers/flux/names.ts';

const ROOT = join(import.meta.dirname, '../../../..');

test.each([
  ['vector', 20],
  ['pitfall', 21],
])('each %s has a test', async (what, count) => {
  const files = ['component/hpc/scripts.test.ts', 'cluster/hpc.test.ts'];
  const units = await readdir(join(ROOT, 'test/unit/preparers'), { recursive: true });
  files.push(...units.filter((name) => name.endsWith('.ts')).map((name) => join('unit/preparers', name)));
  const named = new Set<number>();
  for (const file of files) {
    const text = await readFile(join(ROOT, 'test', file), 'utf8');
    for (const [, numbers = ''] of text.matchAll(new RegExp(`${what}s? (\\d+(?:(?:, | and )\\d+)*)`, 'g')))
      for (const number of numbers.split(/, | and /)) named.add(Number(number));
  }
  expect([...named].sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
});

test('pitfall 16: docs/hpc.md tells which port a NetworkPolicy has to let', async () => {
  const text = (await readFile(join(ROOT, 'docs', 'hpc.md'), 'utf8')).replace(/\s+/g, ' ');
  expect(text).toMatch(new RegExp(`TCP on port ${FLUX.port} .*?NetworkPolicy has to let`));
});
