import { KeyedController } from '../../kube/loop/keyed-controller.ts';
import type { ControllerFactory } from '../watch/shared.ts';
import { weightIn } from '../watch/gang-view.ts';
import { gangWriter, Outdated } from './actions.ts';
import { countingObserver, measured } from './measured.ts';
import { WriteMemory, SOON_MS, urgencyOf } from './write-memory.ts';
import { podGangReconciler } from './reconcile-pod-gang.ts';
import { ReleaseClock } from './release-clock.ts';

/** An outdated cache is logged as an error only when the next retry is this far away (ms), after several in a row. */
const TELL_AFTER_MS = 1_000;

/** Judges every gang, and writes its references, its status and its Pods' gates. */
export const gangs: ControllerFactory = (shared) => {
  const { client, registry, settings, recorder, log, metrics, now, watch, backends, backendMetrics } = shared;
  const { selectors, concurrentSyncs } = settings;
  // Replaced at the beginning of each term as leader.
  let memory = new WriteMemory();
  const clock = new ReleaseClock({
    view: watch.view,
    selectors,
    now: () => performance.now(),
    ended: (how, ms) => {
      if (controller.leads) metrics.gangWaited(how, ms / 1000);
    },
  });
  const controller = new KeyedController({
    name: 'gangs',
    watches: watch.watches,
    concurrency: concurrentSyncs,
    eventsWait: true,
    retried: () => metrics.retried(),
    weightOf: weightIn(watch.view),
    begin: () => {
      memory = new WriteMemory();
      const reconcile = podGangReconciler({
        view: watch.view,
        synced: () => watch.watches.hasSynced,
        registry,
        selectors,
        backends,
        writer: (end) => gangWriter(client, end, settings.gangKinds),
        recorder,
        memory,
        now: () => now().getTime(),
        observer: countingObserver(metrics, backendMetrics, registry.enabled, clock),
      });
      return { reconcile: measured(reconcile, metrics), keys: watch.keys() };
    },
    failed: (gang, error, retryInMs) => {
      const quiet = error instanceof Outdated && retryInMs < TELL_AFTER_MS;
      log[quiet ? 'debug' : 'error']({ gang, err: error, retryInMs }, 'gang not dealt with, trying again');
    },
  });
  watch.onTouch((key, change) => {
    if (change !== undefined) clock.touched(key, change);
    const when = change === undefined ? 'now' : urgencyOf(key, change, memory);
    if (when === 'now') controller.add(key);
    else if (when === 'soon') controller.addAfter(key, SOON_MS);
  });
  metrics.queueFrom(() => controller.queue);
  metrics.slotsFrom(controller.name, () => controller.queues);
  metrics.unreleasedFrom(() => (controller.leads ? clock.oldestMs : 0));
  return controller;
};
