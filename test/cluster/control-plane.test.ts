import { access, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ControlPlane } from './control-plane/control-plane.ts';
import type { KubeList, KubeObject } from './control-plane/client.ts';
import { GANGS, RELEASE } from './control-plane/releases.ts';
import { startControlPlane } from './control-plane/start.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';

interface Pod extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly schedulingGroup?: { readonly podGroupName: string } };
}

const NAMESPACE = '/api/v1/namespaces/crew';
const PODS = `${NAMESPACE}/pods`;

const podSpec = {
  containers: [{ name: 'main', image: 'example.test/none', resources: { requests: { cpu: '1' } } }],
};

clusterSuite('the control plane of the tests', () => {
  let plane: ControlPlane;

  beforeAll(async () => {
    plane = await startControlPlane({ scheduler: true, controllerManager: true, auditPolicy: true });
    await plane.client.ok('POST', '/api/v1/namespaces', { metadata: { name: 'crew' } });
  }, 120_000);

  afterAll(async () => {
    await plane?.stop();
  });

  test('is the release that the module names, and serves the gang API', async () => {
    expect(plane.version).toBe(RELEASE.version);
    expect(plane.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const gangs = await plane.client.ok<{ resources: { name: string }[] }>('GET', `/apis/${GANGS}`);
    expect(gangs.resources.map((resource) => resource.name)).toEqual(
      expect.arrayContaining(['workloads', 'podgroups', 'podgroups/status']),
    );
  });

  test('has controllers that turn a Deployment into Pods, and a scheduler that binds them', async () => {
    await plane.addNode('node-1', { cpu: 4, memory: '4Gi', pods: 10, labels: { zone: 'a' } });
    await plane.client.ok('POST', '/apis/apps/v1/namespaces/crew/deployments', {
      metadata: { name: 'oars' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'oars' } },
        template: { metadata: { labels: { app: 'oars' } }, spec: podSpec },
      },
    });
    const pods = await until('two Pods are bound', async () => {
      const query = { labelSelector: 'app=oars' };
      const { items } = await plane.client.ok<KubeList<Pod>>('GET', PODS, undefined, { query });
      return items.length === 2 && items.every((pod) => pod.spec.nodeName !== undefined) && items;
    });
    expect(pods.map((pod) => pod.spec.nodeName)).toEqual(['node-1', 'node-1']);
    const audited = await readFile(plane.auditLog ?? '', 'utf8');
    expect(audited).toContain('system:serviceaccount:kube-system:replicaset-controller');
  });

  test('schedules a gang all or nothing', async () => {
    await plane.client.ok('POST', `/apis/${GANGS}/namespaces/crew/podgroups`, {
      metadata: { name: 'pair' },
      spec: { schedulingPolicy: { gang: { minCount: 2 } } },
    });
    const member = (name: string) =>
      plane.client.ok<Pod>('POST', PODS, {
        metadata: { name },
        spec: { ...podSpec, schedulingGroup: { podGroupName: 'pair' } },
      });
    const first = await member('pair-1');
    expect(first.spec.schedulingGroup).toEqual({ podGroupName: 'pair' });
    await member('pair-2');
    await until('both are bound', async () => {
      const both = await Promise.all(
        ['pair-1', 'pair-2'].map((name) => plane.client.ok<Pod>('GET', `${PODS}/${name}`)),
      );
      return both.every((pod) => pod.spec.nodeName === 'node-1');
    });
  });

  test('knows anybody by a kubeconfig, and holds them to RBAC', async () => {
    const alice = await plane.clientFor(await plane.kubeconfigFor('alice@example.test', ['sailors']));
    expect(await whoami(alice)).toEqual({
      username: 'alice@example.test',
      groups: ['sailors', 'system:authenticated'],
    });
    const refused = await alice.request('GET', PODS);
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('User "alice@example.test" cannot list resource "pods"');
    await expect(alice.ok('GET', PODS)).rejects.toThrow(/403 pods is forbidden/);

    const muster = await plane.clientFor(
      await plane.kubeconfigFor('system:serviceaccount:muster-system:muster'),
    );
    expect((await whoami(muster)).groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:muster-system',
      'system:authenticated',
    ]);
  });

  test('lets the admin impersonate, by headers and in kubectl', async () => {
    const asBob = await plane.client.request('GET', PODS, undefined, { as: 'bob', asGroups: ['sailors'] });
    expect(asBob.status).toBe(403);
    expect(asBob.body.message).toContain('User "bob"');
    const who = await plane.kubectl(['auth', 'whoami', '-o', 'json'], { as: 'bob', asGroups: ['sailors'] });
    expect(who).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(who.stdout)).toMatchObject({ status: { userInfo: { username: 'bob' } } });
  });

  test('hands on what kubectl says, and the warnings of the API server', async () => {
    const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'log' } });
    const applied = await plane.kubectl(['apply', '-n', 'crew', '-f', '-'], { stdin: manifest });
    expect(applied).toEqual({ code: 0, stdout: 'configmap/log created\n', stderr: '' });
    expect((await plane.kubectl(['get', 'pod', 'nobody', '-n', 'crew'])).code).toBe(1);

    const { status, warnings } = await plane.client.request(
      'POST',
      `${NAMESPACE}/configmaps`,
      { metadata: { name: 'odd' }, sails: 3 },
      { query: { fieldValidation: 'Warn' } },
    );
    expect({ status, warnings }).toEqual({ status: 201, warnings: ['unknown field "sails"'] });
  });

  test('is back with its data on the same port after a restart of the API server', async () => {
    const before = await plane.client.ok('GET', NAMESPACE);
    const { 'kube-apiserver': oldPid } = plane.pids();
    await plane.restartApiServer();
    expect(plane.pids()['kube-apiserver']).not.toBe(oldPid);
    const after = await plane.client.ok('GET', NAMESPACE);
    expect(after.metadata.uid).toBe(before.metadata.uid);

    // The scheduler and the controllers have found it again.
    await plane.client.ok('PATCH', '/apis/apps/v1/namespaces/crew/deployments/oars', {
      spec: { replicas: 0 },
    });
    await until('the Pods are being deleted', async () => {
      const query = { labelSelector: 'app=oars' };
      const { items } = await plane.client.ok<KubeList<Pod>>('GET', PODS, undefined, { query });
      return items.every((pod) => pod.metadata.deletionTimestamp !== undefined);
    });
  }, 60_000);

  test('says why a program does not start, and leaves nothing behind', async () => {
    const failing = startControlPlane({ extraApiServerArgs: ['--no-such-flag'] });
    await expect(failing).rejects.toThrow(
      /kube-apiserver ended \(exit code 1\)[^]*unknown flag: --no-such-flag/,
    );
  });

  test('gives up a start-up when it is told to', async () => {
    const reason = new Error('no longer wanted');
    await expect(startControlPlane({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const abort = new AbortController();
    const starting = startControlPlane({ signal: abort.signal });
    setTimeout(() => {
      abort.abort(reason);
    }, 300);
    await expect(starting).rejects.toThrow();
  });

  test('leaves no process and no file when it is stopped', async () => {
    const pids = Object.values(plane.pids());
    expect(pids).toHaveLength(4);
    await plane.stop();
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await expect(access(plane.dir)).rejects.toThrow('ENOENT');
    await plane.stop();
  });
});

async function whoami(client: ControlPlane['client']): Promise<{ username: string; groups: string[] }> {
  const review = await client.ok<{ status: { userInfo: { username: string; groups: string[] } } }>(
    'POST',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  );
  const { username, groups } = review.status.userInfo;
  return { username, groups };
}
