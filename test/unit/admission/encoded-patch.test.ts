import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodedPatch } from '../../../src/admission/response.ts';
import type { Change } from '../../../src/json/patch.ts';
import { constant, isConstant } from '../../../src/json/patch.ts';

const encoded = (changes: readonly Change[]): string =>
  Buffer.from(JSON.stringify(changes.map(({ operation }) => operation))).toString('base64');

/** Some are nearly the same, as a list and the text that its JSON is. */
const values: readonly unknown[] = [
  ...['x', 'y', '', 'ü😀', ['x'], '["x"]', ['x', 'y'], [{ name: 'x' }], null, 'null', {}, [], 0, false],
  ...[{ a: 'x', b: ['y'] }, { b: ['y'], a: 'x' }, { a: 'x' }, { a: { name: 'x' } }, { a: ['x'], b: 'y' }],
  ...[
    JSON.parse('{"__proto__":"x"}') as unknown,
    new Date(0),
    '1970-01-01T00:00:00.000Z',
    { a: new Date(0) },
    { a: {} },
  ],
];

/** Few different ones, so that patches are often like one before and often nearly so. */
const change: fc.Arbitrary<Change> = fc.record({
  operation: fc.record({
    op: fc.constantFrom('add' as const, 'replace' as const),
    path: fc.constantFrom('/spec/a', '/spec/b', '/ü'),
    value: fc.constantFrom(...values),
  }),
  why: fc.constant('because'),
});

test('a patch is encoded as itself, whatever was encoded before', () => {
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 40 }), (patches) => {
      for (const patch of patches) expect(encodedPatch(patch)).toBe(encoded(patch));
    }),
    { numRuns: 500 },
  );
});

test('the same patch again is the same text, until others have come between', () => {
  const patch = (value: string): Change[] => [{ operation: { op: 'add', path: '/a', value }, why: '' }];
  const first = encodedPatch(patch('first'));
  for (let other = 0; other < 100; other += 1) encodedPatch(patch(String(other)));
  expect(encodedPatch(patch('first'))).toBe(first);
});

describe('what a patch consists of', () => {
  const of = (value: unknown): Change[] => [{ operation: { op: 'add', path: '/a', value }, why: '' }];

  test('is told from what is nearly the same, whichever came first', () => {
    for (const first of values) {
      for (const second of values) {
        encodedPatch(of(first));
        expect(encodedPatch(of(second))).toBe(encoded(of(second)));
      }
    }
  });

  test('is compared by what it is now, also where whoever made it has changed it since', () => {
    const item = { name: 'x', list: ['y'] };
    encodedPatch(of(item));
    item.list.push('z');
    expect(encodedPatch(of(item))).toBe(encoded(of({ name: 'x', list: ['y', 'z'] })));
  });

  test('cannot be changed where it is a constant, of which two may have the same text', () => {
    const [one, same, other] = [['y'], ['y'], ['z']].map((list) => constant({ name: 'x', list }));
    for (const value of [one, same, other, one, { name: 'x', list: ['y'] }]) {
      expect(encodedPatch(of(value))).toBe(encoded(of(value)));
    }
    expect(() => one?.list.push('z')).toThrow(TypeError);
    expect([isConstant(one?.list ?? []), isConstant({ ...one })]).toEqual([true, false]);
  });
});
