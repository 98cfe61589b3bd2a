import type { CacheRoom } from '../../kube/loop/cache-room.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';

/** Says which namespaces have no room in memory, to whoever runs Muster. Those who have gangs there see it in these. */
export function tellOfStandstill(
  room: CacheRoom,
  log: Logger,
  metrics: Pick<LoopMetrics, 'standingFrom'>,
): void {
  metrics.standingFrom(() => room.standing);
  room.onTurn((namespace, why) => {
    if (why === undefined) log.info({ namespace }, 'all of the namespace is known again');
    else log.warn({ namespace, why }, 'the namespace stands still');
  });
}
