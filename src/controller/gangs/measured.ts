import { systemClock, type Clock } from '../../kube/client/clock.ts';
import type { GangPlan } from '../../gang/plan/gang-plan.ts';
import type { GangState } from '../../gang/records.ts';
import type { BackendMetrics } from '../../telemetry/backend-metrics.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import { Outdated } from './actions.ts';
import type { ReconcileObserver } from './reconcile-pod-gang.ts';
import type { Reconcile } from '../../kube/loop/keyed-controller.ts';

/**
 * Returns the observer that counts one leader's actions.
 * @param enabled the enabled backends; a gang may name any other, which is not counted
 */
export function countingObserver(
  metrics: LoopMetrics,
  backendMetrics: Pick<BackendMetrics, 'operated'>,
  enabled: readonly string[],
): ReconcileObserver {
  const timer = new ReleaseTimer();
  return {
    planned: (key, state, todo) => {
      for (const { uid } of todo.violations) metrics.ungatedEarly(uid);
      const ms = timer.observe(key, state, todo);
      if (ms !== undefined) metrics.gangReleased(ms / 1000);
    },
    ungated: () => metrics.gateRemoved(),
    initialized: () => metrics.initialized(),
    statusWritten: (backend, ok, seconds) => {
      if (enabled.includes(backend)) backendMetrics.operated(backend, 'status_update', ok, seconds);
    },
  };
}

/** Counts and times each reconciliation, except those aborted because the leadership ends. */
export const measured =
  (reconcile: Reconcile, metrics: Pick<LoopMetrics, 'reconciled'>, clock: Clock = systemClock): Reconcile =>
  async (key, signal) => {
    const began = clock.now();
    const seconds = (): number => (clock.now() - began) / 1000;
    try {
      const result = await reconcile(key, signal);
      metrics.reconciled('ok', seconds());
      return result;
    } catch (error) {
      if (!signal.aborted) metrics.reconciled(error instanceof Outdated ? 'outdated' : 'error', seconds());
      throw error;
    }
  };

/**
 * Measures how long gangs take from complete to released as the caches show it, including all watches and queues in
 * between.
 */
export class ReleaseTimer {
  /** Since when each complete gang has been waiting for its gates to come off. */
  readonly #since = new Map<string, number>();

  /**
   * Takes the current state of a gang. Gangs that wait for a base gang are excluded: their time says nothing about the
   * loop.
   * @returns the milliseconds since the gang was complete, when its last gate is off now
   */
  observe(key: string, state: GangState, { summary }: GangPlan): number | undefined {
    const groups = summary?.groups ?? [];
    const ours = state.notOurs === undefined && state.pods.every((pod) => pod.baseGang === undefined);
    const complete =
      groups.some((group) => group.expected > 0) && groups.every((group) => group.present >= group.expected);
    if (!ours || !complete) {
      this.#since.delete(key);
      return undefined;
    }
    const since = this.#since.get(key);
    if (groups.some((group) => group.gated > 0)) {
      if (since === undefined) this.#since.set(key, state.now);
      return undefined;
    }
    this.#since.delete(key);
    return since === undefined ? undefined : state.now - since;
  }
}
