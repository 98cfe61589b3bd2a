import { setTimeout as delay } from 'node:timers/promises';
import { countWaiting } from '../../cluster/control-plane/until.ts';

/** Milliseconds between two looks, at first and at most: what is there at once is found at once, and long waits are cheap. */
const SOON = 5;
const SELDOM = 80;

/** Waits for a condition, and fails with its name when the deadline passes. */
export const until = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 30_000,
): Promise<void> => {
  const waited = countWaiting(deadlineMs);
  for (let pause = SOON; !(await condition()); pause = Math.min(pause * 1.5, SELDOM)) {
    if (waited() > deadlineMs) throw new Error(`gave up after ${deadlineMs} ms waiting until ${what}`);
    await delay(pause);
  }
};
