import { connect, createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** What a Service with several endpoints is on loopback. */
export interface LoopbackService {
  readonly port: number;
  /** Ports that new connections go to, in turn. Open connections stay where they are, as with kube-proxy. */
  setEndpoints(ports: readonly number[]): void;
  close(): Promise<void>;
}

/** Forwards bytes and knows nothing of TLS or HTTP: where an endpoint refuses, the client sees an end. */
export async function loopbackService(): Promise<LoopbackService> {
  let endpoints: readonly number[] = [];
  let turn = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const target = endpoints[turn++ % Math.max(endpoints.length, 1)];
    if (target === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect({ port: target, host: '127.0.0.1' });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.setNoDelay(true);
      one.pipe(other);
      one.once('error', () => other.destroy());
      one.once('close', () => {
        open.delete(one);
        other.end();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    setEndpoints: (ports) => {
      endpoints = ports;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
