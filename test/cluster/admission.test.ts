import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Serving } from '../support/serving.ts';
import { MUSTER_USER } from '../../src/api/names.ts';
import type { KubeList } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { secondWebhook } from './support/second-webhook.ts';
import {
  DRY_RUN,
  GANGS,
  gangPod,
  GATE,
  gatesOf,
  NAMESPACE,
  podGang,
  PODS,
  type StoredPod,
} from './support/registered-muster.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

/** Of the trusted accounts the one whose updates are reviewed. */
const TRUSTED = 'system:serviceaccount:ci:robot';

clusterSuite('a real API server with Muster in front of it', () => {
  let plane: ControlPlane;
  let muster: Serving;
  let on: OnMuster;

  beforeAll(async () => {
    on = await withMuster({
      muster: 'admission',
      plane: { controllerManager: true, auditPolicy: true },
      settings: { trustedAccounts: [MUSTER_USER, TRUSTED] },
    });
    ({ plane, muster } = on);
  }, 600_000);

  afterAll(() => on?.close());

  const create = (object: object, options = {}) =>
    plane.client.request<StoredPod & { message?: string }>('POST', PODS, object, options);
  const get = (name: string) => plane.client.ok<StoredPod>('GET', `${PODS}/${name}`);

  test('a gang Pod is stored prepared for its scheduler and gated', async () => {
    const { status } = await create(
      gangPod({ name: 'prepared' }, { schedulingGates: [{ name: 'example.com/mine' }] }),
    );
    expect(status).toBe(201);
    const stored = await get('prepared');
    expect(stored.spec.schedulerName).toBe('kai-scheduler');
    expect(gatesOf(stored)).toEqual(['example.com/mine', GATE]);
    expect(stored.metadata.labels).toMatchObject({ 'kai.scheduler/subgroup-name': 'worker' });
    expect(stored.metadata.annotations).toMatchObject({
      'kai.scheduler/podgang': 'train',
      'kai.scheduler/podgroup': 'worker',
      'kai.scheduler/skip-podgrouper': 'true',
      'pod-group-name': `${NAMESPACE}.train`,
    });
  });

  test('a Pod with generateName only is prepared as well', async () => {
    const { status, body } = await create(gangPod({ generateName: 'made-' }));
    expect(status).toBe(201);
    expect(body.metadata.name).toMatch(/^made-/);
    expect(gatesOf(await get(body.metadata.name))).toEqual([GATE]);
  });

  test('the label chooses kube-scheduler where another is the default', async () => {
    await create(gangPod({ name: 'stock' }, {}, { 'grove.io/scheduler-name': 'default-scheduler' }));
    const stored = await get('stock');
    expect(stored.spec.schedulerName).toBe('default-scheduler');
    expect(stored.metadata.annotations).toBeUndefined();
    expect(gatesOf(stored)).toEqual([GATE]);
  });

  test('a Pod of no gang, and one in kube-system, never reach Muster', async () => {
    const ordinary = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    expect((await create(ordinary)).status).toBe(201);
    const system = await plane.client.request(
      'POST',
      '/api/v1/namespaces/kube-system/pods',
      gangPod({ name: 'agent' }),
    );
    expect(system.status).toBe(201);
    // It logs what it decides in that order, and what it logs is read some time after it has answered.
    await create(gangPod({ name: 'after-them' }));
    const decided = (name: string) => muster.decisions().filter((line) => line['name'] === name);
    await until('the Pod after them is decided', () => decided('after-them').length > 0);
    expect([...decided('web'), ...decided('agent')]).toEqual([]);
  });

  test.each([
    [
      'no group',
      gangPod({ name: 'x', labels: undefined }, {}, { 'grove.io/podclique': '' }),
      422,
      'GroupLabelRequired',
    ],
    ['nodeName', gangPod({ name: 'x' }, { nodeName: 'n1' }), 403, 'NodeNameForbidden'],
    [
      'an unknown scheduler',
      gangPod({ name: 'x' }, { schedulerName: 'mine' }),
      422,
      'enabled: kai-scheduler, default-scheduler',
    ],
  ])('refused with our own words: %s', async (_title, object, code, words) => {
    const { status, body } = await create(object);
    expect(status).toBe(code);
    expect(body.message).toContain(words);
    expect(body.message).toContain('admission webhook "pods.muster.dev" denied the request: Pod x: ');
  });

  test('a dry run shows the prepared Pod and writes nothing', async () => {
    const { status, body } = await create(gangPod({ name: 'dry' }), DRY_RUN);
    expect(status).toBe(201);
    expect(gatesOf(body)).toEqual([GATE]);
    expect((await plane.client.request('GET', `${PODS}/dry`)).status).toBe(404);
    // The log of the API server has a request some time after its answer.
    const audit = await until('the dry run is logged', async () => {
      const text = await readFile(plane.auditLog ?? '', 'utf8');
      const lines = text.slice(0, text.lastIndexOf('\n')).split('\n');
      return lines.some((line) => line.includes('dryRun=All') && line.includes('"name":"dry"')) && lines;
    });
    const byMuster = audit.filter(
      (line) => (JSON.parse(line) as { user: { username: string } }).user.username === MUSTER_USER,
    );
    expect(audit.length).toBeGreaterThan(10);
    expect(byMuster).toEqual([]);
    const entry = audit.map(
      (line) => JSON.parse(line) as { requestURI: string; annotations?: Record<string, string> },
    );
    const dry = entry.findLast(
      (line) => line.requestURI.includes('dryRun=All') && line.requestURI.includes('/pods'),
    );
    expect(dry?.annotations).toMatchObject({
      'pods.muster.dev/backend': 'kai-scheduler',
      'pods.muster.dev/gang': `${NAMESPACE}/train`,
    });
  });

  test.each([
    ['Deployment', 'apps/v1', 'deployments', { replicas: 2, selector: { matchLabels: { app: 'd' } } }],
    ['Job', 'batch/v1', 'jobs', { completions: 2, parallelism: 2 }],
  ])('the Pods of a %s are gang Pods when their template says so', async (kind, apiVersion, plural, spec) => {
    const app = kind === 'Deployment' ? 'd' : 'j';
    const labels = { app, 'grove.io/podgang': 'train', 'grove.io/podclique': 'worker' };
    const template = {
      metadata: { labels },
      spec: { restartPolicy: kind === 'Job' ? 'Never' : 'Always', containers: [{ name: 'c', image: 'i' }] },
    };
    await plane.client.ok('POST', `/apis/${apiVersion}/namespaces/${NAMESPACE}/${plural}`, {
      apiVersion,
      kind,
      metadata: { name: `team-${app}` },
      spec: { ...spec, template },
    });
    const pods = await until(`two Pods of the ${kind}`, async () => {
      const { items } = await plane.client.ok<KubeList<StoredPod>>('GET', PODS, undefined, {
        query: { labelSelector: `app=${app}` },
      });
      return items.length === 2 && items;
    });
    for (const pod of pods) {
      expect(pod.metadata.ownerReferences?.length).toBe(1);
      expect(gatesOf(pod)).toEqual([GATE]);
      expect(pod.metadata.annotations?.['pod-group-name']).toBe(`${NAMESPACE}.train`);
    }
  });

  test('a later webhook that changes the Pod makes the API server ask again, and the result is the same', async () => {
    const meddler = await secondWebhook(plane.client, 'zz-meddler', on.certificates.path, {
      answer: () => ({ patch: [{ op: 'add', path: '/metadata/labels/meddled', value: 'yes' }] }),
    });
    const labels = { 'zz-meddler': 'yes' };
    const name = await until('the second webhook is called', async () => {
      const { body } = await create(gangPod({ generateName: 'again-' }, {}, labels));
      return body.metadata.labels['meddled'] === 'yes' && body.metadata.name;
    });
    const stored = await get(name);
    expect(gatesOf(stored)).toEqual([GATE]);
    expect(Object.keys(stored.metadata.annotations ?? {}).sort()).toEqual([
      'kai.scheduler/podgang',
      'kai.scheduler/podgroup',
      'kai.scheduler/skip-podgrouper',
      'pod-group-name',
    ]);
    // Patched; asked again and with nothing to do; validated under its generated name.
    const own = await until('its three decisions are logged', () => {
      const lines = muster.decisions();
      const last = lines.findLastIndex((line) => line['name'] === name);
      return last >= 2 && lines.slice(last - 2, last + 1);
    });
    expect(own.map((line) => line['operations'])).toEqual([4, 0, 0]);
    await meddler.close();
  });

  test('a label that a later webhook adds comes too late, and validation says so', async () => {
    const labeller = await secondWebhook(plane.client, 'zz-labeller', on.certificates.path, {
      answer: () => ({
        patch: [
          { op: 'add', path: '/metadata/labels/grove.io~1podgang', value: 'train' },
          { op: 'add', path: '/metadata/labels/grove.io~1podclique', value: 'worker' },
        ],
      }),
    });
    const late = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'late', labels: { 'zz-labeller': 'yes' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    };
    const refused = await until('the labeller is called', async () => {
      const { status, body } = await create(late, DRY_RUN);
      return status !== 201 && { status, body };
    });
    expect(refused.status).toBe(403);
    expect(refused.body.message).toContain('GateMissing');
    await labeller.close();
  });

  test('a PodGang with several faults is refused with all of them', async () => {
    const wrong = {
      ...podGang('wrong'),
      spec: {
        podgroups: [
          { name: 'a b', minReplicas: 0 },
          { name: 'c', minReplicas: 0, podReferences: [{ namespace: 'other', name: 'p' }] },
        ],
      },
    };
    const { status, body } = await plane.client.request<{
      message: string;
      details: { causes: { field: string }[] };
    }>('POST', GANGS, wrong, { as: MUSTER_USER, asGroups: ['system:masters'] });
    expect(status).toBe(422);
    expect(body.details.causes.map(({ field }) => field)).toEqual([
      'spec.podgroups[0].name',
      'spec.podgroups[1].podReferences[0].namespace',
      'spec.podgroups',
    ]);
  });

  test('applying the manifest again never clears references', async () => {
    const manifest = JSON.stringify(podGang('applied'));
    expect((await plane.kubectl(['apply', '-f', '-'], { stdin: manifest })).code).toBe(0);
    const reference = [{ namespace: NAMESPACE, name: 'leader-0' }];
    const patch = [{ op: 'replace', path: '/spec/podgroups/0/podReferences', value: reference }];
    await plane.client.ok('PATCH', `${GANGS}/applied`, patch, {
      as: MUSTER_USER,
      asGroups: ['system:masters'],
    });
    for (let round = 0; round < 2; round += 1) {
      expect((await plane.kubectl(['apply', '-f', '-'], { stdin: manifest })).code).toBe(0);
      const serverSide = await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], {
        stdin: manifest,
      });
      expect(serverSide.stderr + serverSide.stdout).toContain('serverside-applied');
    }
    const { spec } = await plane.client.ok<{ spec: { podgroups: { podReferences: unknown }[] } }>(
      'GET',
      `${GANGS}/applied`,
    );
    expect(spec.podgroups[0]?.podReferences).toEqual(reference);
    expect(spec.podgroups[1]?.podReferences).toEqual([]);
  });

  test('Initialized is written by trusted accounts, when it is true, and stays', async () => {
    await plane.client.ok('POST', GANGS, podGang('life'));
    const write = (status: string | undefined, as: string) =>
      plane.client.request(
        'PATCH',
        `${GANGS}/life/status`,
        {
          status: {
            phase: 'Pending',
            conditions:
              status === undefined
                ? []
                : [
                    {
                      type: 'Initialized',
                      status,
                      reason: 'Test',
                      message: '',
                      lastTransitionTime: '2026-01-01T00:00:00Z',
                    },
                  ],
          },
        },
        { as, asGroups: ['system:masters'] },
      );
    expect((await write('True', 'alice')).body.message).toContain('InitializedProtected');
    expect((await write('True', TRUSTED)).body.message).toContain('InitializedTooEarly');
    const references = (names: string[]) => names.map((name) => ({ namespace: NAMESPACE, name }));
    const patch = [
      { op: 'replace', path: '/spec/podgroups/0/podReferences', value: references(['l-0']) },
      { op: 'replace', path: '/spec/podgroups/1/podReferences', value: references(['w-0', 'w-1']) },
    ];
    const trusted = { as: TRUSTED, asGroups: ['system:masters'] };
    await plane.client.ok('PATCH', `${GANGS}/life`, patch, trusted);
    expect((await write('True', TRUSTED)).status).toBe(200);
    expect((await write('False', TRUSTED)).body.message).toContain('InitializedFinal');
    expect((await write(undefined, TRUSTED)).body.message).toContain('InitializedFinal');
    const removed = await plane.client.request(
      'PATCH',
      `${GANGS}/life`,
      [{ op: 'remove', path: '/spec/podgroups/1' }],
      trusted,
    );
    expect(removed.body.message).toContain('GroupsFixed');
    expect((await plane.client.request('DELETE', `${GANGS}/life`)).status).toBe(200);
  });
});
