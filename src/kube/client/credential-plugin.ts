import type { RequestOptions } from 'node:https';
import { readFile } from 'node:fs/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { MusterError, messageOf } from '../../errors.ts';
import type { Clock } from './clock.ts';
import type { Connection } from './connection.ts';

/** The plugin is asked at most this often (ms); it keeps its own credential until that expires. */
const ASK_EVERY = 30_000;

/**
 * A connection whose credentials come from a program (`exec`) or an `auth-provider`. Only this file loads
 * @kubernetes/client-node, and only for such kubeconfigs, which people have on laptops.
 */
export async function connectionWithPlugin(given: {
  server: string;
  namespace: string | undefined;
  source: string;
  files: readonly string[];
  context: string;
  clock: Clock;
}): Promise<Connection> {
  const config = new KubeConfig();
  const [first, ...others] = given.files;
  if (first !== undefined) config.loadFromFile(first);
  for (const file of others) {
    const further = new KubeConfig();
    further.loadFromString(await readFile(file, 'utf8'));
    config.mergeConfig(further, true);
  }
  config.setCurrentContext(given.context);

  const ask = async (): Promise<RequestOptions> => {
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
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
    // A certificate that the plugin renews later is not taken up: the pool keeps its first one.
    tls: {
      ...text('ca', last.ca),
      ...text('cert', last.cert),
      ...text('key', last.key),
      ...(last.servername === undefined ? {} : { servername: last.servername }),
      ...(last.rejectUnauthorized === false ? { rejectUnauthorized: false } : {}),
    },
    headers: async () => {
      if (given.clock.now() - askedAt >= ASK_EVERY) {
        last = await ask();
        askedAt = given.clock.now();
      }
      return headersOf(last);
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
