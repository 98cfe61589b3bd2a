/** What the benches of the loop read out of an API server's audit log. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { countWrites } from '../../bench/loop/writes.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-writes-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const line = (resource: string, name: string, given: object = {}): string =>
  JSON.stringify({
    verb: 'patch',
    userAgent: 'muster',
    objectRef: { resource, namespace: 'ml', name, ...('subresource' in given && given) },
    responseStatus: { code: 200 },
    ...given,
  });
const status = (name: string, code = 200): string =>
  line('podgangs', name, { subresource: 'status', responseStatus: { code } });
const counted = (...lines: readonly string[]): ReturnType<typeof countWrites> => {
  const file = join(folder, 'audit.log');
  writeFileSync(file, lines.map((one) => `${one}\n`).join(''));
  return countWrites(file, 'ml');
};
const NONE = { made: 0, references: 0, status: 0, toldAgain: 0, gates: 0, events: 0, refused: 0 };

test('writes are counted by what they are of, those of others and of other namespaces left out', () => {
  const found = counted(
    line('podgangs', 'a', { verb: 'create' }),
    status('a'),
    line('podgangs', 'a'),
    status('a'),
    line('pods', 'a-0'),
    line('events', 'a.1', { verb: 'create' }),
    line('pods', 'a-0', { userAgent: 'bare' }),
    line('pods', 'a-0').replace('"ml"', '"other"'),
  );
  expect(found).toEqual({ ...NONE, made: 1, references: 1, status: 2, gates: 1, events: 1 });
});

test('a gang is told again where a second status comes before its references, and was not refused', () => {
  expect(counted(status('a'), status('b'), line('podgangs', 'a'), status('a'))).toMatchObject({
    toldAgain: 0,
  });
  expect(counted(status('a'), status('a'), line('podgangs', 'a'), status('a'))).toMatchObject({
    toldAgain: 1,
  });
  expect(counted(status('a'), status('a', 409), line('podgangs', 'a'))).toMatchObject({
    ...{ toldAgain: 0, refused: 1 },
  });
});

test('what comes after the last line break is still being written', () => {
  const file = join(folder, 'half.log');
  writeFileSync(file, `${line('pods', 'a-0')}\n${line('pods', 'a-1').slice(0, 40)}`);
  expect(countWrites(file, 'ml')).toEqual({ ...NONE, gates: 1 });
});

test('a write that nobody expected is an error', () => {
  expect(() => counted(line('secrets', 'a'))).toThrow('Muster wrote secrets, which nobody expected');
});
