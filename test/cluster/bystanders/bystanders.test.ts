/**
 * Whoever has no gang does not notice Muster: what schedulers, controllers, webhooks and people around it send is answered
 * and stored as without it, under every policy and webhook, while Muster runs, while it hangs, and while it is gone.
 */
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { manifestsIn, OTHER_BACKENDS, webhookConfigurations } from '../../support/manifests.ts';
import type { KubeObject } from '../control-plane/client.ts';
import { clusterSuite } from '../control-plane/suite.ts';
import { until } from '../control-plane/until.ts';
import { applyAll, untilEstablished } from '../support/apply.ts';
import { coschedulingPodGroups } from '../support/crds/coscheduling.ts';
import { kaiPodGroups, kaiTopologies } from '../support/crds/kai.ts';
import { volcanoPodGroups, volcanoQueues } from '../support/crds/volcano.ts';
import { JOB_SETS, LEADER_WORKER_SETS } from '../support/crds/workloads.ts';
import { policiesInForce } from '../support/policies-in-force.ts';
import { MUTATING_POLICIES } from '../support/shipped-policies.ts';
import { DRY_RUN, gangPod, PODS } from '../support/registered-muster.ts';
import { withMuster, type OnMuster } from '../support/with-muster.ts';
import { untouched } from './covered.ts';
import { Place, type Request, type Row } from './row.ts';
import { ROWS } from './table.ts';

const DEFINITIONS = [
  ...[kaiPodGroups('0.17'), kaiTopologies, volcanoPodGroups, volcanoQueues, coschedulingPodGroups],
  ...[JOB_SETS, LEADER_WORKER_SETS],
] as unknown as Parameters<typeof untilEstablished>[1];
const CONFIGURATIONS = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
  (kind) => `/apis/admissionregistration.k8s.io/v1/${kind}/muster`,
);
const COMPONENTS = [
  ...OTHER_BACKENDS,
  'hpc',
  'preemption',
  'preemption-past-budgets',
  'preemption-preview',
  'workloads',
];
const SETTINGS = {
  scheduler: {
    profiles: ['default-scheduler', ...OTHER_BACKENDS].map((name) => ({ name })),
    defaultProfileName: 'default-scheduler',
  },
  hpc: { enabled: true },
  preemption: { mode: 'Act', preview: true, overridePodDisruptionBudgets: true },
};
const STATES = ['up', 'down', 'gone'] as const;
const MARK = '"muster.dev/names-group":"yes"';
const EVERYBODY = 'bystanders';

clusterSuite('who has no gang', () => {
  let on: OnMuster;
  /** Takes what comes and never says a word. */
  let hole: Server;
  let called = 0;
  const before = new Map<Row, unknown>();

  beforeAll(async () => {
    on = await withMuster({ muster: 'none' });
    const { client } = on.plane;
    await applyAll(client, DEFINITIONS);
    await untilEstablished(client, DEFINITIONS);
    const RBAC = '/apis/rbac.authorization.k8s.io/v1';
    await client.ok('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: EVERYBODY },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: EVERYBODY }],
    });
    for (const row of ROWS) before.set(row, await sent(row, 'without'));
    await applyAll(
      client,
      (await Promise.all(COMPONENTS.map((name) => manifestsIn(`components/${name}`)))).flat(),
    );
    await policiesInForce(client);
  }, 120_000);
  afterAll(async () => {
    await on?.close();
    hole?.close();
  }, 60_000);

  /** What is answered to each request of a row, in a namespace of its own. */
  async function sent(row: Row, state: string): Promise<unknown[]> {
    const namespace = `n${ROWS.indexOf(row)}-${state}`;
    const { client } = on.plane;
    await client.ok('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    const place = new Place(namespace);
    for (const [method, path, body] of row.given?.(place) ?? []) await client.ok(method, path, body);
    const as = { as: row.as, asGroups: [...(row.groups ?? []), EVERYBODY, 'system:authenticated'] };
    const answers: unknown[] = [];
    for (const request of row.sends(place)) answers.push(await answered(request, as, namespace));
    return [...answers, await answered(['GET', place.core('pods')], {}, namespace)];
  }

  async function answered(
    [method, path, body, options]: Request,
    as: object,
    namespace: string,
  ): Promise<unknown> {
    const answer = await on.plane.client.request(method, path, body, { ...options, ...as });
    return {
      ...{
        method,
        path: path.replaceAll(namespace, 'NAMESPACE'),
        status: answer.status,
        warnings: answer.warnings,
      },
      body: comparable(answer.body, namespace),
    };
  }

  async function enter(state: (typeof STATES)[number]): Promise<void> {
    const { client } = on.plane;
    const gang = (): Promise<{ status: number }> =>
      client.request('POST', PODS, gangPod({ name: 'probe' }, {}, { 'grove.io/podclique': '' }), DRY_RUN);
    if (state === 'up') {
      await on.put(await on.start(SETTINGS));
      const { port } = on.muster;
      await applyAll(client, await webhookConfigurations(port, on.certificates.ca));
      await until('Muster is asked', async () => (await gang()).status === 422);
    }
    if (state === 'down') {
      await on.muster.close();
      hole = createServer((socket) => {
        called += 1;
        socket.on('error', () => undefined).resume();
      });
      await new Promise<void>((done) => hole.listen(0, '127.0.0.1', done));
      const { port } = hole.address() as AddressInfo;
      await applyAll(client, await webhookConfigurations(port, on.certificates.ca));
      await until('the API server waits for nobody', async () => (await gang()).status === 500);
      called = 0;
    }
    if (state === 'gone') {
      for (const path of CONFIGURATIONS) await client.ok('DELETE', path);
      const alone = MUTATING_POLICIES ? 201 : 403;
      await until('the API server asks nobody', async () => (await gang()).status === alone);
    }
  }

  describe.each(STATES)('Muster %s', (state) => {
    beforeAll(() => enter(state), 120_000);

    test.each(ROWS.map((row) => [`${row.as} ${row.does}`, row] as const))('%s', async (_, row) => {
      const answers = await sent(row, state);
      expect(row.named === true && MUTATING_POLICIES ? unmarked(answers) : answers).toEqual(before.get(row));
      // Whoever were asked would be waited for.
      if (state === 'down') expect(called).toBe(0);
    });
  });

  test('whoever adds a policy or a webhook adds who has no gang and is looked at by it', async () => {
    const { client } = on.plane;
    const served = new Set<string>();
    const groups = await client.ok<{ groups: { name: string; versions: { groupVersion: string }[] }[] }>(
      'GET',
      '/apis',
    );
    const lists = [
      ['', '/api/v1'],
      ...groups.groups.flatMap(({ name, versions }) =>
        versions.map(({ groupVersion }) => [name, `/apis/${groupVersion}`]),
      ),
    ] as const;
    for (const [group = '', path = ''] of lists) {
      const { resources } = await client.ok<{ resources: { name: string; verbs: string[] }[] }>('GET', path);
      for (const { name, verbs } of resources)
        for (const verb of verbs)
          served.add(`${verb === 'patch' ? 'UPDATE' : verb.toUpperCase()} ${group}/${name}`);
    }
    const objects = [...(await manifestsIn('policies')), ...(await manifestsIn('base'))];
    expect(untouched(objects, served)).toEqual([]);
    // What the API server refuses by itself would show nothing.
    for (const [{ does }, answers] of before)
      for (const { status, body } of answers as { status: number; body: KubeObject }[])
        expect({ does, message: status < 300 ? undefined : body.message }).toEqual({ does });
  });
});

/** What ADR 27 costs Pods whose group somebody has named by hand, and nothing else. */
function unmarked(answers: unknown[]): unknown[] {
  const text = JSON.stringify(answers);
  expect(text).toContain(MARK);
  const without = [`"labels":{${MARK}},`, `,${MARK}`, `${MARK},`].reduce(
    (left, part) => left.replaceAll(part, ''),
    text,
  );
  return JSON.parse(without) as unknown[];
}

/** Without what differs from one time to the next: uids, versions, times, addresses, the namespace. */
function comparable(body: unknown, namespace: string): unknown {
  const text = JSON.stringify(body, (key, value: unknown) =>
    ['managedFields', 'resourceVersion', 'uid', 'clusterIP', 'clusterIPs', 'generation'].includes(key)
      ? undefined
      : value,
  );
  if (text === undefined) return undefined;
  const plain = text
    .replaceAll(namespace, 'NAMESPACE')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/(controller-uid":")[0-9a-f-]{36}/g, '$1UID');
  return JSON.parse(plain) as KubeObject;
}
