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

/** What Muster does in Karmada's API server. A further controller is a folder here and a line in this list. */
const fleetControllers: readonly FleetControllerFactory[] = [fleetQueues, fleetBindings];

export interface FleetOptions extends Pick<FleetShared, 'client' | 'log' | 'metrics' | 'now'> {
  readonly settings: FleetSettings & { readonly leaderElection: LeaderElectionSettings };
}

/**
 * The loop of a fleet, with a Lease of its own beside the one of gangs: Karmada's API server is another than that of the
 * cluster in which Muster runs, and one of them may be away without the other.
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
  // Namespaces there are others than those of the gangs' loop, which has the same heap.
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
