import { notSelected } from '../../gang/gang-selection.ts';
import { workloadOf } from '../../gang/gang-workload.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { splitKey } from '../../kube/loop/cache.ts';
import { KeyedController, type Reconcile } from '../../kube/loop/keyed-controller.ts';
import { BY_GANG } from '../watch/gang-view.ts';
import type { ControllerFactory } from '../watch/shared.ts';
import { GangsByWorkload, WorkloadWatch } from './workload-watch.ts';
import { carryOut, OUTDATED_MS, RecentlyCreated } from './gang-maker.ts';
import { planMadeGang } from './plan-made-gang.ts';

/** Makes the PodGangs of workloads whose Pods ask for a gang by the label `muster.dev/gang`, and keeps them up to date. */
export const workloads: ControllerFactory = (shared) => {
  const { watch, settings, log, metrics } = shared;
  const { view } = watch;
  const controller = new KeyedController({
    name: 'workloads',
    watches: watch.watches,
    concurrency: settings.concurrentSyncs,
    eventsWait: true,
    begin: () => {
      const asked = new GangsByWorkload();
      const made = new RecentlyCreated(OUTDATED_MS, () => performance.now());
      const known = new WorkloadWatch({
        ...shared,
        changed: (kind, namespace, name) => {
          for (const key of asked.gangsOf(kind, namespace, name)) controller.add(key);
        },
      });
      const reconcile: Reconcile = async (key, end) => {
        const { namespace, name } = splitKey(key);
        const place = view.namespaces.get('', namespace)?.labels;
        const elsewhere = notSelected(settings.selectors, namespace, place, new Map());
        if (elsewhere !== undefined || view.standstill?.(namespace) !== undefined) return undefined;
        asked.forget(key);
        const gang = view.gangs.get(namespace, name);
        const action = planMadeGang({
          namespace,
          name,
          gang,
          pods: view.pods.byIndex(BY_GANG, key),
          kinds: settings.gangKinds,
          workload: (kind, workload) => {
            asked.remember(key, kind, namespace, workload);
            return known.of(kind, namespace, workload);
          },
        });
        if (action.do !== 'create') made.forget(key);
        else if (made.has(key)) return { requeueAfterMs: OUTDATED_MS };
        const againMs = await carryOut(action, shared, end);
        if (action.do === 'create' && againMs === undefined) made.add(key);
        return againMs === undefined ? undefined : { requeueAfterMs: againMs };
      };
      return { reconcile, keys: watch.keys(), end: () => known.stop() };
    },
    failed: (gang, error, retryInMs) =>
      log.error({ gang, err: error, retryInMs }, 'the gang of a workload was not dealt with, trying again'),
  });
  watch.onTouch((key, change) => {
    // Events of Pods that asked for no gang, and of gangs that Muster did not make, do not concern a workload.
    if (change === undefined || isOfOne(change.new) || isOfOne(change.old)) controller.add(key);
  });
  metrics.slotsFrom(controller.name, () => controller.queues);
  return controller;
};

/** Whether the record is a Pod that asked for a gang, or a gang that Muster made. */
const isOfOne = (record: PodRecord | GangRecord | undefined): boolean =>
  record !== undefined &&
  ('gates' in record ? record.origin !== undefined : workloadOf(record) !== undefined);
