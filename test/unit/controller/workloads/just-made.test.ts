import { expect, test } from '@jest/globals';
import { RecentlyCreated } from '../../../../src/controller/workloads/gang-maker.ts';

test('what was made is known as long as a cache may lag behind, however often somebody asks, or until it is seen', () => {
  let now = 0;
  const made = new RecentlyCreated(1_000, () => now);
  expect(made.has('ml/train')).toBe(false);
  made.add('ml/train');
  for (now = 0; now < 1_000; now += 250)
    expect([made.has('ml/train'), made.has('ml/other')]).toEqual([true, false]);
  expect(made.has('ml/train')).toBe(false);
  made.add('ml/train');
  made.forget('ml/train');
  expect(made.has('ml/train')).toBe(false);
});
