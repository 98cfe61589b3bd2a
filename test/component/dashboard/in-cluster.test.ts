/** muster dashboard --in-cluster: who is let in, and that each user sees what the API server says he may see. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { run } from '../../../src/cli/run.ts';
import { issueDevelopmentCertificates } from '../../../src/tls/issue.ts';
import { freePorts } from '../../cluster/control-plane/ports.ts';
import { until } from '../../unit/tls/until.ts';
import { processAt } from '../cli/fake-tty.ts';
import { accessibilityFaults, chromiumPath, startBrowser, watchedPage } from './browser.ts';
import { ClusterOfUsers, HOST, type Answered } from './cluster-of-users.ts';

const DATA = [
  ...['/api/v1/gangs', '/api/v1/gangs?watch=true', '/api/v1/gangs/ml/train', '/api/v1/gangs/ml/train/plan'],
  ...['/api/v1/queues', '/api/v1/fleet', '/api/v1/backends'],
];

const SIGN_IN = {
  code: 'SIGN_IN',
  message: 'the API server knows no valid token of this request',
  fix: 'Sign in with a token, such as that of kubectl create token.',
};

const refusal = ({ status, body }: Answered): unknown => [
  status,
  (JSON.parse(body) as { error: object }).error,
];
const shown = ({ body }: Answered): string[] =>
  (JSON.parse(body) as { gangs: { namespace: string; name: string }[] }).gangs.map(
    ({ namespace, name }) => `${namespace}/${name}`,
  );

const inBrowser = chromiumPath === undefined ? describe.skip : describe;

describe('in a cluster', () => {
  let cluster: ClusterOfUsers;
  beforeEach(async () => {
    cluster = await ClusterOfUsers.start();
    cluster.rights.set('admin', ['*']).set('ann', ['ml']).set('nobody', []);
  });
  afterEach(() => cluster.close());

  test.each(DATA)(
    'without a token, with a bad one and with none that is one there is no data: %s',
    async (path) => {
      for (const headers of [
        {},
        { authorization: 'Bearer unknown' },
        { authorization: 'Bearer ' },
        { authorization: 'Bearer a b' },
        { authorization: 'Basic YTpi' },
        { cookie: `__Host-muster=${'A'.repeat(43)}` },
      ])
        expect(refusal(await cluster.ask(path, { headers }))).toEqual([401, SIGN_IN]);
      expect(cluster.asked).toEqual([]);
    },
  );

  test('whoever may list everywhere sees everything', async () => {
    const answer = await cluster.ask('/api/v1/gangs', { token: 'admin' });
    expect([answer.status, shown(answer)]).toEqual([200, ['ml/train', 'web/train']]);
    expect(answer.body).not.toContain('narrowed');
  });

  test('a user of one namespace sees that namespace, and is told what others take', async () => {
    const answer = await cluster.ask('/api/v1/gangs', { token: 'ann' });
    expect(shown(answer)).toEqual(['ml/train']);
    expect(JSON.parse(answer.body)).toMatchObject({
      narrowed:
        'You see the gangs of the namespaces in which you may list pods and podgangs.scheduler.grove.io: the ClusterRole "view" has both rights once Muster is installed.',
    });
    // It is not told that there is such a gang.
    for (const path of ['/api/v1/gangs/web/train', '/api/v1/gangs/web/train/plan'])
      expect(refusal(await cluster.ask(path, { token: 'ann' }))).toMatchObject([
        404,
        { code: 'GANG_UNKNOWN' },
      ]);
    expect(cluster.asked).toEqual([]);
  });

  test('a user without rights gets an empty list that says what is missing', async () => {
    const answer = await cluster.ask('/api/v1/gangs', { token: 'nobody' });
    expect([answer.status, shown(answer)]).toEqual([200, []]);
    expect(answer.body).toContain('list pods and podgangs.scheduler.grove.io');
  });

  test('everything else is asked with the token of the user, who is told what the API server says', async () => {
    const detail = await cluster.ask('/api/v1/gangs/ml/train', { token: 'ann' });
    expect(detail.status).toBe(200);
    expect(JSON.parse(detail.body)).toMatchObject({
      gang: { name: 'train' },
      eventsUnread: expect.stringMatching(/^Events of namespace ml could not be read: you have no right/),
    });
    const plan = await cluster.ask('/api/v1/gangs/ml/train/plan', { token: 'ann' });
    expect(refusal(plan)).toMatchObject([403, { code: 'CLUSTER_REFUSED' }]);
    expect(refusal(await cluster.ask('/api/v1/queues', { token: 'ann' }))).toMatchObject([403, {}]);
    expect((await cluster.ask('/api/v1/backends', { token: 'ann' })).status).toBe(200);
    expect(cluster.asked.length).toBeGreaterThan(3);
    expect(cluster.asked.filter((line) => !line.startsWith('ann GET '))).toEqual([]);
  });

  test('counts of backends are those of the gangs that the user sees', async () => {
    const counted = async (token: string): Promise<number> => {
      const { body } = await cluster.ask('/api/v1/backends', { token });
      const { backends } = JSON.parse(body) as { backends: { gangs: number }[] };
      return backends.reduce((sum, { gangs }) => sum + gangs, 0);
    };
    expect(await Promise.all(['admin', 'ann', 'nobody'].map(counted))).toEqual([2, 1, 0]);
  });

  test('an answer about a user holds for seconds', async () => {
    for (const path of ['/api/v1/gangs', '/api/v1/gangs', '/api/v1/gangs'])
      await cluster.ask(path, { token: 'ann' });
    // All namespaces, ml twice, web.
    expect(cluster.reviews).toBe(4);
  });

  describe('a browser', () => {
    const signIn = (token: string) => cluster.ask('/api/v1/session', { method: 'POST', token });
    const nameOf = ({ cookie }: Answered): string => cookie.split(';')[0] ?? '';

    test('exchanges a token for a cookie, which does not have the token, until it signs out', async () => {
      const signedIn = await signIn('ann');
      expect(signedIn.cookie).toMatch(
        /^__Host-muster=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
      );
      const headers = { cookie: nameOf(signedIn) };
      expect(shown(await cluster.ask('/api/v1/gangs', { headers }))).toEqual(['ml/train']);
      const signedOut = await cluster.ask('/api/v1/session', { method: 'DELETE', headers });
      expect(signedOut.cookie).toBe('__Host-muster=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict');
      expect(refusal(await cluster.ask('/api/v1/gangs', { headers }))).toEqual([401, SIGN_IN]);
    });

    test('gets no cookie for a token that the API server does not know', async () => {
      const answer = await signIn('unknown');
      expect([refusal(answer), answer.cookie]).toEqual([[401, SIGN_IN], '']);
    });

    test('whose token is over is signed out within a minute, and its stream ends', async () => {
      const headers = { cookie: nameOf(await signIn('ann')) };
      const socket = connect(cluster.port, '127.0.0.1');
      let got = '';
      socket.on('data', (chunk) => (got += chunk.toString()));
      socket.write(
        `GET /api/v1/gangs?watch=true HTTP/1.1\r\nhost: ${HOST}\r\ncookie: ${headers.cookie}\r\n\r\n`,
      );
      await until('the gangs', () => got.includes('"name":"train"'));
      expect(got).not.toContain('"namespace":"web"');
      cluster.rights.delete('ann');
      // Another namespace has to be asked about at once.
      cluster.adds('new', 'late');
      await until('the end', () => got.endsWith('0\r\n\r\n'));
      expect(got).not.toContain('late');
      expect(refusal(await cluster.ask('/api/v1/gangs', { headers }))).toEqual([401, SIGN_IN]);
      socket.destroy();
    });

    test('follows the gangs of a namespace that has its first one, where the user may see it', async () => {
      cluster.rights.set('ann', ['ml', 'new']);
      const socket = connect(cluster.port, '127.0.0.1');
      let got = '';
      socket.on('data', (chunk) => (got += chunk.toString()));
      socket.write(
        `GET /api/v1/gangs?watch=true HTTP/1.1\r\nhost: ${HOST}\r\nauthorization: Bearer ann\r\n\r\n`,
      );
      await until('the gangs', () => got.includes('"namespace":"ml"'));
      cluster.adds('hidden', 'secret');
      cluster.adds('new', 'late');
      await until('the new one', () => got.includes('"name":"late"'));
      expect(got).not.toMatch(/secret|hidden|"namespace":"web"/);
      socket.destroy();
    });

    test('that another name or page has led here gets nothing, a token or not', async () => {
      for (const host of ['evil.example', `127.0.0.1:${cluster.port}`, `${HOST}:1`])
        expect(refusal(await cluster.ask('/', { token: 'admin', headers: { host } }))).toEqual([
          421,
          {
            code: 'HOST',
            message: `the dashboard answers to ${HOST} alone`,
            fix: 'Open it by such a name, or have the one of your address added with --host.',
          },
        ]);
      const cookie = nameOf(await signIn('admin'));
      for (const headers of [
        { cookie, origin: 'https://evil.example' },
        { cookie, origin: `http://${HOST}` },
        { cookie, 'sec-fetch-site': 'cross-site' },
      ])
        expect(refusal(await cluster.ask('/api/v1/gangs', { headers }))).toMatchObject([
          403,
          { code: 'ORIGIN' },
        ]);
      const own = { cookie, origin: `https://${HOST}`, 'sec-fetch-site': 'same-origin' };
      expect((await cluster.ask('/api/v1/gangs', { headers: own })).status).toBe(200);
    });
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('%s changes nothing', async (method) => {
    for (const path of ['/', '/api/v1/gangs', '/api/v1/gangs/ml/train', '/api/v1/session/'])
      expect((await cluster.ask(path, { method, token: 'admin' })).status).toBe(405);
  });

  test('the page asks for a token, and ends with the program', async () => {
    expect((await cluster.ask('/')).body).toContain('<div id="page" data-signs-in="true">');
    expect(cluster.program.written.out).toBe('');
    cluster.program.interrupt();
  });
});

describe('with a certificate', () => {
  let folder: string;
  let cluster: ClusterOfUsers;
  let host: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-dashboard-'));
    const issued = await issueDevelopmentCertificates({ dnsNames: [HOST], days: 1, now: new Date() });
    await writeFile(join(folder, 'tls.crt'), issued.certificate);
    await writeFile(join(folder, 'tls.key'), issued.key);
    const [port = 0] = await freePorts(1);
    host = `localhost:${port}`;
    cluster = await ClusterOfUsers.start('--cert-dir', folder, '--port', String(port), '--host', host);
    cluster.rights.set('ann', ['web']);
  });
  afterEach(async () => {
    expect(await cluster.close()).toBe(0);
    await rm(folder, { recursive: true });
  });

  test('it speaks TLS', async () => {
    expect(shown(await cluster.ask('/api/v1/gangs', { token: 'ann' }))).toEqual(['web/train']);
  });

  inBrowser('in a browser (skipped where there is no chromium)', () => {
    test('a person signs in with a token, sees what it may see, and signs out', async () => {
      const browser = await startBrowser();
      const { page, context } = await watchedPage(browser, { ignoreHTTPSErrors: true });
      await page.goto(`https://${host}/`);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByLabel('Token').fill('unknown');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').filter({ hasText: SIGN_IN.message }).waitFor();
      await page.getByLabel('Token').fill(' ann\n');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('1 of 1 gangs').waitFor();
      expect(await page.getByRole('link', { name: 'web/train' }).count()).toBe(1);
      expect(await accessibilityFaults(page)).toEqual([]);
      const stored = 'document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })';
      expect(await page.evaluate(stored)).toBe('{}');
      expect(await context.cookies()).toMatchObject([{ secure: true, httpOnly: true, sameSite: 'Strict' }]);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await context.cookies()).toEqual([]);
      await browser.close();
    }, 60_000);
  });
});

test.each([
  [['--in-cluster'], 'tokens must not cross the network in the clear'],
  [
    ['--in-cluster', '--cert-dir', 'x', '--behind-tls-proxy'],
    'tokens must not cross the network in the clear',
  ],
  [['--host', 'x'], '--host, --cert-dir and --behind-tls-proxy are for a dashboard in a cluster'],
  [
    ['--in-cluster', '--behind-tls-proxy', '-n', 'ml'],
    '--namespace does not go with --in-cluster: each user sees what he may see',
  ],
])('flags that do not go together: %j', async (flags, message) => {
  const { io, written } = processAt();
  expect(await run(['dashboard', ...flags], io)).toBe(2);
  expect(written.err).toContain(`error[USAGE]: ${message}\n`);
});
