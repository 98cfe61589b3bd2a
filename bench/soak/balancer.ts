import { access, constants, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onPath } from '../../test/cluster/control-plane/binaries.ts';
import { launch, type ManagedProcess } from '../../test/cluster/control-plane/managed-process.ts';
import type { Watchdog } from '../../test/cluster/control-plane/watchdog.ts';

/** Where one replica can be reached. */
export interface Slot {
  readonly webhooks: number;
  readonly health: number;
  readonly metrics: number;
}

/** What a Service and the readiness probe are in a cluster: TCP, by connection, to whichever replica says that it is ready. */
const configurationOf = (port: number, slots: readonly Slot[], adminSocket: string): string =>
  `global
  stats socket ${adminSocket} mode 600 level admin
defaults
  mode tcp
  timeout connect 1s
  timeout client 2m
  timeout server 2m
  timeout check 500ms
  retries 3
  option redispatch 1
listen muster
  bind 127.0.0.1:${port}
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 500ms fall 2 rise 1
${slots.map(({ webhooks, health }, index) => `  server slot-${index} 127.0.0.1:${webhooks} port ${health}\n`).join('')}`;

/** @returns path of the program; undefined where there is none */
export async function locateHaproxy(): Promise<string | undefined> {
  const usual = '/usr/sbin/haproxy';
  const there = access(usual, constants.X_OK).then(
    () => usual,
    () => undefined,
  );
  return (await onPath('haproxy')) ?? (await there);
}

export const NO_HAPROXY =
  'haproxy is neither on the PATH nor in /usr/sbin: install it (on Debian `apt-get install haproxy`)';

export interface Balancer {
  restart(): Promise<void>;
  /** Ends the open connections to a replica. A replica that drains ends its own in order, so the balancer never does by itself. */
  endConnections(slot: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startBalancer(given: {
  readonly path: string;
  readonly port: number;
  readonly slots: readonly Slot[];
  readonly dir: string;
  readonly watchdog: Watchdog;
}): Promise<Balancer> {
  const { path, port, slots, dir, watchdog } = given;
  const file = join(dir, 'haproxy.cfg');
  const adminSocket = join(dir, 'haproxy.sock');
  await writeFile(file, configurationOf(port, slots, adminSocket));
  const start = (): Promise<ManagedProcess> =>
    launch({ name: 'haproxy', path, args: ['-db', '-f', file], dir, watchdog });
  let current = await start();
  return {
    restart: async () => {
      await current.stop(2_000);
      current = await start();
    },
    endConnections: async (slot) => {
      const answer = (
        await text(connect(adminSocket).end(`shutdown sessions server muster/slot-${slot}\n`))
      ).trim();
      if (answer !== '') throw new Error(`haproxy did not end connections: ${answer}`);
    },
    stop: () => current.stop(0),
  };
}
