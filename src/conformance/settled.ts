import { within } from '../kube/loop/deadline.ts';

/** How long (ms) a call may take whose every question is answered at once. */
const PATIENCE_MS = 2_000;

/** What `work` comes to; an Error that names `what` where it comes to nothing. */
export const settled = <T>(
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
  ms: number = PATIENCE_MS,
): Promise<T> => within(what, ms, new AbortController().signal, work);
