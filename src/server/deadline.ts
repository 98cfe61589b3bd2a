import { parseGoDuration } from '../k8s/time.ts';

/** What is kept back of the API server's timeout so that an answer still arrives: an error says more than silence. */
const RESERVE_MS = 250;
/** The API server's default where it gives no timeout, and its longest. */
const DEFAULT_MS = 10_000;
const MAX_MS = 30_000;

/**
 * Milliseconds until a request must be answered, from `?timeout=<Go duration>` of its URL. The API server sends
 * whole seconds; what cannot be read counts as its default, since a wrong query must not cost a Pod.
 */
export function deadlineOf(url: string): number {
  // An API server sends the same timeout every time.
  if (url !== lastUrl) {
    lastUrl = url;
    lastDeadline = readDeadline(url);
  }
  return lastDeadline;
}

let lastUrl = '';
let lastDeadline = DEFAULT_MS - RESERVE_MS;

function readDeadline(url: string): number {
  const text = /[?&]timeout=([^&]{1,32})/.exec(url)?.[1];
  const budget = (text === undefined ? undefined : positive(text)) ?? DEFAULT_MS;
  return Math.min(Math.max(budget - RESERVE_MS, 50), MAX_MS);
}

/** Milliseconds; undefined where it is no positive duration. */
function positive(text: string): number | undefined {
  const milliseconds = parseGoDuration(text);
  return milliseconds !== undefined && milliseconds > 0 ? milliseconds : undefined;
}
