import type { CliIo } from '../output/io.ts';

/** Milliseconds: a page asks again after 10 s, which may come to a little less at the server. */
const SHARED_MS = 9_500;

interface Shared<T> {
  readonly at: number;
  readonly answer: Promise<T>;
  open: boolean;
}

/**
 * One answer for all pages that are open with the same rights: it is asked for once at a time, and given to whoever comes
 * soon after. A failure is told to those who wait for it, and is not kept.
 */
export function sharedAnswer<T>(ask: () => Promise<T>, { now }: Pick<CliIo, 'now'>): () => Promise<T> {
  let last: Shared<T> | undefined;
  return () => {
    const at = now().getTime();
    // A clock that is set back makes nothing younger.
    const recent = last !== undefined && at >= last.at && at - last.at < SHARED_MS;
    if (last !== undefined && (last.open || recent)) return last.answer;
    const asked: Shared<T> = { at, answer: ask(), open: true };
    last = asked;
    asked.answer.then(
      () => (asked.open = false),
      () => (last = undefined),
    );
    return asked.answer;
  };
}
