import { validateHeaderValue } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Connection } from '../../src/kube/client/connection.ts';
import { findConnection } from '../../src/kube/client/find-connection.ts';
import { createKubeClient } from '../../src/kube/client/http-client.ts';
import { MusterError } from '../../src/errors.ts';
import type { Random } from '../support/random.ts';
import { spoiltText } from './spoil.ts';
import { inTime, must, mustBeUnpolluted, shapeOf, type Target, type Trial } from './target.ts';
import { written } from './yaml-text.ts';

/** Nobody listens there. */
const NOWHERE = 'https://127.0.0.1:9';

/** An input: how the files are named, and their bytes in base64. */
interface Input {
  readonly context?: string;
  readonly files: readonly string[];
}

/** Kubeconfigs: a connection that can be used, or the one error that names file and way out. */
export const kubeconfigs: Target = {
  name: 'kubeconfigs',
  share: 50,
  reaches: {
    of: 1_500,
    words: [
      'connection',
      'called',
      'refused: no current-context',
      'refused: there is no context named "…"',
      'refused: there is no cluster named "…"',
      'refused: there is no user named "…"',
      'refused: cluster "…" has no usable server address: "…"',
      'refused: cluster "…" has a proxy-url, which Muster does not support',
      'refused: cannot read certificate-authority',
      'refused: is not a kubeconfig',
    ],
  },
  open: () => openKubeconfigs(),
};

export async function openKubeconfigs(find: typeof findConnection = findConnection): Promise<Trial> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-fuzz-'));
  const token = join(folder, 'token');
  await writeFile(token, 'my-secret\n');
  await writeFile(join(folder, 'empty'), '');
  let count = 0;
  return {
    width: 1,
    make: (random) => {
      const files = Array.from({ length: random.chance(85) ? 1 : 1 + random.below(3) }, () => {
        const tree = kubeconfig(random);
        if (random.chance(2)) return Buffer.from(random.pick(['[]', '5', 'x', ''])).toString('base64');
        return (random.chance(2) ? withPlugin(tree, random) : written(tree, random)).toString('base64');
      });
      return Buffer.from(
        JSON.stringify({ files, ...(random.chance(10) ? { context: random.pick(['a', 'b', '']) } : {}) }),
      );
    },
    attempt: async (bytes) => {
      const { files, context } = JSON.parse(bytes.toString()) as Input;
      count += 1;
      const paths = files.map((_, index) => join(folder, `config-${count}-${index}`));
      for (const [index, path] of paths.entries())
        await writeFile(path, Buffer.from(files[index] ?? '', 'base64'));
      try {
        const env = { KUBECONFIG: paths.join(delimiter) };
        const words = await inTime(() =>
          judge(() => find({ env, ...(context === undefined ? {} : { context }) }), folder),
        );
        mustBeUnpolluted();
        return words;
      } finally {
        await Promise.all(paths.map((path) => rm(path)));
      }
    },
    close: () => rm(folder, { recursive: true }),
  };
}

async function judge(find: () => Promise<Connection>, folder: string): Promise<string[]> {
  let connection: Connection;
  try {
    connection = await find();
  } catch (thrown) {
    return [`refused: ${judgeError(thrown, folder)}`];
  }
  const { server, tls, namespace } = connection;
  must(/^https?:$/.test(new URL(server).protocol), `the address ${server}`);
  for (const value of [...Object.values(tls).filter((one) => typeof one !== 'boolean'), namespace ?? ''])
    must(typeof value === 'string', `no text: ${JSON.stringify(value)}`);
  const words = ['connection'];
  const headers = await connection.headers().catch((thrown: unknown) => void judgeError(thrown, folder));
  for (const [name, value] of Object.entries(headers ?? {}))
    for (const one of [value].flat()) validateHeaderValue(name, one);
  const client = createKubeClient(connection);
  try {
    if (server.startsWith(NOWHERE)) {
      const called = await client
        .read('/version', { timeoutMs: 2_000 })
        .catch((thrown: unknown) => judgeError(thrown, folder));
      must(typeof called === 'string', 'an answer from nobody');
      words.push('called', `called: ${called}`);
    }
  } finally {
    await client.close();
  }
  return words;
}

/** @returns what it says, without what differs from input to input */
function judgeError(thrown: unknown, folder: string): string {
  must(
    thrown instanceof MusterError,
    () => `no error of ours: ${thrown instanceof Error ? (thrown.stack ?? '') : String(thrown)}`,
  );
  const { code, message, fix } = thrown;
  must(code === 'CLUSTER_UNREACHABLE' && fix !== '', `another code, or no way out: ${code} ${message}`);
  must(message.length < 20_000, 'a message without end');
  must(!message.includes('secret'), `a secret is told: ${message}`);
  must(
    !/undefined|\[object Object\]|Cannot read prop|is not a function|is not iterable/.test(message),
    `a raw message: ${message}`,
  );
  return shapeOf(
    message.replaceAll(new RegExp(`${folder}/config-[0-9-]+(, )?`, 'g'), '').replace(/^[: ]+| \/tmp.*$/g, ''),
  );
}

/** A credential plugin is a command line: none of its letters is ever turned, what stands around it may be. */
function withPlugin(tree: unknown, random: Random): Buffer {
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: '/nonexistent/plugin',
    interactiveMode: 'Never',
  };
  const text = JSON.stringify(tree);
  const around = random.chance(60) ? spoiltText(text, random) : text;
  return Buffer.from(
    around
      .replaceAll(/"user":\{/g, (found) => `${found}"exec":${JSON.stringify(exec)},`)
      .replaceAll(',}', '}'),
  );
}

const seldom = <T>(random: Random, usual: T, ...others: [T, ...T[]]): T =>
  random.chance(6) ? random.pick(others) : usual;
const NAMES = ['a', 'b', 'c'] as const;

function kubeconfig(random: Random): Record<string, unknown> {
  const some = (fields: Record<string, () => unknown>, percent = 25): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([key, make]) => (random.chance(percent) ? [[key, make()]] : [])),
    );
  const list = (make: (name: string) => unknown): unknown[] => NAMES.slice(0, 1 + random.below(3)).map(make);
  const pem = (): string =>
    Buffer.from(
      random.pick(['-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n', 'x', '']),
    ).toString('base64');
  const path = (): string => random.pick(['empty', 'nowhere', '/nonexistent/ca.crt', '.', '\u0000']);
  return {
    apiVersion: 'v1',
    kind: 'Config',
    ...some({ 'current-context': () => seldom<unknown>(random, 'a', 'b', 'x', '', 5) }, 95),
    clusters: list((name) => ({
      name,
      cluster: {
        server: seldom<unknown>(
          random,
          NOWHERE,
          `${NOWHERE}/a/b/`,
          'http://127.0.0.1:9',
          'ftp://x',
          'not an address',
          '',
          5,
          'https://[::1',
          'https://x:99999',
        ),
        ...some(
          {
            'certificate-authority-data': pem,
            'insecure-skip-tls-verify': () => seldom<unknown>(random, true, 'true'),
            'tls-server-name': () => seldom<unknown>(random, 'x', '', '\u0000', 5),
          },
          20,
        ),
        ...some({ 'certificate-authority': path, 'proxy-url': () => 'http://proxy' }, 8),
      },
    })),
    users: list((name) => ({
      name,
      user: {
        ...some(
          {
            token: () => seldom<unknown>(random, 'my-secret', 'a\nb', '', 'ü', '\u0000', 5),
            username: () => seldom(random, 'u', 'ü:'),
            password: () => 'my-secret',
          },
          30,
        ),
        ...some(
          {
            tokenFile: () => random.pick(['token', 'empty', 'nowhere']),
            'client-certificate-data': pem,
            'client-key-data': pem,
            as: () => seldom(random, 'x', 'x\r\ny', 'ü'),
            'as-groups': () => random.pick<unknown>([['a', 'b'], ['a\n'], 'a', [5]]),
          },
          12,
        ),
        ...some({ 'auth-provider': () => ({ name: 'nobody' }) }, 1),
        ...some({ 'client-certificate': path, 'client-key': path }, 3),
      },
    })),
    contexts: list((name) => ({
      name,
      context: {
        cluster: seldom<unknown>(random, random.pick(['a', name]), 'x', '', 5),
        user: seldom<unknown>(random, random.pick(['a', name]), 'x', '', 5),
        ...some({ namespace: () => seldom<unknown>(random, 'ml', '', 5) }),
      },
    })),
  };
}
