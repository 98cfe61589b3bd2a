/** The dashboard's server over real sockets: who gets an answer, and what it is. */
import { request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pageFiles } from '../../../src/dashboard/page-files.ts';
import { MusterError } from '../../../src/errors.ts';
import { ApiError } from '../../../src/kube/client/errors.ts';
import { until } from '../../unit/tls/until.ts';
import { DashboardOfGangs, detailOf, someGang } from './some-gangs.ts';

interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let dashboard: DashboardOfGangs;
beforeEach(async () => {
  dashboard = await DashboardOfGangs.start([someGang('train'), someGang('done', { phase: 'Running' })]);
});
afterEach(() => dashboard.close());

const ask = (
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: dashboard.port, path, method, headers }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    })
      .on('error', reject)
      .end();
  });

const token = (): string => new URL(dashboard.address).search;

async function loggedIn(): Promise<Record<string, string>> {
  const { headers } = await ask(`/${token()}`);
  return { cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
}

const refusal = ({ status, body }: Answered): unknown => [
  status,
  (JSON.parse(body) as { error: { code: string; message: string } }).error,
];

describe('the token', () => {
  test('becomes a cookie that no script reads and no other site sends, and leaves the address', async () => {
    const { status, headers } = await ask(`/${token()}`);
    expect([status, headers.location]).toEqual([303, '/']);
    const name = `muster-${dashboard.port}`;
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(new RegExp(`^${name}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`)),
    ]);
  });

  test.each(['twice', '?token=', '?token=a&token=b', '?token=é', '?token[]=x'])(
    'works once: %s',
    async (given) => {
      const query = given === 'twice' ? token() : given;
      if (given === 'twice') await ask(`/${query}`);
      const answer = await ask(`/${encodeURI(query)}`);
      expect(answer.headers['set-cookie']).toBeUndefined();
      if (given === '?token[]=x') return;
      expect(refusal(answer)).toEqual([
        403,
        {
          code: 'TOKEN',
          message: 'the token of this address was used before, or is not the one that was printed',
          fix: 'End muster dashboard, start it again, and open the address that it prints.',
        },
      ]);
    },
  );

  test.each([
    ...['/api/v1/gangs', '/api/v1/gangs?watch=true', '/api/v1/gangs/ml/train'],
    ...['/api/v1/gangs/ml/train/plan', '/api/v1/queues', '/api/v1/fleet', '/api/v1/backends'],
  ])('without it there is no data: %s', async (path) => {
    const message = 'this browser has not opened the address with the token that muster dashboard printed';
    expect(refusal(await ask(path))).toEqual([401, expect.objectContaining({ code: 'LOGIN', message })]);
    const cookie = `muster-${dashboard.port}=${'A'.repeat(43)}`;
    expect((await ask(path, { headers: { cookie } })).status).toBe(401);
  });
});

test('without a cookie there is no data, in whatever way the path is written', async () => {
  const found: (number | undefined)[] = [];
  for (const path of [
    '/api/v1/gangs',
    '/api/v1/gangs?watch=true',
    '/api/v1/gangs/ml/train',
    '/api/v1/gangs/ml/train/plan',
    ...['/api/v1/queues', '/api/v1/fleet', '/api/v1/backends'],
  ])
    for (const at of path.split('?')[0]?.matchAll(/[^/]/g) ?? []) {
      const code = `%${at[0].charCodeAt(0).toString(16)}`;
      const { status } = await ask(path.slice(0, at.index) + code + path.slice(at.index + 1));
      found.push(status);
    }
  expect(new Set(found)).toEqual(new Set([401]));
});

const KEPT = pageFiles().kept;
const keptAt = (end: string): string => [...KEPT.keys()].find((path) => path.endsWith(end)) ?? end;
const MAIN = keptAt('/page/main.ts');
const STYLE = keptAt('/style.css');

describe('a browser that was led here', () => {
  test.each(['evil.example', '127.0.0.1', '127.0.0.1:1', '[::1]:80', 'localhost.evil.example'])(
    'by another name, %s, reads nothing (DNS rebinding)',
    async (host) => {
      const headers = { ...(await loggedIn()), host };
      for (const path of ['/', STYLE, '/api/v1/gangs', '/nothing']) {
        const answer = await ask(path, { headers });
        expect(refusal(answer)).toEqual([
          421,
          {
            code: 'HOST',
            message: `the dashboard answers to 127.0.0.1:${dashboard.port} and localhost:${dashboard.port} alone`,
            fix: 'Open the address that muster dashboard has printed.',
          },
        ]);
      }
    },
  );

  test.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('by another page, %j, reads nothing', async (given) => {
    const answer = await ask('/api/v1/gangs', { headers: { ...(await loggedIn()), ...given } });
    const message = 'the request comes from a page of another origin';
    expect(refusal(answer)).toEqual([403, { code: 'ORIGIN', message, fix: 'Open the dashboard itself.' }]);
  });

  test('by its own page, reads', async () => {
    const headers = await loggedIn();
    const origin = `http://127.0.0.1:${dashboard.port}`;
    const own = { ...headers, origin, 'sec-fetch-site': 'same-origin' };
    expect((await ask('/api/v1/gangs', { headers: own })).status).toBe(200);
    const host = `localhost:${dashboard.port}`;
    expect((await ask('/api/v1/gangs', { headers: { ...headers, host } })).status).toBe(200);
  });
});

test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'])(
  '%s changes nothing',
  async (method) => {
    const headers = await loggedIn();
    for (const path of ['/', '/api/v1/gangs', '/api/v1/gangs/ml/train', '/nothing']) {
      const answer = await ask(path, { method, headers });
      expect([answer.status, answer.headers.allow]).toEqual([405, 'GET']);
      if (method !== 'HEAD')
        expect(refusal(answer)).toEqual([
          405,
          {
            code: 'METHOD',
            message: 'the dashboard changes nothing, and answers GET alone',
            fix: 'Use kubectl.',
          },
        ]);
    }
  },
);

test.each([
  ...['/style.css', '/page/main.ts', `/${'0'.repeat(16)}/style.css`, '//etc/passwd', '/%zz'],
  ...['/../../package.json', '/%2e%2e/access.ts', '/..%2faccess.ts', '/', '/main.ts%00'].map((path) =>
    MAIN.replace('/main.ts', path),
  ),
  ...[`${MAIN}/..`, `${STYLE}/`, STYLE.replace('style', 'STYLE'), '/api', '/api/v2/gangs'],
])('no file is read for a path: %s', async (path) => {
  const answer = await ask(path, { headers: await loggedIn() });
  expect(refusal(answer)).toEqual([
    404,
    { code: 'UNKNOWN', message: 'the dashboard has no such page', fix: 'Begin at /.' },
  ]);
  expect(answer.headers['content-security-policy']).toBeDefined();
});

test('the page loads from itself alone, and every answer says so', async () => {
  const { headers, body } = await ask('/');
  const { 'content-security-policy': policy } = headers;
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'self' 'sha256-[\w+/=]{44}'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/,
  );
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  const paths = Array.from(body.matchAll(/(?:href|src)="(\/[^"]*)"/g), ([, path = '']) => path);
  expect(new Set(paths)).toEqual(new Set(KEPT.keys()));
  expect(body).not.toMatch(/https?:/);
  for (const path of paths) {
    const file = await ask(path);
    expect([path, file.status, file.headers['content-security-policy']]).toEqual([path, 200, policy]);
    expect(file.headers['content-type']).toMatch(/^text\/(javascript|css); charset=utf-8$/);
    // Another text has another path.
    expect(path).toMatch(/^\/[0-9a-f]{16}\//);
    expect(file.headers['cache-control']).toBe('private, max-age=31536000, immutable');
  }
  expect((await ask('/api/v1/queues')).headers['content-security-policy']).toBe(policy);
});

describe('the JSON', () => {
  const read = async (path: string): Promise<unknown> => {
    const { status, body } = await ask(path, { headers: await loggedIn() });
    return [status, JSON.parse(body)];
  };

  test('has all gangs', async () => {
    const row = {
      ...{ namespace: 'ml', name: 'train', backend: 'kai-scheduler', phase: 'Pending', workload: null },
      why: 'waiting for Pods: leader 0/1',
      ...{ groups: { ready: 0, total: 1 }, pods: { ready: 0, total: 1 }, gated: 1 },
      ...{ gatedGpus: 8, waitsFor: 'Initialized', queue: 'research' },
      created: '2026-01-01T00:00:00Z',
    };
    const done = { ...row, name: 'done', phase: 'Running', why: '', gated: 0 };
    const nothing = { gatedGpus: 0, waitsFor: null, queue: null };
    dashboard.gpus.set('train', 8);
    dashboard.set([{ ...someGang('train'), queue: 'research' }]);
    const ready = { groups: { ready: 1, total: 1 }, pods: { ready: 1, total: 1 } };
    expect(await read('/api/v1/gangs')).toEqual([
      200,
      { gangs: [row, { ...done, ...nothing, ...ready }], stale: null },
    ]);
  });

  test('has one gang with its Pods and Events', async () => {
    expect(await read('/api/v1/gangs/ml/train')).toEqual([200, detailOf(someGang('train'))]);
  });

  test('has a gang with the longest name that there can be', async () => {
    const name = 'x'.repeat(253);
    dashboard.set([someGang(name)]);
    expect(await read(`/api/v1/gangs/ml/${name}`)).toEqual([200, expect.objectContaining({ eventsLeft: 3 })]);
  });

  test.each(['ml/nobody', 'ml%2ftrain/x', '%3Cscript%3E/x'])(
    'says that there is no gang %s',
    async (path) => {
      expect(await read(`/api/v1/gangs/${path}`)).toEqual([
        404,
        {
          error: {
            code: 'GANG_UNKNOWN',
            message: 'no PodGang and no Pod of the cluster has that gang name',
            fix: 'It may have been deleted; the list has all that there are.',
          },
        },
      ]);
    },
  );

  test.each([
    ['CLUSTER_UNREACHABLE', 502, new MusterError('CLUSTER_UNREACHABLE', 'no answer', 'Wait.')],
    ['FAILED', 403, new ApiError('list queues', { status: 403, message: 'no' })],
    ['FAILED', 500, new TypeError('a defect')],
  ])('says what the API server says, as %s with %d', async (code, status, thrown) => {
    dashboard.queuesFail = thrown;
    expect(await read('/api/v1/queues')).toEqual([
      status,
      { error: expect.objectContaining({ code, message: thrown.message }) },
    ]);
  });
});

test('a watch begins with what waits, tells each change, and what is gone', async () => {
  const { cookie = '' } = await loggedIn();
  const socket = connect(dashboard.port, '127.0.0.1');
  let got = '';
  socket.on('data', (chunk) => (got += chunk.toString()));
  socket.write(
    `GET /api/v1/gangs?watch=true HTTP/1.1\r\nhost: 127.0.0.1:${dashboard.port}\r\ncookie: ${cookie}\r\n\r\n`,
  );
  const messages = (): { changed: { name: string; phase: string }[]; deleted: unknown[]; stale: unknown }[] =>
    Array.from(got.matchAll(/^data: (.*)$/gm), ([, data = '']) => JSON.parse(data) as never);
  await until('the first message', () => messages().length === 1);
  expect(got).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*content-type: text\/event-stream\r\n/);
  expect(got).toContain("content-security-policy: default-src 'none'");
  expect(messages()[0]?.changed.map(({ name }) => name)).toEqual(['train', 'done']);

  dashboard.set([someGang('train', { phase: 'Running' })]);
  await until('the change', () => messages().length === 2);
  expect(messages()[1]).toMatchObject({
    changed: [{ name: 'train', phase: 'Running' }],
    deleted: [],
    left: 0,
  });
  dashboard.remove('train');
  await until('the deletion', () => messages().length === 3);
  expect(messages()[2]).toMatchObject({ changed: [], deleted: [{ namespace: 'ml', name: 'train' }] });
  dashboard.set([], { since: 0, message: 'no answer' });
  await until('the trouble', () => messages().length === 4);
  expect(messages()[3]?.stale).toEqual({ since: '1970-01-01T00:00:00.000Z', message: 'no answer' });
  dashboard.live.close();
  await until('the end', () => got.endsWith('0\r\n\r\n'));
  socket.destroy();
});
