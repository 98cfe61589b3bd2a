import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { JsonBounds, tooMuchJson } from '../../../src/json/bounds.ts';

const KIB = 1024;
const MIB = KIB * KIB;
const judged = (text: string): string | undefined => tooMuchJson(Buffer.from(text));
/** `piece` over and over, as a list of about so many bytes. */
const listOf = (piece: string, bytes: number): string =>
  `[${`${piece},`.repeat(Math.ceil(bytes / (piece.length + 1)))}0]`;
const differentKeys = (bytes: number): string =>
  `{${Array.from({ length: Math.ceil(bytes / 9) }, (_, at) => `"${at.toString(36).padStart(4, '0')}":1`).join(',')}}`;

/** What is refused above 4 KiB. */
const DENSE: [string, string][] = [
  ['lists never closed', '['.repeat(5 * KIB)],
  ['lists in lists', '['.repeat(3 * KIB) + ']'.repeat(3 * KIB)],
  ['objects in objects', '{"a":'.repeat(KIB)],
  ['empty objects', listOf('{}', 5 * KIB)],
  ['empty lists', listOf('[]', 5 * KIB)],
  ['objects of one key', listOf('{"a":1}', 5 * KIB)],
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

test('whatever it is, up to 4 KiB it may be parsed', () => {
  for (const [, text] of DENSE) expect(judged(text.slice(0, 4 * KIB))).toBeUndefined();
});

test.each([4.1, 6, 8, 12, 16, 17, 64])(
  '%p KiB with as many lists, objects and keys as are allowed may be parsed, wherever the sample is taken',
  (kib) => {
    const text = listOf('{"a":"bcde"}', kib * KIB);
    for (let run = 0; run < 200; run += 1) expect(judged(text)).toBeUndefined();
  },
);

test('in however many pieces it comes, it is judged as a whole', () => {
  const text = fc.oneof(
    fc.json(),
    fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', 'x'), maxLength: 400 }),
    fc.constantFrom('['.repeat(300), `${'['.repeat(200)}"]]]"${'['.repeat(57)}`, '{},'.repeat(50)),
  );
  const verdict = (pieces: readonly Buffer[]): string | undefined => {
    const bounds = new JsonBounds();
    for (const piece of pieces) {
      const reason = bounds.push(piece);
      if (reason !== undefined) return reason;
    }
    return bounds.verdict();
  };
  fc.assert(
    fc.property(text, fc.array(fc.nat(400)), (whole, places) => {
      const bytes = Buffer.from(whole);
      const ends = [
        ...places.map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b),
        bytes.length,
      ];
      const pieces = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
      expect(verdict(pieces)).toBe(verdict([bytes]));
    }),
    { numRuns: 1000 },
  );
});
