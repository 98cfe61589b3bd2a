import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inLength } from '../../support/length.ts';
import type { Part } from '../../../src/json/unread-lists.ts';
import { parseInPieces, TooDeep } from '../../../src/json/pieces.ts';

/** So long that a document with it in each value is cut wherever it may be cut. */
const LONG = 'x'.repeat(33 * 1024);

interface Parsed {
  readonly value: unknown;
  readonly steps: number;
}

function parse(text: string, ranges?: readonly Part[], maxDepth = 64): Parsed {
  const bytes = Buffer.from(text);
  const all = [{ start: 0, end: bytes.length }];
  const parts = parseInPieces(bytes, ranges ?? all, { encoding: 'utf8', maxDepth });
  for (let steps = 1; ; steps += 1) {
    const { done, value } = parts.next();
    if (done === true) return { value, steps };
  }
}

/** What it comes to, in one form for either way: the text shows the order of keys as well. */
function outcome(work: () => unknown): string {
  try {
    return JSON.stringify(work());
  } catch (thrown) {
    return (thrown as Error).name;
  }
}
const bothWays = (text: string): [string, string] => [
  outcome(() => parse(text).value),
  outcome(() => JSON.parse(text)),
];

describe('a document in pieces is what it is as a whole', () => {
  test.each([
    `["${LONG}",1,"${LONG}",{"a":["${LONG}",{"b":"${LONG}","c":[]},3]},4]`,
    `{"a":"${LONG}","b":{"c":"${LONG}","d":{}},"e":[["${LONG}",1],["${LONG}",2]]}`,
    // The latest of two keys counts, at the place of the first; it may be open where the document is cut.
    `{"a":{"x":"${LONG}","y":1},"b":1,"a":{"z":"${LONG}","w":2}}`,
    `{"a":{"x":"${LONG}","y":1},"a":1}`,
    `{"a":1,"a":{"x":"${LONG}","y":1},"c":2}`,
    `{"b":1,"2":{"x":"${LONG}","y":1},"1":{"x":"${LONG}","y":1}}`,
    `{"__proto__":{"x":"${LONG}","y":1},"a":"${LONG}","__proto__":{"x":"${LONG}","y":2}}`,
    String.raw`{"\u0061\"":{"x":"${LONG}","y":1},"ü":{"x":"${LONG}","y\\":["ä"]}}`,
    ` [ "${LONG}" , [ ] , "${LONG}" , { } ] `,
    `"${LONG}"`,
    // No JSON.
    `["${LONG}",]`,
    `{"a":"${LONG}",}`,
    `[[,"${LONG}",1],"${LONG}"]`,
    `["${LONG}",,1]`,
    `["${LONG}",1}`,
    `{"a":"${LONG}","b"}`,
    `["${LONG}","${LONG}"],1`,
    `["${LONG}",1]]`,
    `["${LONG}",1`,
    `["${LONG}",[ ,"${LONG}"]]`,
    `{"a":["${LONG}",1],"b":{ ,"c":1}}`,
    '',
  ])('%#', (text) => {
    const [pieces, whole] = bothWays(text);
    expect(pieces).toBe(whole);
  });

  const long = fc.constantFrom(LONG, 'short', 'ü', '\\', '"', '[', ',', '__proto__');
  // None that is written with a backslash: V8 14.6 has taken such a key for another one that it had just seen.
  const keys = fc.constantFrom(LONG, 'short', 'a', 'b', '', '1', '7', 'ü', '[', ',', '__proto__');
  const { document } = fc.letrec<{ document: unknown }>((tie) => ({
    document: fc.oneof(
      { maxDepth: 4 },
      long,
      fc.constantFrom(null, 1, true, [], {}),
      fc.array(tie('document'), { maxLength: 4 }),
      fc
        .array(fc.tuple(keys, tie('document')), { maxLength: 4 })
        .map((entries) => Object.fromEntries(entries)),
    ),
  }));

  test('of any document', () => {
    fc.assert(
      fc.property(document, (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(parse(text).value)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: inLength({ short: 200, long: 5_000 }) },
    );
  });

  test('of any document in which something was put in or left out', () => {
    const structure = fc.constantFrom('[', ']', '{', '}', ',', ':', '"', '1', ' ');
    fc.assert(
      fc.property(document, fc.nat(), fc.boolean(), structure, (value, place, remove, put) => {
        const text = JSON.stringify(value);
        const seen = [...text.matchAll(/[[\]{},:"]/g)].map(({ index }) => index);
        const at = seen[place % Math.max(1, seen.length)] ?? 0;
        const changed = text.slice(0, at) + put + text.slice(remove ? at + 1 : at);
        const [pieces, whole] = bothWays(changed);
        expect(pieces).toBe(whole);
      }),
      { numRuns: inLength({ short: 400, long: 10_000 }) },
    );
  });
});

test('no piece is much longer than it may be, however the document is built', () => {
  const list = (length: number, item: unknown): unknown[] => Array.from({ length }, () => item);
  for (const value of [
    list(40_000, { name: 'a', of: [1] }),
    { a: { b: { c: list(40_000, ['some', 'words']) } } },
    Object.fromEntries(Array.from({ length: 40_000 }, (_, index) => [`key-${index}`, { index }])),
    list(4, list(4, list(4_000, { a: 1 }))),
  ]) {
    const text = JSON.stringify(value);
    const { steps, value: parsed } = parse(text);
    expect(steps).toBeGreaterThanOrEqual(Math.floor(text.length / (33 * 1024)));
    expect(JSON.stringify(parsed) === text).toBe(true);
  }
});

test('parts of it may be left out', () => {
  const text = `{"a":[1,2,"${LONG}",3],"b":["${LONG}",4],"c":["${LONG}",5]}`;
  const inside = (from: string, to: string): Part => ({ start: text.indexOf(from), end: text.indexOf(to) });
  const ranges = [
    { start: 0, end: inside('1,2', '],"b"').start },
    { start: inside('1,2', '],"b"').end, end: text.length },
  ];
  expect(parse(text, ranges).value).toEqual({ a: [], b: [LONG, 4], c: [LONG, 5] });
});

test('what is nested deeper than it may be is refused', () => {
  const nested = (depth: number): string => `["${LONG}",${'['.repeat(depth - 1)}${']'.repeat(depth)}`;
  expect(parse(nested(64)).value).toHaveLength(2);
  expect(() => parse(nested(65))).toThrow(TooDeep);
});
