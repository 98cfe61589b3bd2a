import { expect, test } from '@jest/globals';
import { FairMemory } from '../../../../src/kube/loop/fairness.ts';

test('what is too much is forgotten of the lane that has most, oldest first', () => {
  const memory = new FairMemory<number>(5);
  memory.set('good', 'a', 1);
  for (let n = 0; n < 100; n += 1) memory.set('flood', `k${n}`, n);
  expect(memory.get('good', 'a')).toBe(1);
  expect(['k95', 'k96', 'k97', 'k98', 'k99'].map((key) => memory.get('flood', key))).toEqual([
    undefined,
    96,
    97,
    98,
    99,
  ]);
  // What is said again is the newest.
  memory.set('flood', 'k96', -1);
  memory.set('good', 'b', 2);
  expect([memory.get('flood', 'k96'), memory.get('flood', 'k97')]).toEqual([-1, undefined]);
  memory.delete('flood', 'k96');
  memory.delete('flood', 'nothing');
  memory.set('good', 'c', 3);
  expect(['a', 'b', 'c'].map((key) => memory.get('good', key))).toEqual([1, 2, 3]);
});
