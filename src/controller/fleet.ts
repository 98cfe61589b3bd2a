import { getHeapStatistics } from 'node:v8';
import type { Resource } from '../kube/client/resources.ts';
import { CacheMemory, memoryLimitsOf } from '../kube/loop/cache-memory.ts';
import { Manager } from '../kube/loop/manager.ts';
import type { ReflectorObserver } from '../kube/loop/reflector-options.ts';
import { fleetBindings } from './fleet-bindings/controller.ts';
import { fleetQueues } from './fleet-queues/controller.ts';
import type { LeaderElectionSettings, Loop } from './controller.ts';
import type { FleetControllerFactory, FleetSettings, FleetShared } from './watch/shared.ts';
import { reportMemoryExceeded, observerFor } from './watch/observers.ts';

/** All controllers of a fleet, on Karmada's API server. Adding a controller takes a folder here and a line in this list. */
const fleetControllers: readonly FleetControllerFactory[] = [fleetQueues, fleetBindings];

export interface FleetOptions extends Pick<FleetShared, 'client' | 'log' | 'metrics' | 'now'> {
  readonly settings: FleetSettings & { readonly leaderElection: LeaderElectionSettings };
}

/**
 * Starts the loop of a fleet, with its own Lease beside the one of the gangs' loop: Karmada's API server differs from
 * that of the cluster that Muster runs in, and either may be unavailable alone.
 */
export function startFleet(
  options: FleetOptions,
  list: readonly FleetControllerFactory[] = fleetControllers,
): Pick<Loop, 'check' | 'stop'> {
  const { client, settings, log, metrics } = options;
  const { enabled, resourceName, resourceNamespace: namespace, ...times } = settings.leaderElection;
  const manager: Manager = new Manager({
    client,
    name: 'muster',
    ...(enabled && { election: { ...times, name: `${resourceName}-fleet`, namespace } }),
    observer: {
      leading: (leads, why) =>
        log.info(
          { leads, identity: manager.identity },
          `the fleet's loop ${leads ? 'runs' : 'rests'} here: ${why}`,
        ),
      failed: (what, error) => log.error({ what, err: error }, `${what} failed`),
    },
  });
  const observe = (resource: Resource): ReflectorObserver => observerFor(resource, log, metrics);
  // The fleet's Namespaces differ from those of the gangs' loop, and both loops share one heap.
  const room = new CacheMemory(memoryLimitsOf(getHeapStatistics().heap_size_limit / 2));
  reportMemoryExceeded(room, log, metrics);
  metrics.cachedFrom(() =>
    Array.from(manager.watches, ({ resource, store }) => [resource.plural, store.size]),
  );
  manager.start(
    list.flatMap((create) => create({ ...options, observe, room, recorder: manager.recorder }) ?? []),
  );
  return {
    check: () => manager.check(),
    stop: async () => {
      await manager.stop();
      log.info("the fleet's loop has ended");
    },
  };
}
