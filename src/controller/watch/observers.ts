import type { CacheMemory } from '../../kube/loop/cache-memory.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import type { Resource } from '../../kube/client/resources.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';

/** Logs and exports which namespaces exceed the memory of the caches. Gang owners see it in their PodGangs. */
export function reportMemoryExceeded(
  room: CacheMemory,
  log: Logger,
  metrics: Pick<LoopMetrics, 'standingFrom'>,
): void {
  metrics.standingFrom(() => room.standing);
  room.onTurn((namespace, why) => {
    if (why === undefined) log.info({ namespace }, 'all of the namespace is known again');
    else log.warn({ namespace, why }, 'the namespace stands still');
  });
}

/** A restarted API server is logged as info; a missing right or CRD as an error, since it lasts until somebody fixes it. */
export function observerFor(resource: Resource, log: Logger, metrics: LoopMetrics): ReflectorObserver {
  const what = resource.plural;
  metrics.watches(what);
  return {
    listed: (count, ms) => {
      metrics.listed(what);
      log.info({ what, count, ms: Math.round(ms) }, 'listed');
    },
    unstreamed: (why) =>
      log.info(
        { why },
        'the API server does not stream lists: they are read in pages, which takes it longer',
      ),
    failed: (error, retryInMs) => {
      metrics.watchFailed(what);
      const lasting = isForbidden(error) || isNotFound(error);
      log[lasting ? 'error' : 'info'](
        { what, err: error, retryInMs: Math.round(retryInMs) },
        'watch failed, trying again',
      );
    },
    handlerFailed: (error) => log.error({ what, err: error }, 'an object could not be dealt with'),
  };
}
