import { setTimeout as delay } from 'node:timers/promises';

/** Waits for a condition, and fails with its name when the deadline passes. */
export const until = async (
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 10_000,
): Promise<void> => {
  const deadline = Date.now() + deadlineMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`gave up after ${deadlineMs} ms waiting until ${what}`);
    await delay(5);
  }
};
