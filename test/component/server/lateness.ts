const EVERY_MS = 10;

/**
 * How late this process was, in all, from now until it is asked: on a busy machine what it waits for comes later by as
 * much, and no test is to fail for that.
 */
export function lateness(): () => number {
  let last = performance.now();
  let late = 0;
  const look = (): void => {
    const now = performance.now();
    late += Math.max(0, now - last - EVERY_MS);
    last = now;
  };
  const timer = setInterval(look, EVERY_MS);
  return () => {
    clearInterval(timer);
    look();
    return late;
  };
}
