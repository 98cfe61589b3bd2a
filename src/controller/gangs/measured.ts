import { systemClock, type Clock } from '../../kube/client/clock.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import { Outdated } from './actions.ts';
import type { ReconcileObserver } from './reconcile-pod-gang.ts';
import { ReleaseTimer } from './release-timer.ts';
import type { Reconcile } from '../../kube/loop/work-queue-workers.ts';

/** Counts what one leader sees and does. */
export function countingObserver(metrics: LoopMetrics): ReconcileObserver {
  const timer = new ReleaseTimer();
  return {
    planned: (key, state, todo) => {
      for (const { uid } of todo.violations) metrics.ungatedEarly(uid);
      const ms = timer.look(key, state, todo);
      if (ms !== undefined) metrics.gangReleased(ms / 1000);
    },
    ungated: () => metrics.gateRemoved(),
    initialized: () => metrics.initialized(),
  };
}

/** The same, with its looks counted and timed. One that is cut off because the leadership ends is neither. */
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
