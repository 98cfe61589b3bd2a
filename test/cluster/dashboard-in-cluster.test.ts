/** muster dashboard --in-cluster on a real API server, with tokens of service accounts: each user sees what he may see. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { run } from '../../src/cli/run.ts';
import { processAt, type FakeProcess } from '../component/cli/fake-tty.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

const HOST = 'gangs.example';
/** For how long the docs say that the list shows what may not be seen any more. */
const HOLDS_MS = 30_000;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const READS = [
  { apiGroups: ['scheduler.grove.io'], resources: ['podgangs'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
];

clusterSuite('muster dashboard --in-cluster, on a real API server', () => {
  let plane: ControlPlane;
  let on: OnMuster;
  let program: FakeProcess;
  let running: Promise<number>;
  /** The dashboard's clock: of the machine, or where a test has stopped it. */
  let clock = (): number => Date.now();

  /** A service account with a token. */
  const user = async (name: string): Promise<{ token: string; subject: object }> => {
    const accounts = '/api/v1/namespaces/default/serviceaccounts';
    await plane.client.ok('POST', accounts, { metadata: { name } });
    const issued = await plane.client.ok('POST', `${accounts}/${name}/token`, { spec: {} });
    const { token } = (issued as { status: { token: string } }).status;
    return { token, subject: { kind: 'ServiceAccount', namespace: 'default', name } };
  };
  const ask = (
    path: string,
    token: string,
    heard: (text: string) => void = () => undefined,
  ): Promise<{ status: number; body: string }> =>
    new Promise((resolve, reject) => {
      const port = /port (\d+)/.exec(program.written.err)?.[1] ?? '';
      const headers = { host: HOST, authorization: `Bearer ${token}` };
      request({ host: '127.0.0.1', port, path, headers }, (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => {
          body += chunk.toString();
          heard(chunk.toString());
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      })
        .on('error', reject)
        .end();
    });
  /** Gives a user the rights of the dashboard in a namespace. @returns the path of the binding */
  const bind = async (namespace: string, name: string, subject: object): Promise<string> => {
    const bindings = `${RBAC}/namespaces/${namespace}/rolebindings`;
    await plane.client.ok('POST', bindings, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'gangs' },
      subjects: [subject],
    });
    return `${bindings}/${name}`;
  };
  /** Has an open page of a user who sees a gang in red, and stops the clock: no answer about him grows old. */
  const opened = async (name: string) => {
    const { token, subject } = await user(name);
    const binding = await bind('red', name, subject);
    let ahead = 0;
    clock = () => Date.now() + ahead;
    await until(`${name} sees red`, async () => {
      ahead += HOLDS_MS;
      return (await gangsOf(token)).length === 1;
    });
    const stopped = clock();
    clock = () => stopped;
    const page = { token, binding, got: '', ended: false };
    void ask('/api/v1/gangs?watch=true', token, (text) => (page.got += text)).then(() => (page.ended = true));
    await until('the page has the gang', () => page.got.includes('"namespace":"red"'));
    return page;
  };
  const gangsOf = async (token: string): Promise<string[]> => {
    const { body } = await ask('/api/v1/gangs', token);
    const { gangs } = JSON.parse(body) as { gangs: { namespace: string; name: string }[] };
    return gangs.map(({ namespace, name }) => `${namespace}/${name}`);
  };

  beforeAll(async () => {
    on = await withMuster({ muster: 'none' });
    ({ plane } = on);
    for (const name of ['red', 'blue']) {
      await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name } });
      await plane.client.ok('POST', `/apis/scheduler.grove.io/v1alpha1/namespaces/${name}/podgangs`, {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name: 'train', labels: { 'grove.io/scheduler-name': 'default-scheduler' } },
        spec: { podgroups: [{ name: 'worker', minReplicas: 2, podReferences: [] }] },
      });
    }
    await plane.client.ok('POST', `${RBAC}/clusterroles`, { metadata: { name: 'gangs' }, rules: READS });
    await plane.client.ok('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'dashboard' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'gangs' },
      subjects: [{ kind: 'User', name: 'dashboard' }],
    });
    const kubeconfig = await plane.kubeconfigFor('dashboard');
    const reader = await plane.clientFor(kubeconfig);
    await until(
      'the dashboard may list',
      async () => (await reader.request('GET', '/apis/scheduler.grove.io/v1alpha1/podgangs')).status === 200,
    );
    program = processAt();
    const flags = ['--in-cluster', '--behind-tls-proxy', '--host', HOST, '--port', '0'];
    const io = { ...program.io, now: () => new Date(clock()) };
    running = run(['dashboard', ...flags, '--kubeconfig', kubeconfig], io);
    await until('it listens', () => program.written.err.includes('listens on port'));
  }, 180_000);
  afterAll(async () => {
    program?.interrupt();
    await running;
    await on?.close();
  }, 60_000);

  test('a token that the API server did not issue is refused, and so is none', async () => {
    for (const token of ['x.y.z', '']) expect((await ask('/api/v1/gangs', token)).status).toBe(401);
  });

  test('two users see their own namespaces, and the certificate of the dashboard helps neither', async () => {
    const [ann, bob] = [await user('ann'), await user('bob')];
    for (const [namespace, { subject }] of [['red', ann] as const, ['blue', bob] as const])
      await bind(namespace, 'gangs', subject);
    await until('ann sees red', async () => (await gangsOf(ann.token)).length === 1);
    await until('bob sees blue', async () => (await gangsOf(bob.token)).length === 1);
    expect(await gangsOf(ann.token)).toEqual(['red/train']);
    expect(await gangsOf(bob.token)).toEqual(['blue/train']);
    const own = await ask('/api/v1/gangs/red/train', ann.token);
    expect([own.status, own.body]).toEqual([200, expect.stringContaining('"steps":[{')]);
    // Listing Events is no right of the role.
    expect(own.body).toMatch(/"eventsUnread":"Events of namespace red could not be read: you have no right/);
    expect((await ask('/api/v1/gangs/red/train', bob.token)).status).toBe(404);
    expect((await ask('/api/v1/fleet', bob.token)).status).toBe(200);
  }, 150_000);

  test('a user without rights sees nothing, and what is missing', async () => {
    const { token } = await user('eve');
    const { status, body } = await ask('/api/v1/gangs', token);
    expect([status, JSON.parse(body)]).toEqual([
      200,
      {
        ...{ gangs: [], stale: null },
        narrowed: expect.stringContaining('list pods and podgangs.scheduler.grove.io'),
      },
    ]);
  });

  test('a right that is taken away: a gang is refused at once, and the list ends within 30 s', async () => {
    const page = await opened('cat');
    await plane.client.ok('DELETE', page.binding);
    const gang = await until('the gang is refused', async () => {
      const answer = await ask('/api/v1/gangs/red/train', page.token);
      return answer.status !== 200 && answer;
    });
    expect([gang.status, gang.body]).toEqual([
      403,
      expect.stringContaining(
        'It takes the rights to list (with -w also to watch) pods and podgangs.scheduler.grove.io in namespace red',
      ),
    ]);
    expect(page.ended).toBe(false);
    const then = clock() + HOLDS_MS;
    clock = () => then;
    await until('the page is ended', () => page.ended);
    expect(await gangsOf(page.token)).toEqual([]);
    expect((await ask('/api/v1/gangs/red/train', page.token)).status).toBe(404);
  }, 150_000);

  test('a user who is deleted: the page ends as soon as the API server says so, and leads to sign-in', async () => {
    const page = await opened('dan');
    await plane.client.ok('DELETE', '/api/v1/namespaces/default/serviceaccounts/dan');
    // An API server remembers for ten seconds that a token was good.
    const gang = await until('the gang is refused', async () => {
      const answer = await ask('/api/v1/gangs/red/train', page.token);
      return answer.status !== 200 && answer;
    });
    const signIn = {
      status: 401,
      body: JSON.stringify({
        error: {
          code: 'SIGN_IN',
          message: 'the API server knows no valid token of this request',
          fix: 'Sign in with a token, such as that of kubectl create token.',
        },
      }),
    };
    expect(gang).toEqual(signIn);
    await until('the page is ended', () => page.ended);
    expect(await ask('/api/v1/gangs?watch=true', page.token)).toEqual(signIn);
  }, 150_000);
});
