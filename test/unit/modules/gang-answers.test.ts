import { expect, test } from '@jest/globals';
import { LruCache } from '../../../src/modules/gang-answers.ts';

test('what was set longest ago is forgotten first', () => {
  const recent = new LruCache<number>(2);
  for (const [key, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 3],
    ['c', 4],
  ] as const)
    recent.set(key, value);
  expect(['a', 'b', 'c'].map((key) => recent.get(key))).toEqual([3, undefined, 4]);
  recent.delete('a');
  expect(recent.get('a')).toBeUndefined();
});
