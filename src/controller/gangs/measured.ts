import { systemClock, type Clock } from '../../kube/client/clock.ts';
import type { BackendMetrics } from '../../telemetry/backend-metrics.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import { Outdated } from './actions.ts';
import type { ReconcileObserver } from './reconcile-pod-gang.ts';
import type { ReleaseClock } from './release-clock.ts';
import type { Reconcile } from '../../kube/loop/keyed-controller.ts';

/**
 * Returns the observer that counts one leader's actions.
 * @param enabled the enabled backends; a gang may name any other, which is not counted
 */
export function countingObserver(
  metrics: LoopMetrics,
  backendMetrics: Pick<BackendMetrics, 'operated'>,
  enabled: readonly string[],
  clock: Pick<ReleaseClock, 'judged' | 'ungated'>,
): ReconcileObserver {
  return {
    planned: (key, _, todo) => {
      for (const { uid } of todo.violations) metrics.ungatedEarly(uid);
      clock.judged(key, todo);
    },
    ungated: (ungate) => {
      metrics.gateRemoved();
      clock.ungated(ungate);
    },
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
