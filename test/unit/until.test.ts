import { afterEach, expect, jest, test } from '@jest/globals';
import { countWaiting, until } from '../cluster/control-plane/until.ts';

afterEach(() => void jest.restoreAllMocks());

test('of a machine that stood still a quarter of the limit counts as waited', () => {
  const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
  const waited = countWaiting(60_000);
  now.mockReturnValue(3_000);
  expect(waited()).toBe(2_000);
  now.mockReturnValue(1_000_000);
  expect(waited()).toBe(17_000);
  expect(waited()).toBe(17_000);
});

test('a wait is not given up before its fifth probe, and then says for how long it was', async () => {
  let [time, probes] = [0, 0];
  jest.spyOn(performance, 'now').mockImplementation(() => (time += 90_000));
  const probe = (): boolean => {
    probes += 1;
    return false;
  };
  await expect(until('it comes', probe, { everyMs: 1 })).rejects.toThrow('waited 60 s in vain: it comes');
  expect(probes).toBe(5);
});
