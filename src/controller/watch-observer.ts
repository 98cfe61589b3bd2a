import { isForbidden, isNotFound } from '../kube/client/errors.ts';
import type { Resource } from '../kube/client/resources.ts';
import type { ReflectorObserver } from '../kube/loop/reflector-options.ts';
import type { Logger } from '../telemetry/log.ts';
import type { LoopMetrics } from '../telemetry/loop-metrics.ts';

/** A restarted API server is no news; a missing right or definition is, as it stays until somebody mends it. */
export function observerFor(resource: Resource, log: Logger, metrics: LoopMetrics): ReflectorObserver {
  const what = resource.plural;
  metrics.watches(what);
  return {
    listed: (count, ms) => {
      metrics.listed(what);
      log.info({ what, count, ms: Math.round(ms) }, 'listed');
    },
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
