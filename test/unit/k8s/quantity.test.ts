import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { countOf, countOfText, formatCount, parseQuantity } from '../../../src/k8s/quantity.ts';

const BILLION = 1_000_000_000n;

describe('a quantity in billionths', () => {
  test.each([
    ['0', 0n],
    ['1', BILLION],
    ['+1', BILLION],
    ['-1.5', (-3n * BILLION) / 2n],
    ['.5', BILLION / 2n],
    ['5.', 5n * BILLION],
    ['100m', BILLION / 10n],
    ['1n', 1n],
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['1u', 1000n],
    ['1k', 1000n * BILLION],
    ['1Ki', 1024n * BILLION],
    ['1.5Gi', 1024n ** 3n * 3n * (BILLION / 2n)],
    ['1E', 10n ** 18n * BILLION],
    ['1Ei', 1024n ** 6n * BILLION],
    ['1E3', 1000n * BILLION],
    ['1e-3', BILLION / 1000n],
    [2, 2n * BILLION],
    [0.5, BILLION / 2n],
  ])('%p', (text, billionths) => expect(parseQuantity(text)).toBe(billionths));

  test.each([
    '',
    ' ',
    '.',
    '1.2.3',
    '1ki',
    '1KI',
    '1 Gi',
    'm',
    '0x10',
    '1e',
    '1e1000',
    'NaN',
    '１',
    null,
    true,
    {},
    '1'.repeat(65),
  ])('%p is none', (text) => expect(parseQuantity(text)).toBeUndefined());
});

test('rounded up to what a scheduler counts, and refused where it cannot be counted', () => {
  const count = (resource: string, text: string) => countOf(resource, parseQuantity(text) ?? -1n);
  expect(count('cpu', '1')).toBe(1000);
  expect(count('cpu', '0.0001')).toBe(1);
  expect(count('memory', '1m')).toBe(1);
  expect(count('memory', '8Pi')).toBeUndefined();
  expect(count('memory', '9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  expect(count('nvidia.com/gpu', '-1')).toBeUndefined();
});

test('few digits are counted without the way through billionths, and to the same', () => {
  const text = fc.oneof(
    fc.stringMatching(/^[+-]?\d{1,11}(\.\d)?[mkM]?i?$/),
    fc.nat(),
    fc.constantFrom('', ' 1', '1 ', null),
  );
  fc.assert(
    fc.property(fc.constantFrom('cpu', 'memory', 'nvidia.com/gpu'), text, (resource, amount) => {
      const billionths = parseQuantity(amount);
      expect(countOfText(resource, amount)).toBe(
        billionths === undefined ? undefined : countOf(resource, billionths),
      );
    }),
  );
});

test('what is written is read back', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('cpu', 'memory', 'nvidia.com/gpu', 'ephemeral-storage', 'hugepages-2Mi'),
      fc.nat({ max: Number.MAX_SAFE_INTEGER }),
      (resource, count) => {
        expect(countOf(resource, parseQuantity(formatCount(resource, count)) ?? -1n)).toBe(count);
      },
    ),
  );
});

test.each([
  ['cpu', 1500, '1500m'],
  ['cpu', 4000, '4'],
  ['memory', 12 * 1024 ** 3, '12Gi'],
  ['memory', 1000, '1000'],
  ['memory', 0, '0'],
  ['nvidia.com/gpu', 1024, '1024'],
])('%s %d is %s', (resource, count, text) => expect(formatCount(resource, count)).toBe(text));
