import { expect, test } from '@jest/globals';
import { BackOff } from '../../../src/modules/supervisor.ts';

test('what ended rests twice as long each time, up to a minute, unless it ran for a while', () => {
  let now = 0;
  const backOff = new BackOff(() => now);
  const rests = Array.from({ length: 8 }, () => {
    backOff.began();
    return backOff.ended();
  });
  expect(rests).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  expect(backOff.leftMs).toBe(60_000);
  now += 60_000;
  expect(backOff.leftMs).toBe(0);
  backOff.began();
  now += 60_000;
  expect(backOff.ended()).toBe(1_000);
});
