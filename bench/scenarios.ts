import { median } from './histogram.ts';
import type { LoadResult } from './load-job.ts';
import type { Size } from './reviews.ts';
import type { ServerName } from './servers.ts';

/** One load that all servers get in turn. */
export interface Scenario {
  readonly id: string;
  readonly title: string;
  readonly size: Size;
  readonly connections: number;
  readonly mode: 'keep' | 'new';
}

/** An API server keeps few connections to a webhook; 16 of them keep one core busy without a long queue. */
const CONNECTIONS = 16;

const keepAlive = (size: Size): Scenario => ({
  id: String(size),
  title: `${size} KiB`,
  size,
  connections: CONNECTIONS,
  mode: 'keep',
});

/** 8 KiB first: memory is compared after it, and a server that has seen 512 KiB keeps what it took for them. */
export const scenarios: readonly Scenario[] = [
  keepAlive(8),
  keepAlive(2),
  keepAlive(64),
  keepAlive(512),
  { id: 'new', title: 'new connection', size: 8, connections: CONNECTIONS, mode: 'new' },
];

/** What the servers had in one round; the peer may be missing. */
export type Round = Readonly<Partial<Record<ServerName, LoadResult>>>;
/** By id of a scenario. */
export type Measurements = Map<string, Round[]>;

export type Figure = keyof LoadResult;

/** The median of a figure over the rounds, NaN where it was not measured. */
export const medianOf = (rounds: readonly Round[], server: ServerName, figure: Figure): number =>
  median(rounds.flatMap((round) => round[server]?.[figure] ?? []));

/**
 * The median of the quotients of the same round. The machine drifts from minute to minute, two neighbours in one
 * round share its mood: their quotient is steadier than the quotient of two medians.
 */
export const ratioOf = (
  rounds: readonly Round[],
  server: ServerName,
  other: ServerName,
  figure: Figure,
): number =>
  median(
    rounds.flatMap((round) => {
      const [upper, lower] = [round[server]?.[figure], round[other]?.[figure]];
      return upper === undefined || lower === undefined ? [] : [upper / lower];
    }),
  );
