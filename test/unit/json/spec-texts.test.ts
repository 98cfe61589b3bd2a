import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { isObject, own } from '../../../src/json/json.ts';
import { MAX_SPEC_LENGTH, MOST_SPECS, SpecTexts } from '../../../src/json/spec-texts.ts';
import { searchLength } from '../../support/length.ts';

const review = (spec: unknown, metadata: unknown = { name: 'a' }): string =>
  JSON.stringify({ request: { uid: 'u', object: { metadata, spec, status: {} }, oldObject: null } });

const specOf = (body: unknown): unknown => own(own(own(body, 'request'), 'object'), 'spec');

/** Whether the containers of a body are those of an earlier one, so that they were not parsed again. */
const shares = (texts: SpecTexts, first: string, second: string): boolean => {
  const before = own(specOf(texts.parse(first)), 'containers');
  const after = own(specOf(texts.parse(second)), 'containers');
  return before !== undefined && before === after;
};

const spec = { containers: [{ name: 'main', args: ['--a'] }], hostname: 'worker-0', subdomain: 'worker' };
const go = (json: string): string =>
  json.replaceAll('&', String.raw`\u0026`).replaceAll('<', String.raw`\u003c`);

test('a Pod of the same template is read without its spec, with its own name, labels and host name', () => {
  const texts = new SpecTexts();
  const next = review({ ...spec, hostname: 'worker-17' }, { name: 'b', labels: { index: '17' } });
  expect(shares(texts, review(spec), next)).toBe(true);
  expect(texts.parse(next)).toEqual(JSON.parse(next));
});

test.each([
  ['without a host name', { containers: [{ name: 'main' }] }, (text: string) => text],
  ['as an API server writes it', { containers: [{ args: ['a && b < c'] }] }, go],
])('a spec is known %s', (_, same, written) => {
  const text = written(review(same));
  expect(shares(new SpecTexts(), text, text)).toBe(true);
});

test.each([
  ['another value', review({ ...spec, hostNetwork: true })],
  ['no host name', review({ ...spec, hostname: '' })],
  ['an escaped host name', review({ ...spec, hostname: 'a"b' })],
  ['a second spec', review(spec).replace('"status":{}', '"spec":{"hostNetwork":true}')],
  ['a second object', review(spec).replace('"oldObject":null', '"object":{"spec":{}}')],
  ['a spec elsewhere', review({ hostNetwork: true }, { spec })],
])('%s is read as it is', (_, text) => {
  const texts = new SpecTexts();
  expect(shares(texts, review(spec), text)).toBe(false);
  expect(texts.parse(text)).toEqual(JSON.parse(text));
});

test.each([
  ['a fault before', review(spec).replace('"uid":"u"', '"uid":"u",')],
  ['an end within the spec', review(spec).slice(0, 120)],
])('%s is no JSON', (_, text) => {
  const texts = new SpecTexts();
  texts.parse(review(spec));
  expect(() => texts.parse(text)).toThrow(SyntaxError);
});

/** Documents that are nearly the same, and such that are none. */
const pieces = fc.array(
  fc.constantFrom(
    ...['"spec":', '"spec" :', '"hostname":', '"x":', '"a-0"', '"b-1"', '{"spec":{"hostname":"a-0"}}'],
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '\\',
      '"',
      ' ',
      '"request":',
      '"object":',
      '{"hostname":"b-1"}',
      'ü',
      '1',
    ],
  ),
  { maxLength: 14 },
);
const document = fc.oneof(
  pieces.map((parts) => parts.join('')),
  fc
    .tuple(pieces, fc.constantFrom('"n":1,', '"n":1.0,', '"s":"<ü",', '"hostname":"b-1",', ''), pieces)
    .map(
      ([a, inside, b]) =>
        `{"request":{"object":{${a.join('')}"spec":{${inside}"hostname":"a-0"}${b.join('')}}}}`,
    ),
  fc.json({ maxDepth: 3 }).map((text) => `{"request":{"object":{"spec":{"x":${text},"hostname":"a-0"}}}}`),
);
const read = (parse: (text: string) => unknown, text: string): unknown => {
  try {
    return parse(text);
  } catch {
    return 'no JSON';
  }
};

test('whatever was seen before, a body is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.array(document, { minLength: 2, maxLength: 8 }), (all) => {
      const texts = new SpecTexts();
      for (const text of [...all, ...all, ...all.map((one) => one.replaceAll('a-0', 'c-22'))])
        expect(read((one) => texts.parse(one), text)).toEqual(read(JSON.parse, text));
    }),
    { numRuns: searchLength({ short: 500, long: 20_000 }) },
  );
});

test('few specs are kept, of a bounded length, and where none comes again hardly any is learnt', () => {
  const text = (index: number): string => review({ containers: [{ index }] });
  const texts = new SpecTexts();
  for (let index = 0; index <= MOST_SPECS; index += 1) texts.parse(text(index));
  expect(shares(texts, text(MOST_SPECS), text(MOST_SPECS))).toBe(true);
  const first = specOf(texts.parse(text(0)));
  expect(isObject(first) && Object.isFrozen(first)).toBe(true);
  const long = review({ containers: [{ name: 'x'.repeat(MAX_SPEC_LENGTH) }] });
  expect(shares(texts, long, long)).toBe(false);
  for (let index = 100; index < 200; index += 1) texts.parse(text(index));
  const again = Array.from({ length: 40 }, (_, index) => shares(texts, text(300 + index), text(300 + index)));
  expect(again.filter(Boolean).length).toBeLessThan(10);
});

test('a known spec at another place than that of the object costs one more reading, and is not learnt again', () => {
  const texts = new SpecTexts();
  const elsewhere = review(spec, { spec });
  for (let time = 0; time < 2 * MOST_SPECS; time += 1) texts.parse(elsewhere);
  const readings = jest.spyOn(JSON, 'parse');
  try {
    texts.parse(elsewhere);
    expect(readings.mock.calls.length).toBe(2);
  } finally {
    readings.mockRestore();
  }
});

test('what is shared by Pods cannot be changed by what reads one of them', () => {
  const texts = new SpecTexts();
  texts.parse(review(spec));
  const containers = own(specOf(texts.parse(review(spec))), 'containers') as object;
  expect(() => Object.assign(containers, { 0: {} })).toThrow(TypeError);
});
