import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diffLines, hunksOf } from '../../../../src/cli/review/render-diff.ts';

const letters = (text: string): string[] => (text === '' ? [] : text.split(''));
const shown = (before: string, after: string): string =>
  diffLines(letters(before), letters(after))
    .map(({ kind, text }) => `${{ same: ' ', removed: '-', added: '+' }[kind]}${text}`)
    .join('');

describe('a diff of lines', () => {
  test.each([
    ['', '', ''],
    ['abc', 'abc', ' a b c'],
    ['abc', 'abxc', ' a b+x c'],
    ['abc', 'ac', ' a-b c'],
    ['abc', 'axc', ' a-b+x c'],
    ['', 'ab', '+a+b'],
    ['ab', '', '-a-b'],
    ['ab', 'abab', ' a b+a+b'],
  ])('of %j and %j', (before, after, expected) => {
    expect(shown(before, after)).toBe(expected);
  });

  test('holds both texts, numbered, whatever they are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = diffLines(before, after);
        const side = (other: string) => lines.filter(({ kind }) => kind !== other);
        expect(side('added').map((line) => line.text)).toEqual(before);
        expect(side('removed').map((line) => line.text)).toEqual(after);
        expect(side('added').map((line) => line.before)).toEqual(before.map((_, index) => index + 1));
        expect(side('removed').map((line) => line.after)).toEqual(after.map((_, index) => index + 1));
      }),
      { numRuns: 1000 },
    );
  });

  test('texts that have nothing in common are told apart in bounded time', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => `a${index}`);
    const after = Array.from({ length: 20_000 }, (_, index) => `b${index}`);
    const lines = diffLines(['same', ...before], ['same', ...after]);
    expect(lines).toHaveLength(40_001);
    expect(lines[0]).toEqual({ kind: 'same', text: 'same', before: 1, after: 1 });
  });
});

describe('hunks', () => {
  test('keep three lines around a change, and part where changes are far from each other', () => {
    const before = Array.from({ length: 30 }, (_, index) => `line ${index + 1}`);
    const after = before.toSpliced(24, 1).toSpliced(9, 0, 'new');
    const hunks = hunksOf(diffLines(before, after));
    expect(hunks.map(({ header }) => header)).toEqual(['@@ -7,6 +7,7 @@', '@@ -22,7 +23,6 @@']);
    expect(hunks[0]?.lines.map(({ text }) => text)).toEqual([
      'line 7',
      'line 8',
      'line 9',
      'new',
      'line 10',
      'line 11',
      'line 12',
    ]);
  });

  test('an empty side is named by the line before it', () => {
    expect(hunksOf(diffLines([], ['a']))[0]?.header).toBe('@@ -0,0 +1,1 @@');
    expect(hunksOf(diffLines(['a'], ['a']))).toEqual([]);
  });
});
