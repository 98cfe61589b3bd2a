import type { Registry } from 'prom-client';
import { counter, gauge } from './metric-catalogue.ts';

/** What the queues of a fleet hold, and let through. Without `fleet.queues.enabled` there are none. */
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
