import type { MetricValueWithName, Registry } from 'prom-client';

/** Upper bounds in seconds, up to the API server's longest timeout; a decision itself is far under a millisecond. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The observations of one set of label values. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly buckets: number[];
  count: number;
  sum: number;
}

type Branch = Map<string, Branch | Series>;

/**
 * A histogram whose observation is a map look-up for each label and three additions. prom-client hashes the labels each time, which
 * is as much as the decision that is timed; it still writes the exposition.
 */
export class DurationHistogram {
  readonly #name: string;
  readonly #help: string;
  readonly #labelNames: readonly string[];
  readonly #series: Series[] = [];
  /** By the value of the first label, then of the second …: no key has to be put together for a look-up. */
  readonly #root: Branch = new Map();

  constructor(name: string, help: string, labelNames: readonly string[], registry: Registry) {
    this.#name = name;
    this.#help = help;
    this.#labelNames = labelNames;
    const get = (): Promise<object> => Promise.resolve(this.#exposition());
    registry.registerMetric({ name, get } as unknown as Parameters<Registry['registerMetric']>[0]);
  }

  /** @param values of the labels, in the order of their names; few and known, since each set is kept for ever */
  observe(values: readonly string[], seconds: number): void {
    const series = this.#of(values);
    series.count += 1;
    series.sum += seconds;
    for (let index = 0; index < BOUNDS.length; index += 1) {
      if (seconds <= (BOUNDS[index] ?? 0)) {
        series.buckets[index] = (series.buckets[index] ?? 0) + 1;
        return;
      }
    }
  }

  /** Everything observed so far. */
  series(): readonly Series[] {
    return this.#series;
  }

  #of(values: readonly string[]): Series {
    let found: Branch | Series = this.#root;
    for (let index = 0; index < values.length; index += 1) {
      const next: Branch | Series | undefined = (found as Branch).get(values[index] ?? '');
      if (next === undefined) return this.#plant(values);
      found = next;
    }
    return found as Series;
  }

  #plant(values: readonly string[]): Series {
    const labels = Object.fromEntries(this.#labelNames.map((name, index) => [name, values[index] ?? '']));
    const series = { labels, buckets: BOUNDS.map(() => 0), count: 0, sum: 0 };
    this.#series.push(series);
    let branch = this.#root;
    for (const [index, value] of values.entries()) {
      const next = index === values.length - 1 ? series : (branch.get(value) ?? new Map<string, never>());
      branch.set(value, next);
      branch = next as Branch;
    }
    return series;
  }

  #exposition(): object {
    const values: MetricValueWithName<string>[] = [];
    for (const { labels, buckets, count, sum } of this.#series) {
      let below = 0;
      BOUNDS.forEach((le, index) => {
        below += buckets[index] ?? 0;
        values.push({ metricName: `${this.#name}_bucket`, labels: { ...labels, le }, value: below });
      });
      values.push({ metricName: `${this.#name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count });
      values.push({ metricName: `${this.#name}_sum`, labels, value: sum });
      values.push({ metricName: `${this.#name}_count`, labels, value: count });
    }
    return { name: this.#name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }
}
