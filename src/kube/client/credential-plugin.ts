import { validateHeaderValue } from 'node:http';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { own, type JsonObject } from '../../json/json.ts';
import { MusterError, messageOf } from '../../errors.ts';
import type { Clock } from './clock.ts';
import type { Connection, ConnectionTls } from './connection.ts';

/** Shortest interval (ms) between calls of the plugin, which caches its own credential until that expires. */
const ASK_EVERY = 30_000;

/**
 * A connection whose credentials come from a program (`exec`) or an `auth-provider`. Only this file loads
 * @kubernetes/client-node, and only for such kubeconfigs, which exist on people's laptops.
 */
export async function connectionWithPlugin(given: {
  readonly server: string;
  readonly namespace: string | undefined;
  readonly source: string;
  readonly tls: ConnectionTls;
  /** The user's entry in the kubeconfig. */
  readonly user: JsonObject;
  /** Headers that are sent with every request. */
  readonly impersonation: Readonly<Record<string, string | string[]>>;
  readonly clock: Clock;
}): Promise<Connection> {
  const { server, user } = given;
  const config = new KubeConfig();
  // Loads the parsed entries and not the files: the package merges files differently, and rejects two with the same cluster.
  config.loadFromClusterAndUser(
    { name: 'cluster', server, skipTLSVerify: false },
    {
      name: 'user',
      exec: own(user, 'exec'),
      authProvider: own(user, 'auth-provider'),
    },
  );

  const ask = async (): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
      for (const [name, value] of Object.entries(headersOf(options)))
        for (const one of [value].flat()) validateHeaderValue(name, one);
    } catch (cause) {
      throw new MusterError(
        'CLUSTER_UNREACHABLE',
        `${given.source}: the credential plugin failed: ${messageOf(cause)}`,
        'Run `kubectl get --raw /version` with the same kubeconfig: kubectl calls the same plugin.',
        { cause },
      );
    }
    return options;
  };
  let last = await ask();
  let askedAt = given.clock.now();
  return {
    server: given.server,
    namespace: given.namespace,
    source: given.source,
    // A certificate that the plugin renews later is not used: the connection pool keeps its first one.
    tls: { ...given.tls, ...text('cert', last.cert), ...text('key', last.key) },
    headers: async () => {
      if (given.clock.now() - askedAt >= ASK_EVERY) {
        last = await ask();
        askedAt = given.clock.now();
      }
      return { ...headersOf(last), ...given.impersonation };
    },
    refresh: () => {
      askedAt = -Infinity;
      return true;
    },
  };
}

const text = (key: string, value: unknown): Record<string, string> =>
  typeof value === 'string' || Buffer.isBuffer(value) ? { [key]: value.toString() } : {};

function headersOf({ headers = {}, auth }: RequestOptions): Record<string, string | string[]> {
  const found: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') found[name.toLowerCase()] = value;
    else if (Array.isArray(value)) found[name.toLowerCase()] = value.map(String);
  }
  if (auth) found['authorization'] ??= `Basic ${Buffer.from(auth).toString('base64')}`;
  return found;
}
