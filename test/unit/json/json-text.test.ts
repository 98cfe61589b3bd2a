import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { jsonText, parsedJson, printableJson } from '../../../src/json/json.ts';
import { printable } from '../../../src/text/printable.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '\u2028', '\u007f'),
);

test('a text is written as JSON.stringify writes it', () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(jsonText(given)).toBe(JSON.stringify(given));
      expect(printableJson(given)).toBe(JSON.stringify(printable(given)));
    }),
  );
  for (const length of [255, 256, 257, 5_000]) {
    expect(jsonText('x'.repeat(length))).toBe(JSON.stringify('x'.repeat(length)));
    expect(printableJson('x'.repeat(length), 320)).toBe(JSON.stringify(printable('x'.repeat(length), 320)));
  }
});

test.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['{', undefined],
  ['', undefined],
])('%j as somebody wrote it is %j', (text, value) => {
  expect(parsedJson(text)).toEqual(value);
});
