import { getHeapStatistics } from 'node:v8';
import type { PriorityClasses } from '../api/priority-class.ts';
import type { GangLookup } from '../backends/select.ts';
import type { Resource } from '../kube/client/resources.ts';
import { CacheMemory, memoryLimitsOf } from '../kube/loop/cache-memory.ts';
import { Manager } from '../kube/loop/manager.ts';
import type { ReflectorObserver } from '../kube/loop/reflector-options.ts';
import type { HpcPolicies } from '../preparers/preparer-factory.ts';
import { HpcObjects } from './watch/hpc-objects.ts';
import { watchPolicies } from './watch/policy-watch.ts';
import { watchPriorityClasses } from './watch/class-watch.ts';
import { reportMemoryExceeded, observerFor } from './watch/observers.ts';
import { GangStates } from './watch/gang-states.ts';
import { watchGangs } from './watch/gang-watch.ts';
import { placementOf } from './watch/place-reader.ts';
import { SchedulerActivity } from './watch/scheduler-activity.ts';
import {
  BackendsBoard,
  type ControllerFactory,
  type ControllerSettings,
  type Shared,
} from './watch/shared.ts';
import { gangs } from './gangs/controller.ts';
import { preemption } from './preemption/controller.ts';
import { schedulerObjects } from './scheduler-objects/controller.ts';
import { workloads } from './workloads/controller.ts';

/** Durations in milliseconds. */
export interface LeaderElectionSettings {
  readonly enabled: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly resourceName: string;
  readonly resourceNamespace: string;
}

export interface ControllerOptions extends Pick<
  Shared,
  'client' | 'registry' | 'log' | 'metrics' | 'backendMetrics' | 'now' | 'ownNamespace'
> {
  readonly settings: ControllerSettings & { readonly leaderElection: LeaderElectionSettings };
}

/** The running controllers: they watch on every replica and write on the one that leads. */
export interface Loop {
  /** For readiness: undefined once the caches are listed, else what is missing. */
  check(): string | undefined;
  /** Looks up the backends of Pods and gangs, for admission. */
  readonly placement: GangLookup;
  /** The cluster's PriorityClasses, for admission; cached on every replica. */
  readonly classes: PriorityClasses;
  /** The cluster's HPCPolicies, for admission; undefined when HPCPolicies are not enabled. */
  readonly hpc: HpcPolicies | undefined;
  /** Ends the work in progress, gives the Lease up, closes the client. */
  stop(): Promise<void>;
}

/** @param list the controllers to run */
export function startControllers(
  options: ControllerOptions,
  list: readonly ControllerFactory[] = controllers,
): Loop {
  const { client, settings, log, metrics } = options;
  const { enabled, resourceName: name, resourceNamespace: namespace, ...times } = settings.leaderElection;
  const manager: Manager = new Manager({
    client,
    name: 'muster',
    ...(enabled && { election: { ...times, name, namespace } }),
    observer: {
      leading: (leads, why) =>
        log.info({ leads, identity: manager.identity }, `the loop ${leads ? 'runs' : 'rests'} here: ${why}`),
      holder: (holder) => log.info({ holder }, 'the Lease changed hands'),
      failed: (what, error) => log.error({ what, err: error }, `${what} failed`),
      working: (works) => metrics.leads(works),
    },
  });
  const observe = (resource: Resource): ReflectorObserver => observerFor(resource, log, metrics);
  const room = new CacheMemory(memoryLimitsOf(getHeapStatistics().heap_size_limit));
  reportMemoryExceeded(room, log, metrics);
  const watch = watchGangs(client, observe, { room, gangKinds: settings.gangKinds });
  const { classes, watch: classWatch } = watchPriorityClasses(client, observe);
  const policyWatch =
    settings.hpc === true ? watchPolicies(client, observe, watch, room, settings.preparations) : undefined;
  const hpc = policyWatch && new HpcObjects(watch, policyWatch, settings.preparations);
  const { recorder } = manager;
  const shared: Shared = {
    ...options,
    recorder,
    watch,
    classes,
    room,
    observe,
    hpc,
    backends: new BackendsBoard(hpc),
  };
  metrics.cachedFrom(() =>
    Array.from(
      [...manager.watches, classWatch, ...(policyWatch === undefined ? [] : [policyWatch.watch])],
      ({ resource, store }) => [resource.plural, store.size],
    ),
  );
  const states = new GangStates(watch.view, () => options.now().getTime());
  watch.onGang((change) => states.changed(change));
  const activity = new SchedulerActivity(options.registry, () => options.now().getTime());
  watch.onPod((change) => activity.changed(change));
  metrics.gangs.gangs = () => states.numbers();
  metrics.gangs.schedulers = () => activity.numbers();
  classWatch.start();
  policyWatch?.watch.start();
  manager.start(list.flatMap((create) => create(shared) ?? []));
  const stopping = new AbortController();
  return {
    placement: placementOf({ client, view: watch.view, signal: stopping.signal }),
    classes,
    hpc: policyWatch?.policies,
    check: () => manager.check(),
    stop: async () => {
      stopping.abort(new Error('the controller is stopping'));
      await Promise.all([classWatch.stop(), policyWatch?.watch.stop()]);
      await manager.stop();
      log.info('the loop has ended');
    },
  };
}

/**
 * All controllers of a cluster. Adding a controller takes a folder here and a line in this list: each brings its own
 * watches, queue and metrics, and is started, led and stopped with the others.
 */
export const controllers: readonly ControllerFactory[] = [schedulerObjects, gangs, workloads, preemption];
