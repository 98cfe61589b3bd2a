import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

/**
 * The wire vectors V01 to V57 are the list of what a webhook server has to withstand. Each must stand in the name of
 * a test over a real socket, here or in the file named below, so that none gets lost.
 */
const LAST = 57;
const ROOT = join(import.meta.dirname, '../../..');
const HERE = ['test/component/server', 'test/component/serve'];

const elsewhere: Readonly<Record<string, string>> = {
  V16: 'test/component/tls/handshake.test.ts',
  V17: 'test/component/tls/handshake.test.ts',
  V18: 'test/component/tls/handshake.test.ts',
};

/** The numbers in names of tests and groups, which are string literals: `V14, V15: …`, `… (V16)`. */
function numbersIn(file: string): string[] {
  const literals = readFileSync(join(ROOT, file), 'utf8').match(
    /(['"`])(?:V\d\d(?:, V\d\d)*: |[^'"`\n]*\(V\d\d\))/g,
  );
  return (literals ?? []).flatMap((literal) => literal.match(/\bV\d\d\b/g) ?? []);
}

const vectors = Array.from({ length: LAST }, (_, index) => `V${String(index + 1).padStart(2, '0')}`);

test('every vector is covered by a test that bears its number', () => {
  const files = HERE.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => file.endsWith('.test.ts') && file !== 'vectors.test.ts')
      .map((file) => `${folder}/${file}`),
  );
  const covered = new Set(files.flatMap(numbersIn));
  expect(vectors.filter((vector) => !covered.has(vector) && elsewhere[vector] === undefined)).toEqual([]);
  expect([...covered].filter((vector) => !vectors.includes(vector))).toEqual([]);
});

test.each(Object.entries(elsewhere))('%s is covered by %s', (vector, file) => {
  expect(existsSync(join(ROOT, file))).toBe(true);
  expect(numbersIn(file)).toContain(vector);
});
