import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Connection, Standing } from './connection.ts';

/** At most one line in so many milliseconds: whoever opens connections must not fill the log. */
const LOG_EVERY_MS = 10_000;

/** Counts the connections that gave way, and says so at once and then from time to time. */
export function evictions(
  metrics: Metrics,
  log: Logger,
  now: () => number = () => performance.now(),
): (connection: Connection) => void {
  let last = -Infinity;
  let since: Record<Standing, number> = { handshake: 0, stranger: 0, known: 0 };
  return ({ standing, peer }) => {
    metrics.gaveWay(standing);
    since[standing] += 1;
    if (now() - last < LOG_EVERY_MS) return;
    last = now();
    log.warn(
      {
        ...since,
        address: peer.address,
        held: Object.values(peer.holds).reduce((sum, { size }) => sum + size, 0),
      },
      'too many connections: some had to give way',
    );
    since = { handshake: 0, stranger: 0, known: 0 };
  };
}
