import { expect, test } from '@jest/globals';
import { beginWhenPossible, type FleetLoop } from '../../../../src/cli/serve/fleet-loop.ts';
import { FakeClock, settled } from '../../kube/loop/fake-clock.ts';

/** As a loop that lists what it works with for a while. */
function loop(): FleetLoop & { listed: boolean; stopped: boolean } {
  const it = {
    listed: false,
    stopped: false,
    check: () => (it.listed ? undefined : 'waiting for the first list of clusters'),
    stop: () => Promise.resolve(void (it.stopped = true)),
  };
  return it;
}

test('what is in its way is told with the time of the next attempt, which come at least every half minute', async () => {
  const clock = new FakeClock();
  const failures: [string, number][] = [];
  const began = loop();
  let reachable = false;
  const fleet = beginWhenPossible(
    () => (reachable ? Promise.resolve(began) : Promise.reject(new Error('it does not answer'))),
    (error, retryInMs) => failures.push([(error as Error).message, retryInMs]),
    clock,
    () => 1,
  );
  expect(fleet.check()).toBe('it has not begun yet');
  for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    await settled();
    expect(failures.at(-1)).toEqual(['it does not answer', wait]);
    expect(fleet.check()).toBe('it does not answer');
    await clock.pass(wait);
  }
  await settled();
  reachable = true;
  await clock.pass(30_000);
  await settled();
  expect(fleet.check()).toBe('waiting for the first list of clusters');
  began.listed = true;
  expect(fleet.check()).toBeUndefined();
  await fleet.stop();
  expect([began.stopped, failures.length]).toEqual([true, 8]);
});

test('it ends while it waits for another attempt, and what begins meanwhile is ended, too', async () => {
  const failing = beginWhenPossible(
    () => Promise.reject(new Error('away')),
    () => undefined,
    new FakeClock(),
  );
  await settled();
  await failing.stop();
  const began = loop();
  const { promise, resolve } = Promise.withResolvers<FleetLoop>();
  const late = beginWhenPossible(
    () => promise,
    () => undefined,
    new FakeClock(),
  );
  const stopped = late.stop();
  resolve(began);
  await stopped;
  expect(began.stopped).toBe(true);
});
