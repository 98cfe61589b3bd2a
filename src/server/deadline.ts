/** What is kept back of the API server's timeout so that an answer still arrives: an error says more than silence. */
const RESERVE_MS = 250;
/** The API server's default where it gives no timeout, and its longest. */
const DEFAULT_MS = 10_000;
const MAX_MS = 30_000;

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

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
  const budget = (text === undefined ? undefined : goDuration(text)) ?? DEFAULT_MS;
  return Math.min(Math.max(budget - RESERVE_MS, 50), MAX_MS);
}

/** `5s`, `1m30s`, `500ms` in milliseconds; undefined where it is no positive duration. */
function goDuration(text: string): number | undefined {
  const parts = [...text.matchAll(/([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|h|m|s)/g)];
  if (parts.length === 0 || parts.map((part) => part[0]).join('') !== text) return undefined;
  const sum = parts.reduce((total, part) => total + Number(part[1]) * (UNIT_MS[part[2] ?? ''] ?? 0), 0);
  return sum > 0 ? sum : undefined;
}
