import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatPath } from '../../../src/config/config-fault.ts';
import { parseGoDuration } from '../../../src/k8s/time.ts';
import { inWords } from '../../../src/config/messages.ts';
import { editDistance, nearestKey } from '../../../src/text/nearest-key.ts';

describe('Go durations', () => {
  test.each<[string, number | undefined]>([
    ['0', 0],
    ['15s', 15_000],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['1.s', 1000],
    ['-2s', -2000],
    ['+2s', 2000],
    ['1h2m3s4ms', 3_723_004],
    ['1500us', 1.5],
    ['1500µs', 1.5],
    ['1500μs', 1.5],
    ['2000000ns', 2],
    ['15', undefined],
    ['', undefined],
    ['s', undefined],
    ['.s', undefined],
    ['15 s', undefined],
    ['1d', undefined],
    ['15s ', undefined],
    ['15S', undefined],
  ])('%j', (text, milliseconds) => {
    const parsed = parseGoDuration(text);
    if (milliseconds === undefined) expect(parsed).toBeUndefined();
    else expect(parsed).toBeCloseTo(milliseconds, 9);
  });

  test('every unit and every sum of units is read', () => {
    const units = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const;
    const part = fc.tuple(
      fc.integer({ min: 0, max: 1e6 }),
      fc.constantFrom(...(Object.keys(units) as 'h'[])),
    );
    fc.assert(
      fc.property(fc.boolean(), fc.array(part, { minLength: 1, maxLength: 4 }), (negative, parts) => {
        const sum = parts.reduce((total, [amount, unit]) => total + amount * units[unit], 0);
        const text = `${negative ? '-' : ''}${parts.map(([amount, unit]) => `${amount}${unit}`).join('')}`;
        expect(Math.abs((parseGoDuration(text) ?? NaN) - (negative ? -sum : sum))).toBe(0);
      }),
    );
  });

  test('hostile text is read in linear time', () => {
    const start = process.cpuUsage();
    expect(parseGoDuration(`${'1'.repeat(100_000)}x`)).toBeUndefined();
    expect(parseGoDuration(`${'1m'.repeat(50_000)}x`)).toBeUndefined();
    expect(process.cpuUsage(start).user / 1000).toBeLessThan(2_000);
  });
});

describe('the nearest key', () => {
  test.each([
    ['', '', 0],
    ['abc', '', 3],
    ['', 'abc', 3],
    ['port', 'prot', 1],
    ['port', 'ports', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
  ])('%j to %j is %d edits', (a, b, edits) => expect(editDistance(a, b)).toBe(edits));

  test('distance is a number of edits: symmetric, zero only for equals, bounded by length', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), fc.string({ maxLength: 12 }), (a, b) => {
        const distance = editDistance(a, b);
        expect(distance).toBe(editDistance(b, a));
        expect(distance === 0).toBe(a === b);
        expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
      }),
    );
  });

  const known = ['logLevel', 'logFormat', 'server', 'scheduler', 'schedulerName', 'qps', 'hpc'];
  test.each([
    ['loglevel', 'logLevel'],
    ['schedulrName', 'schedulerName'],
    ['servers', 'server'],
    ['qsp', 'qps'],
    // Two edits of a name of three are another word.
    ['spec', undefined],
    ['nothing', undefined],
    ['x', undefined],
    ['x'.repeat(10_000), undefined],
  ])('%s', (key, expected) => expect(nearestKey(key, known)).toBe(expected));
});

test.each<[(string | number)[], string]>([
  [[], ''],
  [['a', 'b'], 'a.b'],
  [['a', 0, 'b'], 'a[0].b'],
  [['a.b', 'c d'], '["a.b"]["c d"]'],
  [['k'.repeat(81)], `["${'k'.repeat(79)}…"]`],
])('path %j', (path, text) => expect(formatPath(path)).toBe(text));

test.each<[unknown, string]>([
  [undefined, 'nothing'],
  [1n, 'the number 1'],
  [false, 'false'],
  [[], 'a list'],
  ['a\nb', 'the string "a\\u{a}b"'],
  ['x'.repeat(10_000), `the string "${'x'.repeat(79)}…"`],
])('%p in words', (value, words) => expect(inWords(value)).toBe(words));
