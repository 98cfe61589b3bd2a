import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { parse } from 'yaml';
import { type JsonObject, isObject, own, ownList, ownObject, ownString } from '../../json/json.ts';
import { yamlTrouble } from '../../text/printable.ts';
import { MusterError, messageOf } from '../../errors.ts';
import type { Clock } from './clock.ts';
import { TokenFile, type Connection, type ConnectionTls } from './connection.ts';

interface Entry {
  readonly name: string;
  readonly value: JsonObject;
  /** The directory of the file that the entry is in: relative paths start there. */
  readonly dir: string;
}

const fault = (message: string, fix: string, cause?: unknown): MusterError =>
  new MusterError('CLUSTER_UNREACHABLE', message, fix, cause === undefined ? {} : { cause });

const SEE = 'Compare with what `kubectl config view` shows; kubectl must work with the same file.';

/**
 * Reads kubeconfig files (several are merged, and the first that sets a value wins, as for kubectl): tokens, token
 * files, client certificates, passwords, impersonation. Credential plugins (`exec`, `auth-provider`) are handled by
 * @kubernetes/client-node, which is loaded only for them: it costs 82 MiB, and a Pod never needs it. The image leaves it out.
 */
export async function connectionFromKubeconfig(
  paths: readonly string[],
  { context: wanted, clock }: { context?: string | undefined; clock: Clock },
): Promise<Connection> {
  const documents = await readAll(paths);
  const source = paths.join(', ');
  const entries = (list: string, key: string): Entry[] =>
    documents.flatMap(({ document, dir }) =>
      (ownList(document, list) ?? []).flatMap((item) => {
        const [name, value] = [ownString(item, 'name'), ownObject(item, key)];
        return name === undefined || value === undefined ? [] : [{ name, value, dir }];
      }),
    );
  const find = (list: string, key: string, name: string): Entry => {
    const found = entries(list, key).find((entry) => entry.name === name);
    if (found === undefined) throw fault(`${source}: there is no ${key} named "${name}"`, SEE);
    return found;
  };
  const current =
    wanted ?? documents.map(({ document }) => ownString(document, 'current-context')).find(Boolean);
  if (current === undefined)
    throw fault(`${source}: no current-context`, 'Choose one with `kubectl config use-context`.');
  const context = find('contexts', 'context', current).value;
  const cluster = find('clusters', 'cluster', ownString(context, 'cluster') ?? '');
  const userName = ownString(context, 'user');
  const user: Entry = userName ? find('users', 'user', userName) : { name: '', value: {}, dir: '' };

  const server = ownString(cluster.value, 'server') ?? '';
  if (!URL.canParse(server) || !/^https?:$/.test(new URL(server).protocol))
    throw fault(`${source}: cluster "${cluster.name}" has no usable server address: "${server}"`, SEE);
  if (own(cluster.value, 'proxy-url') !== undefined)
    throw fault(
      `${source}: cluster "${cluster.name}" has a proxy-url, which Muster does not support`,
      'Reach the API server directly, or by `kubectl proxy` and a kubeconfig that names its address.',
    );
  const where = {
    server: server.replace(/\/+$/, ''),
    namespace: ownString(context, 'namespace'),
    source: `${source}, context ${current}`,
  };
  const tls = await tlsOf(cluster, user);
  const impersonation = impersonationOf(user, source);
  const plugin = ['exec', 'auth-provider'].find((key) => own(user.value, key) !== undefined);
  if (plugin !== undefined) {
    const { connectionWithPlugin } = await import('./credential-plugin.ts').catch((cause: unknown) => {
      if (own(cause, 'code') !== 'ERR_MODULE_NOT_FOUND') throw cause;
      throw fault(
        `${source}: user "${user.name}" has ${plugin}, and Muster's image has no @kubernetes/client-node to ask a credential plugin with`,
        'In the image give the user a token, a tokenFile or a client certificate; with a plugin run Muster from its npm package.',
        cause,
      );
    });
    return connectionWithPlugin({ ...where, tls, user: user.value, impersonation, clock });
  }
  return { ...where, tls, ...(await identityOf(user, { source, clock, impersonation })) };
}

async function readAll(paths: readonly string[]): Promise<{ document: JsonObject; dir: string }[]> {
  const found: { document: JsonObject; dir: string }[] = [];
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch((cause: unknown) => {
      // A list may name files that do not exist, as long as one exists.
      if (paths.length > 1 && own(cause, 'code') === 'ENOENT') return undefined;
      throw fault(
        `cannot read the kubeconfig ${path}: ${messageOf(cause)}`,
        'Name a readable file in --kubeconfig or $KUBECONFIG.',
        cause,
      );
    });
    if (text === undefined) continue;
    let document: unknown;
    try {
      // The parser's warnings and pretty errors would write lines of the file, which contain secrets, to standard error
      // and logs.
      document = parse(text, { prettyErrors: false, logLevel: 'error' });
    } catch (cause) {
      throw fault(`${placeOf(cause, text, path)} is not YAML: ${troubleOf(cause)}`, SEE);
    }
    if (!isObject(document)) throw fault(`${path} is not a kubeconfig`, SEE);
    found.push({ document, dir: dirname(path) });
  }
  if (found.length === 0)
    throw fault(`none of these exists: ${paths.join(', ')}`, 'Name a file that exists in $KUBECONFIG.');
  return found;
}

/**
 * The parts of parser messages that quote the file, found by the words before them: keys, tags, aliases, block headers,
 * escapes.
 */
const QUOTED = /(: | sequence |, so ).*$|^The \S+ /s;

const troubleOf = (cause: unknown): string => yamlTrouble(cause as Error).replace(QUOTED, '');

/** `path` with the line number of the parser's error. */
function placeOf(cause: unknown, text: string, path: string): string {
  const [offset] = (cause as { pos?: readonly number[] }).pos ?? [];
  return offset === undefined ? path : `${path}:${text.slice(0, offset).split('\n').length}`;
}

async function tlsOf(cluster: Entry, user: Entry): Promise<ConnectionTls> {
  const ca = await pem(cluster, 'certificate-authority');
  const cert = await pem(user, 'client-certificate');
  const key = await pem(user, 'client-key');
  const servername = ownString(cluster.value, 'tls-server-name');
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(servername === undefined ? {} : { servername }),
    ...(own(cluster.value, 'insecure-skip-tls-verify') === true ? { rejectUnauthorized: false } : {}),
  };
}

/** `<key>-data` is the text in base64 and takes precedence over `<key>`, which names a file. */
async function pem({ value, dir }: Entry, key: string): Promise<string | undefined> {
  const data = ownString(value, `${key}-data`);
  if (data) return Buffer.from(data, 'base64').toString();
  const file = ownString(value, key);
  if (!file) return undefined;
  const path = isAbsolute(file) ? file : join(dir, file);
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw fault(
      `cannot read ${key} ${path}: ${messageOf(cause)}`,
      'Correct the path in the kubeconfig.',
      cause,
    );
  });
}

type Identity = Pick<Connection, 'headers' | 'refresh'>;
/** The impersonation headers of requests. */
type Impersonation = Readonly<Record<string, string | string[]>>;

/** The characters that HTTP allows in a header value. */
const HEADER = /^[\t\x20-\x7e\x80-\xff]*$/;

/** @throws when HTTP does not allow one of the values in a header */
function checkForHeader(
  entry: Entry,
  source: string,
  key: string,
  ...values: readonly (string | undefined)[]
): void {
  if (values.every((value) => HEADER.test(value ?? ''))) return;
  throw fault(
    `${source}: ${key} of user "${entry.name}" has a character that no HTTP header may have, such as a line end`,
    'Write it anew: most often a line end was pasted with it.',
  );
}

function impersonationOf(entry: Entry, source: string): Impersonation {
  const as = ownString(entry.value, 'as');
  const groups = (ownList(entry.value, 'as-groups') ?? []).filter((group) => typeof group === 'string');
  checkForHeader(entry, source, 'as', as);
  checkForHeader(entry, source, 'as-groups', ...groups);
  return {
    ...(as === undefined ? {} : { 'impersonate-user': as }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': groups }),
  };
}

async function identityOf(
  entry: Entry,
  { source, clock, impersonation }: { source: string; clock: Clock; impersonation: Impersonation },
): Promise<Identity> {
  const { value: user, dir } = entry;
  const tokenFile = ownString(user, 'tokenFile');
  if (tokenFile) {
    const token = new TokenFile(isAbsolute(tokenFile) ? tokenFile : join(dir, tokenFile), clock);
    checkForHeader(entry, source, 'tokenFile', await token.current());
    return {
      headers: async () => ({ ...impersonation, authorization: `Bearer ${await token.current()}` }),
      refresh: () => {
        token.forget();
        return true;
      },
    };
  }
  const [token, name] = [ownString(user, 'token'), ownString(user, 'username')];
  checkForHeader(entry, source, 'token', token);
  const basic = (): string => Buffer.from(`${name}:${ownString(user, 'password') ?? ''}`).toString('base64');
  const headers = {
    ...impersonation,
    ...(token ? { authorization: `Bearer ${token}` } : name ? { authorization: `Basic ${basic()}` } : {}),
  };
  return { headers: () => Promise.resolve(headers), refresh: () => false };
}
