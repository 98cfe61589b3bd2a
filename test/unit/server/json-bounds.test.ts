import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { tooMuchJson } from '../../../src/server/json-bounds.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const judged = (text: string): string | undefined => tooMuchJson(Buffer.from(text));
/** `piece` over and over, as a list of about so many bytes. */
const listOf = (piece: string, bytes: number): string =>
  `[${`${piece},`.repeat(Math.ceil(bytes / (piece.length + 1)))}0]`;
const differentKeys = (bytes: number): string =>
  `{${Array.from({ length: Math.ceil(bytes / 9) }, (_, at) => `"${at.toString(36).padStart(4, '0')}":1`).join(',')}}`;

/** What is refused from 65 KiB on. */
const DENSE: [string, string][] = [
  ['lists never closed', '['.repeat(65 * KIB)],
  ['lists in lists', '['.repeat(33 * KIB) + ']'.repeat(33 * KIB)],
  ['objects in objects', '{"a":'.repeat(20 * KIB)],
  ['empty objects', listOf('{}', 66 * KIB)],
  ['empty lists', listOf('[]', 66 * KIB)],
  ['objects of one key', listOf('{"a":1}', 66 * KIB)],
];

describe('what must not be parsed', () => {
  test.each(DENSE)('%s', (_, text) => {
    expect(judged(text)).toMatch(
      /^it (?:is nested more than 256 levels deep|has \d+ lists, objects and keys in \d+ bytes)/,
    );
  });

  test('what would take too much memory', () => {
    expect(judged(differentKeys(4 * MIB))).toMatch(
      /^it would take about \d\d MiB of memory, at most 32 MiB are allowed$/,
    );
  });

  test('depth counts open levels only, and not within strings', () => {
    const wide = listOf('"a"', 2 * MIB).slice(0, -1);
    const nested = (depth: number): string => `${wide}${'['.repeat(depth - 1)}${']'.repeat(depth)}`;
    expect(judged(nested(256))).toBeUndefined();
    expect(judged(nested(257))).toMatch(/256 levels/);
    expect(judged(`["${'[{:\\"'.repeat(400 * KIB)}"]`)).toBeUndefined();
  });
});

/** What an API server may send. */
const ORDINARY: [string, string][] = [
  ['references', listOf('{"namespace":"a","name":"b-0"}', 3 * MIB)],
  ['the shortest environment', listOf('{"name":"A","value":""}', 1.5 * MIB)],
  [
    'usual environment, twice 1.5 MiB',
    listOf('{"name":"SERVING_OPTION_1","value":"http://cache.svc:8080"}', 3 * MIB),
  ],
  ['short strings', listOf('"ab"', 3 * MIB)],
  ['one long string', `["${'x'.repeat(8 * MIB)}"]`],
  ['JSON in an annotation', `{"annotations":${JSON.stringify(listOf('{}', MIB))}}`],
];

test.each(ORDINARY)('%s may be parsed', (_, text) => expect(judged(text)).toBeUndefined());

test('whatever it is, up to 64 KiB it may be parsed', () => {
  for (const [, text] of DENSE) expect(judged(text.slice(0, 64 * KIB))).toBeUndefined();
});

test('bytes of any kind are judged, and what is allowed is not slow to be judged', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 64 }), (piece) => {
      const bytes = Buffer.alloc(100 * KIB, piece);
      const reason = tooMuchJson(bytes);
      expect(reason === undefined || reason.startsWith('it ')).toBe(true);
    }),
    { numRuns: 50 },
  );
});
