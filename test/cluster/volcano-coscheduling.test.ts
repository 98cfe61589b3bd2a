/**
 * The backends volcano and coscheduling with their definitions on a real API server, whose garbage collector takes their
 * objects away. The schedulers themselves are played by the test: it binds Pods, and writes status as Volcano does.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import type { PodGangParts } from '../support/pod-gangs.ts';
import { group as groupOf } from '../support/pod-gangs.ts';
import { gangOf, made } from '../support/made-backend.ts';
import { recordedSync } from '../support/sync-context.ts';
import { coscheduling } from '../../src/backends/coscheduling/backend.ts';
import { volcano } from '../../src/backends/volcano/backend.ts';
import type { KubeList, KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { requestsOf } from './support/audited.ts';
import { coschedulingPodGroups } from './support/crds/coscheduling.ts';
import { volcanoPodGroups, volcanoQueues } from './support/crds/volcano.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group, type Group } from './support/gang-objects.ts';
import { NAMESPACE } from './support/registered-muster.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const VOLCANO = `/apis/scheduling.volcano.sh/v1beta1/namespaces/${NAMESPACE}/podgroups`;
const PLUGINS = `/apis/scheduling.x-k8s.io/v1alpha1/namespaces/${NAMESPACE}/podgroups`;
const QUEUES = '/apis/scheduling.volcano.sh/v1beta1/queues';
const QUEUE = 'scheduling.grove.io/volcano-queue';
const PROFILES = [
  { name: 'kai-scheduler' },
  { name: 'default-scheduler' },
  { name: 'volcano', config: { minResources: true, tiers: { zone: { name: 'zones' } } } },
  { name: 'coscheduling', config: { scheduleTimeoutSeconds: 90 } },
];

interface PodGroup extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly ownerReferences: readonly object[] };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: { readonly phase?: string };
}

clusterSuite('volcano and coscheduling', () => {
  let cluster: GangCluster;

  const on = (backend: string) => ({ 'grove.io/scheduler-name': backend });
  const createGang = (backend: string, name: string, groups: readonly Group[], annotations = {}) =>
    cluster.createGang(name, groups, { labels: on(backend), annotations });
  const createPods = async (backend: string, gang: string, clique: string, count: number, from = 0) => {
    for (let index = from; index < from + count; index += 1) {
      await cluster.createPod(gang, `${clique}-${index}`, clique, { labels: on(backend) });
    }
  };
  const podGroup = (path: string, name: string) => cluster.client.ok<PodGroup>('GET', `${path}/${name}`);
  const patchGang = (name: string, patch: object) =>
    cluster.client.ok('PATCH', `${cluster.gangs()}/${name}`, patch);
  /** Names of the Pods of a gang whose gates are all off. */
  const released = async (gang: string): Promise<string[]> =>
    (await cluster.podsOf(gang))
      .filter((pod) => gatesOf(pod).length === 0)
      .map(({ metadata }) => metadata.name.slice(gang.length + 1))
      .sort();
  const bind = (pod: string) =>
    cluster.client.ok('POST', `${cluster.pods()}/${pod}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: pod },
      target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
    });
  const install = async (...definitions: readonly { metadata: { name: string } }[]) => {
    for (const definition of definitions) await cluster.client.ok('POST', CRDS, definition);
  };
  /** As Volcano does: the whole object, status and all. */
  const volcanoWrites = async (name: string, status: object): Promise<PodGroup> => {
    const path = `${VOLCANO}/${name}`;
    return until('the PUT of a scheduler goes through', async () =>
      cluster.client.ok<PodGroup>('PUT', path, { ...(await podGroup(VOLCANO, name)), status }),
    );
  };
  const writesTo = async (name: string): Promise<string[]> =>
    (await requestsOf(cluster.plane, MUSTER_USER))
      .filter((one) => one.resource.startsWith('podgroups.') && one.name === name)
      .map(({ verb }) => verb)
      .filter((verb) => verb !== 'get');

  beforeAll(async () => {
    const scheduler = { profiles: PROFILES, defaultProfileName: 'kai-scheduler' };
    cluster = await GangCluster.start({ webhooks: true, settings: { scheduler } });
  }, 120_000);
  afterAll(async () => {
    await cluster?.stop();
  }, 60_000);

  test('without its definition only the gangs of volcano wait, say why, and go on when it is there', async () => {
    await createGang('volcano', 'early', [group('worker', 2)]);
    await createPods('volcano', 'early', 'worker', 2);
    const waits = await until('it says why', async () => {
      const found = await cluster.condition('early', 'Initialized');
      return found?.message.includes('backend volcano is not ready') === true && found;
    });
    expect(waits).toMatchObject({ status: 'False' });
    expect(waits.message).toContain('failed to get CRD podgroups.scheduling.volcano.sh');
    await cluster.life('meanwhile');
    expect(await released('early')).toEqual([]);

    await install(volcanoPodGroups, volcanoQueues);
    await until('its gates are off', async () => (await released('early')).length === 2);
    expect(await podGroup(VOLCANO, 'early')).toMatchObject({ spec: { minMember: 2, queue: 'default' } });
  });

  test('a gang has its PodGroup, owned by it, and its Pods name it from the start', async () => {
    const gang = await createGang('volcano', 'train', [group('leader', 1), group('worker', 2)]);
    const found = await until('the PodGroup', () => podGroup(VOLCANO, 'train'));
    expect(found.metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'PodGang', name: 'train', uid: gang.metadata.uid, controller: true }),
    ]);
    expect(found.spec).toEqual({
      minMember: 3,
      queue: 'default',
      subGroupPolicy: ['leader', 'worker'].map((name, index) => ({
        name,
        labelSelector: { matchLabels: { 'grove.io/podclique': name } },
        matchLabelKeys: ['grove.io/podclique'],
        subGroupSize: index + 1,
        minSubGroups: 1,
      })),
    });
    await createPods('volcano', 'train', 'leader', 1);
    await createPods('volcano', 'train', 'worker', 2);
    const pod = await cluster.client.ok<KubeObject>('GET', `${cluster.pods()}/train-leader-0`);
    expect(pod).toMatchObject({
      metadata: { annotations: { 'scheduling.k8s.io/group-name': 'train' } },
      spec: { schedulerName: 'volcano' },
    });
    await until('all gates are off at once', async () => (await released('train')).length === 3);
    expect(await writesTo('train')).toEqual(['create']);
  });

  test('what the scheduler writes stays, is told, and makes Muster write nothing', async () => {
    const message = '3/3 tasks in gang unschedulable: pod group is not ready, 3 Pending, 3 minAvailable';
    const condition = {
      type: 'Unschedulable',
      status: 'True',
      reason: 'NotEnoughResources',
      message,
      lastTransitionTime: '2026-06-01T12:00:00Z',
    };
    const written = await volcanoWrites('train', { phase: 'Inqueue', conditions: [condition] });
    const told = await until('the gang says what Volcano says', async () => {
      const found = await cluster.condition('train', 'Scheduled');
      return found?.message.includes(message) === true && found;
    });
    expect(told.message).toContain('(queue "default")');
    await cluster.restart();
    await cluster.life('after-restart');
    const found = await podGroup(VOLCANO, 'train');
    expect(found.status).toEqual({ phase: 'Inqueue', conditions: [condition] });
    expect(found.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
    expect(await writesTo('train')).toEqual(['create']);
  });

  test('a change of the gang is patched in, and taken back again; the status stays', async () => {
    await cluster.client.ok('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'high' },
      value: 1000,
    });
    // Muster hears of the class in a moment, and refuses the name until then.
    await until('the class may be named', async () => {
      const change = { spec: { priorityClassName: 'high' } };
      return (await cluster.client.request('PATCH', `${cluster.gangs()}/train`, change)).status === 200;
    });
    await until('the class is there', async () => {
      const { spec, status } = await podGroup(VOLCANO, 'train');
      expect(status).toMatchObject({ phase: 'Inqueue' });
      return spec['priorityClassName'] === 'high';
    });
    // A gang that has Pods keeps its class; one that has none may lose it again.
    await patchGang('train', { spec: { priorityClassName: null } });
    await createGang('volcano', 'empty', [group('worker', 1)]);
    await patchGang('empty', { spec: { priorityClassName: 'high' } });
    const classOf = async (name: string): Promise<unknown> =>
      (await podGroup(VOLCANO, name).catch(() => undefined))?.spec['priorityClassName'];
    await until('its class is there', async () => (await classOf('empty')) === 'high');
    await patchGang('empty', { spec: { priorityClassName: null } });
    await until('its class is gone', async () => (await classOf('empty')) === undefined);
    expect(await classOf('train')).toBe('high');
    expect(await writesTo('train')).toEqual(['create', 'patch']);
  });

  test('a late Pod is let go only once its gang’s change has reached the scheduler', async () => {
    await patchGang('train', { metadata: { annotations: { [QUEUE]: 'nada' } } });
    const missing = 'volcano queue "nada" does not exist';
    await until('an Event names the queue', async () =>
      (await cluster.events('PodGang', 'train')).some(
        ({ reason, note }) => reason === 'BackendOperationFailed' && note.includes(missing),
      ),
    );
    await createPods('volcano', 'train', 'worker', 1, 2);
    const waits = await until('the gang says what its late Pod waits for', async () => {
      const found = await cluster.condition('train', 'Scheduled');
      return found?.message.includes(missing) === true && found;
    });
    expect(waits.message).toContain("waiting for the scheduler's objects of backend volcano");
    await cluster.life('beside-a-bad-queue');
    expect(await released('train')).not.toContain('worker-2');
    expect((await podGroup(VOLCANO, 'train')).spec['queue']).toBe('default');

    await cluster.client.ok('POST', QUEUES, {
      apiVersion: 'scheduling.volcano.sh/v1beta1',
      kind: 'Queue',
      metadata: { name: 'nada' },
      spec: { weight: 1 },
    });
    await until('it goes on', async () => (await released('train')).includes('worker-2'), {
      withinMs: 60_000,
    });
    expect((await podGroup(VOLCANO, 'train')).spec['queue']).toBe('nada');
  }, 90_000);

  test('minResources are there until the gang is bound', async () => {
    const annotations = { 'muster.dev/min-resources': 'cpu=2,memory=1Gi' };
    await createGang('volcano', 'sized', [group('worker', 2)], annotations);
    await createPods('volcano', 'sized', 'worker', 2);
    await until('its gates are off', async () => (await released('sized')).length === 2);
    expect((await podGroup(VOLCANO, 'sized')).spec['minResources']).toEqual({ cpu: '2', memory: '1Gi' });
    await bind('sized-worker-0');
    await bind('sized-worker-1');
    await until('they are gone', async () => !('minResources' in (await podGroup(VOLCANO, 'sized')).spec));
  });

  test('a gang that is deleted takes its PodGroup along', async () => {
    await cluster.removeGang('train');
    await until('the PodGroup is gone', async () => {
      const { items } = await cluster.client.ok<KubeList>('GET', VOLCANO);
      return !items.some(({ metadata }) => metadata.name === 'train');
    });
  });

  test('coscheduling: exactly the minimum of each group first, the rest once that is bound', async () => {
    await install(coschedulingPodGroups);
    await createGang('coscheduling', 'flat', [group('a', 2), group('b', 1)]);
    await createPods('coscheduling', 'flat', 'a', 4);
    await createPods('coscheduling', 'flat', 'b', 2);
    await until('three are let go', async () => (await released('flat')).length === 3);
    const first = await released('flat');
    expect(first.map((name) => name[0]).sort()).toEqual(['a', 'a', 'b']);
    const found = await podGroup(PLUGINS, 'flat');
    expect(found.spec).toEqual({ minMember: 3, scheduleTimeoutSeconds: 90 });
    const pod = await cluster.client.ok<KubeObject>('GET', `${cluster.pods()}/flat-a-0`);
    expect(pod).toMatchObject({
      metadata: { labels: { 'scheduling.x-k8s.io/pod-group': 'flat' } },
      spec: { schedulerName: 'scheduler-plugins-scheduler' },
    });

    for (const name of first.slice(1)) await bind(`flat-${name}`);
    await cluster.life('meanwhile-again');
    expect(await released('flat')).toEqual(first);
    await bind(`flat-${first[0] ?? ''}`);
    await until('the others follow', async () => (await released('flat')).length === 6);
    expect(await writesTo('flat')).toEqual(['create']);
  });

  const one: PodGangParts = { groups: [groupOf('worker', { minReplicas: 2 })] };
  const full: PodGangParts = {
    annotations: { [QUEUE]: 'gpu', 'muster.dev/min-resources': 'cpu=1.5,nvidia.com/gpu=2' },
    groups: [
      groupOf('A.b_c', { topologyConstraint: { packConstraint: { preferred: 'rack' } } }),
      groupOf('none', { minReplicas: 0 }),
    ],
    spec: { priorityClassName: 'high', topologyConstraint: { packConstraint: { required: 'zone' } } },
  };
  const tiers = { zone: { name: 'zones' }, rack: { tier: 0 } };

  test.each([
    ['volcano, small', VOLCANO, made(volcano), one],
    ['volcano, everything', VOLCANO, made(volcano, { tiers, minResources: true }), full],
    ['coscheduling, small', PLUGINS, made(coscheduling), one],
    [
      'coscheduling, everything',
      PLUGINS,
      made(coscheduling, { minResources: true, scheduleTimeoutSeconds: 30 }),
      full,
    ],
  ])('the API server takes the object strictly: %s', async (_what, path, backend, parts) => {
    const { context, applied } = recordedSync();
    await backend.syncPodGang(context, gangOf(parts));
    const { resource, labels, spec } = applied[0] ?? { resource: undefined, labels: {}, spec: {} };
    const object = {
      apiVersion: `${resource?.group ?? ''}/${resource?.version ?? ''}`,
      kind: resource?.kind,
      metadata: { name: 'strict', labels },
      spec,
    };
    const query = { dryRun: 'All', fieldValidation: 'Strict' };
    const { status, warnings, body } = await cluster.client.request<PodGroup>('POST', path, object, {
      query,
    });
    expect([status, warnings]).toEqual([201, []]);
    // Nothing pruned, nothing changed; only a default is added.
    expect(body.spec).toMatchObject(spec);
    const wrong = { ...object, spec: { ...spec, colour: 'red' } };
    expect((await cluster.client.request('POST', path, wrong, { query })).status).toBe(400);
  });
});
