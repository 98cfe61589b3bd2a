/** One bucket per microsecond up to two seconds; what took longer is counted in the last one. */
const BUCKETS = 2_000_000;

/** Latencies, in constant memory and with nothing allocated while measuring. */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS + 1);
  #total = 0;
  #max = 0;

  /** @param ms milliseconds */
  add(ms: number): void {
    const bucket = Math.min(BUCKETS, Math.round(ms * 1000));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total += 1;
    if (ms > this.#max) this.#max = ms;
  }

  /** The latency in milliseconds that `share` (0 to 1) of all are not above; NaN where there are none. */
  quantile(share: number): number {
    if (this.#total === 0) return Number.NaN;
    const rank = Math.ceil(this.#total * share);
    let seen = 0;
    for (let bucket = 0; bucket <= BUCKETS; bucket += 1) {
      seen += this.#counts[bucket] ?? 0;
      if (seen >= rank) return Math.min(bucket / 1000, this.#max);
    }
    return this.#max;
  }

  /** Milliseconds. */
  get max(): number {
    return this.#max;
  }
}

/** The middle one, or the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const high = sorted[Math.floor(middle)] ?? Number.NaN;
  return (low + high) / 2;
}
