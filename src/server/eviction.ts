import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { ConnectionCounts, ConnectionState, InboundConnection } from './connection.ts';

/** The share of the table that connections which are not known may take before they evict each other. */
const UNPROVEN_SHARE = 1 / 4;

/**
 * Milliseconds after which a connection without a request is slow. A real client finishes its handshake and sends its first
 * request within some milliseconds.
 */
const SLOW_MS = 1000;

/**
 * Returns the connection to evict for `newcomer`; undefined while the table has places. A newcomer is always accepted:
 * otherwise the first clients could keep all others out by staying.
 *
 * 1. While more than a quarter of the table is not known, one of those connections is evicted: the oldest without a request,
 *    of any address, if it is older than a second; else the oldest of the address that has most of them, so that an address
 *    with few connections keeps them.
 * 2. Else a known connection without a request under way: of the address with most known connections, the one that was
 *    silent for longest, since it is the least likely to be about to send.
 * 3. Without either, a connection that is not known, and at last the newcomer itself.
 */
export function evictedFor(
  newcomer: InboundConnection,
  table: ConnectionCounts,
  max: number,
): InboundConnection | undefined {
  if (table.size <= max) return undefined;
  const isCrowded = table.count('handshake') + table.count('stranger') > max * UNPROVEN_SHARE;
  const unproven = oldestUnproven(newcomer, table);
  return (isCrowded ? unproven : undefined) ?? longestSilent(table) ?? unproven ?? newcomer;
}

function oldestUnproven(
  newcomer: InboundConnection,
  { peers }: ConnectionCounts,
): InboundConnection | undefined {
  let oldest: InboundConnection | undefined;
  let ofHeaviest: InboundConnection | undefined;
  let most = 0;
  for (const { holds } of peers.values()) {
    const held = holds.handshake.size + holds.stranger.size;
    const one = older(first(holds.handshake), firstSilent(holds.stranger));
    if (one === undefined || one === newcomer) continue;
    oldest = older(oldest, one);
    if (held > most) [ofHeaviest, most] = [one, held];
  }
  return oldest !== undefined && newcomer.usedAt - oldest.usedAt > SLOW_MS ? oldest : ofHeaviest;
}

function longestSilent({ peers }: ConnectionCounts): InboundConnection | undefined {
  const heaviestFirst = [...peers.values()].sort((a, b) => b.holds.known.size - a.holds.known.size);
  for (const { holds } of heaviestFirst) {
    let found: InboundConnection | undefined;
    for (const one of holds.known) if (!one.busy && one.usedAt < (found?.usedAt ?? Infinity)) found = one;
    if (found !== undefined) return found;
  }
  return undefined;
}

const first = (connections: ReadonlySet<InboundConnection>): InboundConnection | undefined =>
  connections.values().next().value;

/** The oldest connection without a request under way; where each has one, the oldest of all. */
function firstSilent(strangers: ReadonlySet<InboundConnection>): InboundConnection | undefined {
  for (const one of strangers) if (!one.busy) return one;
  return first(strangers);
}

const older = (
  one: InboundConnection | undefined,
  other: InboundConnection | undefined,
): InboundConnection | undefined =>
  one === undefined || (other !== undefined && other.usedAt < one.usedAt) ? other : one;

/** Milliseconds between two lines of the log, so that a client that opens many connections cannot fill it. */
const LOG_EVERY_MS = 10_000;

/** Counts evicted connections. Logs the first at once, and sums up the others from time to time. */
export function evictionObserver(
  metrics: Metrics,
  log: Logger,
  now: () => number = () => performance.now(),
): (connection: InboundConnection) => void {
  let last = -Infinity;
  let since: Record<ConnectionState, number> = { handshake: 0, stranger: 0, known: 0 };
  return ({ state, peer }) => {
    metrics.gaveWay(state);
    since[state] += 1;
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
