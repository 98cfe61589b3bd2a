import { Counter, Gauge, type Registry, type MetricValueWithName } from 'prom-client';

/** The metrics of the scheduler backend framework, with the names from Grove's proposal. */
export const backendMetricCatalogue = {
  grove_scheduler_backend_initialization_duration_seconds: {
    type: 'histogram',
    labels: ['backend_name', 'status'],
    help: 'A backend’s looks at the cluster. status: success, failure (its gangs wait).',
  },
  grove_scheduler_backend_operation_duration_seconds: {
    type: 'histogram',
    labels: ['backend_name', 'operation'],
    help: 'What is done for a backend’s gangs. operation: create, update, delete (their objects), status_update (the PodGang’s status), sync_cluster (objects of the cluster), mutate (a Pod at admission).',
  },
  grove_scheduler_backend_operation_total: {
    type: 'counter',
    labels: ['backend_name', 'operation', 'status'],
    help: 'The same by how it ended. status: success, failure (told in an Event, and tried again).',
  },
  grove_scheduler_backend_info: {
    type: 'gauge',
    labels: ['backend_name', 'version'],
    help: 'The API that a backend speaks in this cluster: 1 for the active one, which is the default, 0 for the others. No series while it is not ready.',
  },
  muster_backend_ready: {
    type: 'gauge',
    labels: ['backend_name'],
    help: '1 where the backend is ready, 0 where its gangs wait: every enabled backend.',
  },
} as const satisfies Record<string, { type: string; labels: readonly string[]; help: string }>;

export type BackendOperation = 'create' | 'update' | 'delete' | 'status_update' | 'sync_cluster' | 'mutate';

type Name = keyof typeof backendMetricCatalogue;

/** Recording an observation is cheap, since `mutate` is observed for every Pod; the scrape does the rest of the work. */
export class BackendMetrics {
  readonly #inits: DurationHistogram;
  readonly #operations: DurationHistogram;
  /** By backend and operation. */
  readonly #outcomes = new Map<string, Map<BackendOperation, Outcomes>>();
  readonly #versions = new Map<string, string>();
  /** Whether each enabled backend is ready. */
  readonly #ready = new Map<string, boolean>();
  #active = '';

  constructor(registry: Registry) {
    this.#inits = histogram('grove_scheduler_backend_initialization_duration_seconds', registry);
    this.#operations = histogram('grove_scheduler_backend_operation_duration_seconds', registry);
    const outcomes = this.#outcomes;
    new Counter({
      ...described('grove_scheduler_backend_operation_total', registry),
      collect() {
        this.reset();
        for (const [backend_name, operations] of outcomes) {
          for (const [operation, counts] of operations) {
            for (const status of ['success', 'failure'] as const) {
              if (counts[status] > 0) this.inc({ backend_name, operation, status }, counts[status]);
            }
          }
        }
      },
    });
    const versions = this.#versions;
    const valueOf = (backend: string): number => (backend === this.#active ? 1 : 0);
    new Gauge({
      ...described('grove_scheduler_backend_info', registry),
      collect() {
        this.reset();
        for (const [backend_name, version] of versions)
          this.set({ backend_name, version }, valueOf(backend_name));
      },
    });
    const ready = this.#ready;
    new Gauge({
      ...described('muster_backend_ready', registry),
      collect() {
        for (const [backend_name, is] of ready) this.set({ backend_name }, is ? 1 : 0);
      },
    });
  }

  /**
   * Sets the backends that are shown from the start on.
   * @param active the default backend, used by gangs that name none
   */
  enabled(names: readonly string[], active: string): void {
    this.#active = active;
    for (const name of names) this.#ready.set(name, false);
  }

  /** @param version undefined when the backend is not ready */
  initialized(backend: string, ok: boolean, seconds: number, version: string | undefined): void {
    this.#inits.observe([backend, ok ? 'success' : 'failure'], seconds);
    this.#ready.set(backend, ok);
    if (version === undefined) this.#versions.delete(backend);
    else this.#versions.set(backend, version);
  }

  operated(backend: string, operation: BackendOperation, ok: boolean, seconds: number): void {
    this.#operations.observe([backend, operation], seconds);
    const operations = this.#outcomes.getOrInsertComputed(backend, () => new Map());
    const counts = operations.getOrInsertComputed(operation, () => ({ success: 0, failure: 0 }));
    counts[ok ? 'success' : 'failure'] += 1;
  }
}

interface Outcomes {
  success: number;
  failure: number;
}

function histogram(name: Name, registry: Registry): DurationHistogram {
  const { help, labels } = backendMetricCatalogue[name];
  return new DurationHistogram(name, help, labels, registry);
}

function described(name: Name, registry: Registry) {
  const { help, labels } = backendMetricCatalogue[name];
  return { name, help, labelNames: [...labels], registers: [registry] };
}

/** Upper bounds in seconds, up to the API server's longest timeout; a decision itself takes far less than a millisecond. */
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
 * A histogram whose observation costs one map look-up per label and three additions. prom-client hashes the labels each
 * time, which takes as long as the decision that is timed; it still formats the exposition.
 */
export class DurationHistogram {
  readonly #name: string;
  readonly #help: string;
  readonly #labelNames: readonly string[];
  readonly #series: Series[] = [];
  /** Nested by the value of the first label, the second …, so that a look-up needs no combined key. */
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

  /** All series observed so far. */
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
