import { spawnSync } from 'node:child_process';
import { allowedCores } from './process-usage.ts';

/**
 * Which process runs where. The server has a core of its own and the load generator another, so that neither takes
 * the other's time and every server, the one with many threads too, has the same one core.
 */
export interface Placement {
  /** Words to put before a command. */
  readonly onServerCore: readonly string[];
  readonly onClientCore: readonly string[];
  readonly serverCore?: number;
  /** For people. */
  readonly description: string;
}

export function choosePlacement(): Placement {
  const cores = allowedCores();
  const [server, client] = [cores.at(0), cores.at(-1)];
  if (server === undefined || client === undefined || server === client) {
    return unpinned('only one core: the load generator takes time from the servers');
  }
  if (spawnSync('taskset', ['--version']).error !== undefined) return unpinned('taskset is missing');
  return {
    onServerCore: ['taskset', '-c', String(server)],
    onClientCore: ['taskset', '-c', String(client)],
    serverCore: server,
    description: `servers on core ${server}, load generator on core ${client}`,
  };
}

/**
 * Words to put before a command that shares a core with somebody who must not wait for it. The class of `nice` is not
 * enough: whoever wakes up waits there until the other's slice is over, some milliseconds, which is more than a review takes.
 */
export const givingWay = (): readonly string[] =>
  spawnSync('chrt', ['--version']).error === undefined ? ['chrt', '--idle', '0'] : ['nice', '-n', '19'];

const unpinned = (why: string): Placement => ({
  onServerCore: [],
  onClientCore: [],
  description: `nothing is pinned (${why})`,
});
