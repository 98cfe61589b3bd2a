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
} as const satisfies Record<string, { type: string; labels: readonly string[]; help: string }>;

export type BackendOperation = 'create' | 'update' | 'delete' | 'status_update' | 'sync_cluster' | 'mutate';

type Name = keyof typeof backendMetricCatalogue;

/** Observing one costs next to nothing, since `mutate` is observed with every Pod; the rest is work of the scrape. */
export class BackendMetrics {
  readonly #inits: DurationHistogram;
  readonly #operations: DurationHistogram;
  /** By backend and operation. */
  readonly #outcomes = new Map<string, Map<BackendOperation, Outcomes>>();
  readonly #versions = new Map<string, string>();
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
  }

  /** The backend of whatever names none. */
  active(backend: string): void {
    this.#active = backend;
  }

  /** @param version undefined where it is not ready */
  initialized(backend: string, ok: boolean, seconds: number, version: string | undefined): void {
    this.#inits.observe([backend, ok ? 'success' : 'failure'], seconds);
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
