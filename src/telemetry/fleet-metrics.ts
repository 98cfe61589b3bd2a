import type { Registry } from 'prom-client';
import { counter, gauge } from './metric-catalogue.ts';

export type BindingResult = 'placed' | 'held' | 'error';

export type EstimateResult = 'answered' | 'failed' | 'resting';

const RESULTS: readonly BindingResult[] = ['placed', 'held', 'error'];
const ESTIMATES: readonly EstimateResult[] = ['answered', 'failed', 'resting'];

/** Metrics of placing bindings. Absent without `fleet.assigner.enabled`. */
export class FleetMetrics {
  readonly #judged;
  readonly #written;
  readonly #waiting;
  readonly #estimates;

  constructor(registry: Registry) {
    this.#judged = counter('muster_fleet_bindings_judged_total', registry);
    this.#written = counter('muster_fleet_bindings_total', registry);
    this.#waiting = gauge('muster_fleet_bindings_waiting', registry);
    this.#estimates = counter('muster_fleet_estimates_total', registry);
    for (const result of ESTIMATES) this.#estimates.inc({ result }, 0);
    for (const result of RESULTS) this.#written.inc({ result }, 0);
  }

  judged(): void {
    this.#judged.inc();
  }

  wrote(result: BindingResult): void {
    this.#written.inc({ result });
  }

  estimated(result: EstimateResult): void {
    this.#estimates.inc({ result });
  }

  waits(count: number): void {
    this.#waiting.set(count);
  }
}

/** Metrics of the gangs that a fleet's queues hold and release. Absent without `fleet.queues.enabled`. */
export class FleetQueueMetrics {
  readonly #waiting;
  readonly #through;
  readonly #released;

  constructor(registry: Registry) {
    this.#waiting = gauge('muster_fleet_queue_waiting', registry);
    this.#through = gauge('muster_fleet_queue_through', registry);
    this.#released = counter('muster_fleet_queue_released_total', registry);
  }

  released(): void {
    this.#released.inc();
  }

  counted(waiting: number, through: number): void {
    this.#waiting.set(waiting);
    this.#through.set(through);
  }
}
