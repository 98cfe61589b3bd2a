import { createServer } from 'node:http';
import { connect } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What kube-proxy is to the API server: its calls of Services arrive at a program on loopback. */
export interface ClusterNetwork {
  readonly apiServerArgs: readonly string[];
  /** Leads every Service to this port. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

/**
 * The API server's way into the cluster, by its egress selector: an HTTP CONNECT proxy on a Unix socket. So webhooks are called
 * by their Service, as they ship, and nothing of a configuration has to be changed for a test.
 */
export async function clusterNetwork(): Promise<ClusterNetwork> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-network-'));
  const socket = join(folder, 'egress.sock');
  const config = join(folder, 'egress.json');
  let port = 0;
  const server = createServer();
  server.on('connect', (_request, client, head) => {
    const upstream = connect({ host: '127.0.0.1', port });
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.once('error', () => other.destroy()).once('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const connection = { proxyProtocol: 'HTTPConnect', transport: { uds: { udsName: socket } } };
  await writeFile(
    config,
    JSON.stringify({
      apiVersion: 'apiserver.k8s.io/v1beta1',
      kind: 'EgressSelectorConfiguration',
      egressSelections: [{ name: 'cluster', connection }],
    }),
  );
  return {
    apiServerArgs: [`--egress-selector-config-file=${config}`],
    leadTo: (to) => {
      port = to;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
