import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { findConnection } from '../../../src/kube/client/find-connection.ts';
import { FakeClock } from '../../unit/kube/loop/fake-clock.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const cluster = (name: string, more: object = {}) => ({
  name,
  cluster: { server: `https://${name}.test:6443/`, 'certificate-authority-data': base64('CA'), ...more },
});
const config = (user: object, more: object = {}): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [cluster('sea'), cluster('lake')],
    users: [{ name: 'me', user }],
    contexts: [
      { name: 'one', context: { cluster: 'sea', user: 'me', namespace: 'crew' } },
      { name: 'two', context: { cluster: 'lake', user: 'me' } },
    ],
    'current-context': 'one',
    ...more,
  });

let dir: string;
const file = async (name: string, text: string): Promise<string> => {
  await writeFile(join(dir, name), text);
  return join(dir, name);
};

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-connection-'));
});

describe('a kubeconfig', () => {
  test.each([
    ['a token', { token: 'T' }, { authorization: 'Bearer T' }],
    ['a password', { username: 'u', password: 'p' }, { authorization: `Basic ${base64('u:p')}` }],
    [
      'impersonation',
      { token: 'T', as: 'bob', 'as-groups': ['sailors'] },
      { authorization: 'Bearer T', 'impersonate-user': 'bob', 'impersonate-group': ['sailors'] },
    ],
    ['nothing', {}, {}],
  ])('with %s', async (_, user, headers) => {
    const kubeconfig = await file('config', config(user));
    const connection = await findConnection({ kubeconfig, env: {} });
    expect(connection).toMatchObject({
      server: 'https://sea.test:6443',
      tls: { ca: 'CA' },
      namespace: 'crew',
      source: `${kubeconfig}, context one`,
    });
    expect(await connection.headers()).toEqual(headers);
    expect(connection.refresh()).toBe(false);
  });

  test('with files beside it, and another context', async () => {
    await file('my.crt', 'CERT');
    await file('my.key', 'KEY');
    const kubeconfig = await file(
      'config',
      config({ 'client-certificate': 'my.crt', 'client-key': join(dir, 'my.key') }),
    );
    const connection = await findConnection({ kubeconfig, context: 'two', env: {} });
    expect(connection).toMatchObject({
      server: 'https://lake.test:6443',
      tls: { ca: 'CA', cert: 'CERT', key: 'KEY' },
      namespace: undefined,
    });
  });

  test('with a token file that is rotated', async () => {
    const clock = new FakeClock();
    await file('token', 'first\n');
    const kubeconfig = await file('config', config({ tokenFile: 'token' }));
    const connection = await findConnection({ kubeconfig, env: {}, clock });
    await file('token', 'second\n');
    expect(await connection.headers()).toEqual({ authorization: 'Bearer first' });
    await clock.pass(60_000);
    expect(await connection.headers()).toEqual({ authorization: 'Bearer second' });
    await file('token', 'third\n');
    expect(connection.refresh()).toBe(true);
    expect(await connection.headers()).toEqual({ authorization: 'Bearer third' });
    // A file that is away for a moment does not take the token from us.
    await file('token', '');
    connection.refresh();
    expect(await connection.headers()).toEqual({ authorization: 'Bearer third' });
  });

  test('in several files: the first that says something wins', async () => {
    const first = await file('first', stringify({ users: [{ name: 'me', user: { token: 'first' } }] }));
    const second = await file('second', config({ token: 'second' }));
    const KUBECONFIG = `${first}:${join(dir, 'nowhere')}:${second}`;
    const connection = await findConnection({ env: { KUBECONFIG } });
    expect(await connection.headers()).toEqual({ authorization: 'Bearer first' });
    expect(connection.server).toBe('https://sea.test:6443');
  });

  test('with a credential plugin', async () => {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'from-a-plugin' },
    };
    const plugin = await file('plugin.sh', `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`);
    await chmod(plugin, 0o700);
    const exec = { apiVersion: credential.apiVersion, command: plugin, interactiveMode: 'Never' };
    const kubeconfig = await file('config', config({ exec }));
    const connection = await findConnection({ kubeconfig, context: 'two', env: {} });
    expect(connection).toMatchObject({ server: 'https://lake.test:6443', tls: { ca: 'CA' } });
    expect(await connection.headers()).toEqual({ authorization: 'Bearer from-a-plugin' });
  });

  test.each([
    ['no YAML', 'a: [', 'is not YAML'],
    ['no kubeconfig', '[]', 'is not a kubeconfig'],
    ['no context', 'clusters: []', 'no current-context'],
    ['a context that is not there', config({}, { 'current-context': 'x' }), 'no context named "x"'],
    ['a user that is not there', config({}, { users: [] }), 'no user named "me"'],
    [
      'no address',
      config({}, { clusters: [{ name: 'sea', cluster: { server: 'sea' } }] }),
      'no usable server address',
    ],
    ['a proxy', config({}, { clusters: [cluster('sea', { 'proxy-url': 'http://p' })] }), 'has a proxy-url'],
    ['a file that is away', config({ 'client-key': 'away.key' }), 'cannot read client-key'],
    ['a token file that is away', config({ tokenFile: 'away' }), 'no token in'],
    ['a plugin that is away', config({ exec: { command: '/nowhere/plugin' } }), 'credential plugin failed'],
  ])('with %s: says so', async (_, text, says) => {
    const kubeconfig = await file('config', text);
    await expect(findConnection({ kubeconfig, env: {} })).rejects.toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      message: expect.stringContaining(says) as unknown,
    });
  });
});

describe('a kubeconfig, found by fuzzing', () => {
  const messageOf = async (text: string): Promise<string> => {
    const kubeconfig = await file('config', text);
    const thrown: unknown = await findConnection({ kubeconfig, env: {} }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'CLUSTER_UNREACHABLE' });
    return (thrown as Error).message.replace(kubeconfig, 'CONFIG');
  };

  test.each([
    ['token', { token: 'sec\nret' }],
    ['as', { as: 'bob\r\nX-Other: y' }],
    ['as-groups', { 'as-groups': ['sailors', 'cooks\n'] }],
    ['tokenFile', { tokenFile: 'broken' }],
    ['as', { as: 'bob\r\nX-Other: y', 'auth-provider': { name: 'nobody' } }],
    ['as-groups', { 'as-groups': ['cooks\n'], exec: { command: 'nothing' } }],
  ])('%s with a line end is refused by its name, not when the first request goes out', async (key, user) => {
    await file('broken', 'sec\nret');
    const message = await messageOf(config(user));
    expect(message).toContain(`${key} of user "me" has a character that no HTTP header may have`);
    expect(message).not.toMatch(/sec|bob|cooks/);
  });

  test.each([
    ['a line of it', `users:\n- user: {token: 'secret\n`, /^CONFIG:3 is not YAML: Missing closing 'quote$/],
    ['a piece of it', '{"token": secret: more}', /^CONFIG:1 is not YAML: [^"]*$/],
    ['an alias', 'token: *secret', /^CONFIG is not YAML: Unresolved alias \(the anchor .* the alias\)$/],
    ['a tag', 'token: !secret!x y', /^CONFIG:1 is not YAML: Could not resolve tag$/],
    ['a bare tag', 'token: !secret! y', /^CONFIG:1 is not YAML: tag has no suffix$/],
    ["a block's header", 'token: |secret', /^CONFIG:1 is not YAML: Block scalar header .* extra characters$/],
    ['an escape', 'token: "\\Usecret"', /^CONFIG:1 is not YAML: Invalid escape$/],
    [
      'what the parser advises',
      'a: secret\n---\nb: c',
      /^CONFIG(:\d)? is not YAML: it has more than one document$/,
    ],
    ['a stack', '['.repeat(20_000), /is not YAML: it is nested too deeply$/],
  ])('one that is not YAML is refused without %s: it may be a secret', async (_what, text, says) => {
    const message = await messageOf(text);
    expect(message).toMatch(says);
    expect(message).not.toContain('secret');
  });

  test('a tag that nobody knows is not told to the world by a warning with its line', async () => {
    const warned: Error[] = [];
    const hear = (warning: Error): void => void warned.push(warning);
    process.on('warning', hear);
    const kubeconfig = await file('config', config({ token: 'T' }).replace('token: T', 'token: !mine T'));
    expect(await (await findConnection({ kubeconfig, env: {} })).headers()).toEqual({
      authorization: 'Bearer T',
    });
    await new Promise(setImmediate);
    process.off('warning', hear);
    expect(warned).toEqual([]);
  });

  test('a credential plugin whose token has a line end has failed, and nothing of it is repeated', async () => {
    const plugin = await file('plugin.sh', `#!/bin/sh\necho '{"status":{"token":"sec\\\\nret"}}'\n`);
    await chmod(plugin, 0o700);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin };
    const message = await messageOf(config({ exec }));
    expect(message).toMatch(/the credential plugin failed: Invalid character in header content/);
    expect(message).not.toContain('sec');
  });

  test('with a credential plugin, beside another that names the same cluster, or one without a name', async () => {
    const plugin = await file('plugin.sh', `#!/bin/sh\necho '{"status":{"token":"P"}}'\n`);
    await chmod(plugin, 0o700);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin };
    const user = { exec, as: 'bob', 'as-groups': ['sailors'] };
    const clusters = [cluster('sea'), { cluster: {} }, { name: 'odd', cluster: { server: 5 } }];
    const files = [await file('one', config(user, { clusters })), await file('two', config(user))];
    const connection = await findConnection({ env: { KUBECONFIG: files.join(delimiter) } });
    expect(await connection.headers()).toEqual({
      authorization: 'Bearer P',
      'impersonate-user': 'bob',
      'impersonate-group': ['sailors'],
    });
    expect(connection).toMatchObject({ server: 'https://sea.test:6443', tls: { ca: 'CA' } });
  });
});

describe('without a kubeconfig', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };

  test('the service account of the Pod is used, its token being read again', async () => {
    await file('token', 'T1');
    await file('ca.crt', 'CA');
    await file('namespace', 'muster-system\n');
    const connection = await findConnection({ env, serviceAccountDir: dir, home: dir });
    expect(connection).toMatchObject({
      server: 'https://[fd00::1]:443',
      tls: { ca: 'CA' },
      namespace: 'muster-system',
    });
    expect(await connection.headers()).toEqual({ authorization: 'Bearer T1' });
    await file('token', 'T2');
    expect(connection.refresh()).toBe(true);
    expect(await connection.headers()).toEqual({ authorization: 'Bearer T2' });
  });

  test('a Pod without a CA certificate is told so', async () => {
    await file('token', 'T1');
    await expect(findConnection({ env, serviceAccountDir: dir, home: dir })).rejects.toThrow(
      'no CA certificate in',
    );
  });

  test('nobody is told what was looked for', async () => {
    await expect(findConnection({ env: {}, serviceAccountDir: dir, home: dir })).rejects.toMatchObject({
      code: 'CLUSTER_UNREACHABLE',
      exitCode: 3,
      message: expect.stringContaining(`no service account in ${dir}`) as unknown,
    });
  });
});
