import { systemClock } from '../../kube/client/clock.ts';
import { POD_GANGS, PODS } from '../../kube/client/resources.ts';
import { KeyedController } from '../../kube/loop/keyed-controller.ts';
import { refusalText } from '../../preemption/refusal.ts';
import { PreemptionMetrics } from '../../telemetry/preemption-metrics.ts';
import type { ControllerFactory, Shared } from '../watch/shared.ts';
import { PlanRate, type RoomObserver } from './make-room.ts';
import { plannerThread } from './planner.ts';
import { roomReconciler } from './reconcile-room.ts';

/**
 * Preempts for gangs whose scheduler does not preempt for gangs: carries out the planner's plans. Runs only when the
 * configuration enables it. It has no watch of its own: the watch of gangs selects the gangs to try, and the cluster is
 * read for each attempt.
 */
export const preemption: ControllerFactory = (shared) => {
  const { client, settings, log, metrics, watch, now } = shared;
  const { preemption: acting } = settings;
  if (acting === undefined) return undefined;
  const counts = new PreemptionMetrics(metrics.registry);
  const controller = new KeyedController({
    name: 'preemption',
    watches: watch.watches,
    concurrency: 1,
    begin: () => {
      const reconcile = roomReconciler({
        client,
        view: watch.view,
        registry: shared.registry,
        selectors: settings.selectors,
        settings: acting,
        gangKinds: settings.gangKinds,
        rate: new PlanRate(acting.limits.plansPerMinute, () => systemClock.now()),
        planner: plannerThread,
        now,
        clock: systemClock,
        observer: {
          ...toldOf(shared, counts),
          attempted: (gang, result, refusal) => {
            counts.attempted(result);
            if (refusal === undefined) return;
            const why = refusalText(refusal, 'operator');
            log.info({ gang: `${gang.namespace}/${gang.name}`, why }, 'no room is made for a gang');
            const note = refusalText(refusal, { namespace: gang.namespace });
            shared.recorder.event(
              { resource: POD_GANGS, ...gang },
              { type: 'Warning', reason: 'PreemptionWaits', note },
            );
          },
          planned: (seconds) => counts.planned(seconds),
        },
      });
      return { reconcile, keys: watch.keys() };
    },
    failed: (gang, error, retryInMs) => {
      counts.attempted('error');
      log.error({ gang, err: error, retryInMs }, 'no room could be made, trying again');
    },
  });
  watch.onTouch((key) => controller.add(key));
  metrics.slotsFrom(controller.name, () => controller.queues);
  return controller;
};

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Reports preemption to log, metrics and Events. Events of a gang mention victims of other namespaces by number only. */
function toldOf({ log, recorder }: Shared, counts: PreemptionMetrics): Omit<RoomObserver, 'planned'> {
  return {
    begun: (gang, { evict, why }) => {
      const pods = evict.flatMap(({ pods: all }) => all);
      log.info(
        { gang: `${gang.namespace}/${gang.name}`, victims: pods.map(({ name }) => name), why },
        'room is being made for a gang',
      );
      recorder.event(
        { resource: POD_GANGS, ...gang },
        {
          type: 'Normal',
          reason: 'Preempting',
          note: `${counted(pods.length, 'Pod')} of ${counted(evict.length, 'unit')} with priorities up to ${Math.max(...evict.map(({ priority }) => priority))} ${pods.length === 1 ? 'makes' : 'make'} room`,
        },
      );
    },
    ended: (gang, why) =>
      log.info({ gang: `${gang.namespace}/${gang.name}`, why }, 'room is no longer being made for a gang'),
    evicted: (pod, gang, priority) => {
      counts.evicted();
      const who = pod.namespace === gang.namespace ? gang.name : gang.uid;
      recorder.event(
        { resource: PODS, ...pod },
        {
          type: 'Normal',
          reason: 'Preempted',
          action: 'Preempting',
          note: `Preempted by PodGang ${who}, whose priority ${priority} is higher`,
        },
      );
    },
  };
}
