import type { Registry } from 'prom-client';
import { counter, gauge } from './metric-catalogue.ts';

export type BindingResult = 'placed' | 'held' | 'error';

const RESULTS: readonly BindingResult[] = ['placed', 'held', 'error'];

/** The metrics of placing bindings. Without `fleet.assigner.enabled` there are none. */
export class FleetMetrics {
  readonly #judged;
  readonly #written;
  readonly #waiting;

  constructor(registry: Registry) {
    this.#judged = counter('muster_fleet_bindings_judged_total', registry);
    this.#written = counter('muster_fleet_bindings_total', registry);
    this.#waiting = gauge('muster_fleet_bindings_waiting', registry);
    for (const result of RESULTS) this.#written.inc({ result }, 0);
  }

  judged(): void {
    this.#judged.inc();
  }

  wrote(result: BindingResult): void {
    this.#written.inc({ result });
  }

  waits(count: number): void {
    this.#waiting.set(count);
  }
}
