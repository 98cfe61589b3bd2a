/** When a watch that says nothing is taken for dead. */
import { expect, test } from '@jest/globals';
import { startSilenceAlarm } from '../../../../src/kube/loop/deadline.ts';
import { FakeClock } from './fake-clock.ts';

test('rings so long after what was heard last, once, with one timer however much is heard', async () => {
  const clock = new FakeClock();
  let rung = 0;
  const alarm = startSilenceAlarm(clock, 1_000, () => (rung += 1));
  for (let at = 0; at < 30; at += 1) {
    await clock.pass(100);
    alarm.heard();
    expect(clock.waiting).toBe(1);
  }
  await clock.pass(999);
  expect(rung).toBe(0);
  await clock.pass(1);
  expect(rung).toBe(1);
  await clock.pass(10_000);
  expect([rung, clock.waiting]).toEqual([1, 0]);
});

test('cancelled, also after it was put off, it never rings', async () => {
  const clock = new FakeClock();
  const alarm = startSilenceAlarm(clock, 1_000, () => {
    throw new Error('it rang');
  });
  await clock.pass(600);
  alarm.heard();
  await clock.pass(600);
  alarm.cancel();
  expect(clock.waiting).toBe(0);
  await clock.pass(5_000);
});
