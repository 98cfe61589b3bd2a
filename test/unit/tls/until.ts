import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds between two looks, at first and at most: what is there at once is found at once, and long waits are cheap. */
const SOON = 5;
const SELDOM = 80;

/**
 * Waits for a condition, and fails with its name when the deadline passes. A machine that stood still has not waited: of
 * the time between two looks no more than a quarter of the deadline counts.
 */
export const until = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 30_000,
): Promise<void> => {
  let waited = 0;
  let looked = performance.now();
  for (let pause = SOON; !(await condition()); pause = Math.min(pause * 1.5, SELDOM)) {
    const now = performance.now();
    waited += Math.min(now - looked, deadlineMs / 4);
    looked = now;
    if (waited > deadlineMs) throw new Error(`gave up after ${deadlineMs} ms waiting until ${what}`);
    await delay(pause);
  }
};
