import { Counter, Gauge, type Registry } from 'prom-client';
import { DurationHistogram } from './duration-histogram.ts';

/** The metrics of the scheduler backend framework, under the names that Grove's proposal gives them. */
export const backendMetricCatalogue = {
  grove_scheduler_backend_initialization_duration_seconds: {
    type: 'histogram',
    labels: ['backend_name', 'status'],
    help: 'A backend’s looks at the cluster. status: success, failure (its gangs wait).',
  },
  grove_scheduler_backend_operation_duration_seconds: {
    type: 'histogram',
    labels: ['backend_name', 'operation'],
    help: 'What a backend does for a gang. operation: create, update, delete (its objects), mutate (a Pod at admission).',
  },
  grove_scheduler_backend_operation_total: {
    type: 'counter',
    labels: ['backend_name', 'operation', 'status'],
    help: 'The same by how it ended. status: success, failure (told in an Event, and tried again).',
  },
  grove_scheduler_backend_info: {
    type: 'gauge',
    labels: ['backend_name', 'version'],
    help: '1 for the API that a backend speaks in this cluster; no series while it is not ready.',
  },
} as const satisfies Record<string, { type: string; labels: readonly string[]; help: string }>;

export type BackendOperation = 'create' | 'update' | 'delete' | 'mutate';

type Name = keyof typeof backendMetricCatalogue;

/** Observing one costs next to nothing, since `mutate` is observed with every Pod; the rest is work of the scrape. */
export class BackendMetrics {
  readonly #inits: DurationHistogram;
  readonly #operations: DurationHistogram;
  readonly #outcomes = new Map<string, { readonly labels: Record<string, string>; count: number }>();
  readonly #versions = new Map<string, string>();

  constructor(registry: Registry) {
    this.#inits = histogram('grove_scheduler_backend_initialization_duration_seconds', registry);
    this.#operations = histogram('grove_scheduler_backend_operation_duration_seconds', registry);
    const outcomes = this.#outcomes;
    new Counter({
      ...described('grove_scheduler_backend_operation_total', registry),
      collect() {
        this.reset();
        for (const { labels, count } of outcomes.values()) this.inc(labels, count);
      },
    });
    const versions = this.#versions;
    new Gauge({
      ...described('grove_scheduler_backend_info', registry),
      collect() {
        this.reset();
        for (const [backend_name, version] of versions) this.set({ backend_name, version }, 1);
      },
    });
  }

  /** @param version undefined where it is not ready */
  initialized(backend: string, ok: boolean, seconds: number, version: string | undefined): void {
    this.#inits.observe([backend, ok ? 'success' : 'failure'], seconds);
    if (version === undefined) this.#versions.delete(backend);
    else this.#versions.set(backend, version);
  }

  operated(backend: string, operation: BackendOperation, ok: boolean, seconds: number): void {
    this.#operations.observe([backend, operation], seconds);
    const key = `${backend} ${operation} ${ok ? '+' : '-'}`;
    const outcome = this.#outcomes.get(key);
    if (outcome !== undefined) outcome.count += 1;
    else {
      const status = ok ? 'success' : 'failure';
      this.#outcomes.set(key, { labels: { backend_name: backend, operation, status }, count: 1 });
    }
  }
}

function histogram(name: Name, registry: Registry): DurationHistogram {
  const { help, labels } = backendMetricCatalogue[name];
  return new DurationHistogram(name, help, labels, registry);
}

function described(name: Name, registry: Registry) {
  const { help, labels } = backendMetricCatalogue[name];
  return { name, help, labelNames: [...labels], registers: [registry] };
}
