import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { MusterError, messageOf } from '../../errors.ts';
import { systemClock, type Clock } from './clock.ts';
import { TokenFile, type Connection } from './connection.ts';
import { connectionFromKubeconfig } from './kubeconfig.ts';

export interface ConnectionOptions {
  /** A file named by the user; takes precedence over all other sources. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Directory of the service account. Default: the kubelet's mount path. */
  readonly serviceAccountDir?: string;
  readonly home?: string;
}

const SERVICE_ACCOUNT_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Finds the cluster in controller-runtime's order: the given file, `$KUBECONFIG`, the service account of Muster's own
 * Pod, `~/.kube/config`.
 * @throws {MusterError} CLUSTER_UNREACHABLE with what is missing
 */
export async function findConnection(options: ConnectionOptions = {}): Promise<Connection> {
  const { env = process.env, clock = systemClock, home = homedir() } = options;
  const fromFiles = (paths: readonly string[]): Promise<Connection> =>
    connectionFromKubeconfig(paths, { context: options.context, clock });
  if (options.kubeconfig !== undefined) return fromFiles([options.kubeconfig]);
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) return fromFiles(listed);

  const dir = options.serviceAccountDir ?? SERVICE_ACCOUNT_DIR;
  const [host, port] = [env['KUBERNETES_SERVICE_HOST'], env['KUBERNETES_SERVICE_PORT']];
  if (host && port && existsSync(join(dir, 'token'))) return inCluster(dir, host, port, clock);

  const standard = join(home, '.kube', 'config');
  if (existsSync(standard)) return fromFiles([standard]);
  throw new MusterError(
    'CLUSTER_UNREACHABLE',
    `no cluster is configured: no --kubeconfig, no $KUBECONFIG, no service account in ${dir}, no ${standard}`,
    'Give a kubeconfig with --kubeconfig or $KUBECONFIG, or run Muster in a Pod with a service account token.',
  );
}

async function inCluster(dir: string, host: string, port: string, clock: Clock): Promise<Connection> {
  const token = new TokenFile(join(dir, 'token'), clock);
  const caFile = join(dir, 'ca.crt');
  const ca = await readFile(caFile, 'utf8').catch((cause: unknown) => {
    throw new MusterError(
      'CLUSTER_UNREACHABLE',
      `no CA certificate in ${caFile}: ${messageOf(cause)}`,
      'Mount the ConfigMap kube-root-ca.crt beside the token, as the kubelet does for a service account.',
      { cause },
    );
  });
  const namespace = await readFile(join(dir, 'namespace'), 'utf8').catch(() => '');
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: { ca },
    namespace: namespace.trim() || undefined,
    source: `the service account in ${dir}`,
    headers: async () => ({ authorization: `Bearer ${await token.current()}` }),
    refresh: () => {
      token.forget();
      return true;
    },
  };
}
