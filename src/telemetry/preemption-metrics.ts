import type { Registry } from 'prom-client';
import { counter, histogram } from './metric-catalogue.ts';

/** The result of one attempt to preempt for a gang. */
export type AttemptResult = 'preempting' | 'fits' | 'waits' | 'impossible' | 'blocked' | 'error';

const RESULTS: readonly AttemptResult[] = ['preempting', 'fits', 'waits', 'impossible', 'blocked', 'error'];

/** Upper bounds in seconds. A small cluster is listed and planned in milliseconds, one of thousands of nodes in seconds. */
const PLAN_BOUNDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of preemption. Absent without `preemption.mode: Act`. */
export class PreemptionMetrics {
  readonly #attempts;
  readonly #victims;
  readonly #plans;

  constructor(registry: Registry) {
    this.#attempts = counter('muster_preemption_attempts_total', registry);
    this.#victims = counter('muster_preemption_victims_total', registry);
    this.#plans = histogram('muster_preemption_plan_seconds', PLAN_BOUNDS, registry);
    for (const result of RESULTS) this.#attempts.inc({ result }, 0);
  }

  attempted(result: AttemptResult): void {
    this.#attempts.inc({ result });
  }

  evicted(): void {
    this.#victims.inc();
  }

  planned(seconds: number): void {
    this.#plans.observe(seconds);
  }
}
