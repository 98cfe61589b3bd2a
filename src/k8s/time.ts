/** Formats milliseconds since 1970 as `metav1.Time`: RFC 3339 in whole seconds. */
export const kubeTime = (now: number): string => `${new Date(now).toISOString().slice(0, 19)}Z`;

/** Parses a time of Kubernetes to milliseconds since 1970; undefined where there is none, or the text is no time. */
export function parseKubeTime(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** Durations as Go and all Kubernetes components write them: `15s`, `1m30s`, `1.5h`. Every number but `0` needs a unit. */
const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // U+00B5 micro sign
  μs: 1e-3, // U+03BC Greek mu; Go takes both
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = String.raw`(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)`;

/** The syntax of a Go duration, anchored; also used in the JSON Schema. */
export const GO_DURATION = new RegExp(`^[-+]?(?:0|(?:${PART})+)$`);

const ONE_PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/** Converts a Go duration to milliseconds, with fractions; undefined where `text` is no duration. */
export function parseGoDuration(text: string): number | undefined {
  if (!GO_DURATION.test(text)) return undefined;
  let milliseconds = 0;
  for (const [, amount, unit] of text.matchAll(ONE_PART)) {
    milliseconds += Number(amount) * (MS_PER_UNIT[unit ?? ''] ?? 0);
  }
  return text.startsWith('-') ? -milliseconds : milliseconds;
}
