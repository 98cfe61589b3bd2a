/** The backend kai-scheduler with KAI's own definitions; what KAI would do is done by the test. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { JsonObject } from '../../src/json/json.ts';
import type { OwnedObject } from '../../src/backends/cluster.ts';
import { kai } from '../../src/backends/kai/backend.ts';
import { gangOf, made } from '../support/made-backend.ts';
import { group as gangGroup } from '../support/pod-gangs.ts';
import { recordedSync } from '../support/sync-context.ts';
import type { KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { KAI_RELEASES, kaiPodGroups, kaiTopologies, type KaiRelease } from './support/crds/kai.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import { NAMESPACE } from './support/registered-muster.ts';

const ON_KAI = { 'grove.io/scheduler-name': 'kai-scheduler' };
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POD_GROUPS = `/apis/scheduling.run.ai/v2alpha2/namespaces/${NAMESPACE}/podgroups`;
const TOPOLOGIES = '/apis/kai.scheduler/v1alpha1/topologies';
const [ZONE, HOST] = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'];

interface PodGroup extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly ownerReferences?: readonly object[] };
  readonly spec: JsonObject;
}

clusterSuite('gangs of KAI', () => {
  let cluster: GangCluster;
  let counter = 0;
  let gang = '';

  const createGang = (labels: Record<string, string> = {}, name = gang) =>
    cluster.createGang(name, [group('leader', 1), group('worker', 2)], { labels: { ...ON_KAI, ...labels } });
  const createPods = async (name = gang): Promise<void> => {
    for (const [pod, podclique] of [
      ['l', 'leader'],
      ['w0', 'worker'],
      ['w1', 'worker'],
    ] as const) {
      await cluster.createPod(name, pod, podclique, { labels: ON_KAI });
    }
  };
  const podGroup = (name = gang): Promise<PodGroup> =>
    cluster.client.ok<PodGroup>('GET', `${POD_GROUPS}/${NAMESPACE}.${name}`);
  const untilPodGroup = (wanted: (it: PodGroup) => boolean = () => true, name = gang): Promise<PodGroup> =>
    until(`PodGroup of ${name}`, async () => {
      const found = await podGroup(name);
      if (wanted(found)) return found;
      throw new Error(`it is ${JSON.stringify(found)}`);
    });
  const untilUngated = (name = gang): Promise<boolean> =>
    until(`the gates of ${name} are off`, async () => {
      const pods = await cluster.podsOf(name);
      return pods.length === 3 && pods.every((pod) => gatesOf(pod).length === 0);
    });
  const relabel = (labels: Record<string, string>): Promise<unknown> =>
    cluster.client.ok('PATCH', `${cluster.gangs()}/${gang}`, { metadata: { labels } });
  /** Installs KAI's definitions, or puts those of another release in their place. */
  const install = async (release: KaiRelease): Promise<void> => {
    // The PodGroup last: Muster looks for it, and then not again for a minute.
    for (const crd of [kaiTopologies, kaiPodGroups(release)]) {
      const path = `${CRDS}/${crd.metadata.name}`;
      const { status, body } = await cluster.client.request('GET', path);
      if (status === 404) await cluster.client.ok('POST', CRDS, crd);
      else {
        const { resourceVersion } = body.metadata;
        await cluster.client.ok('PUT', path, { ...crd, metadata: { ...crd.metadata, resourceVersion } });
      }
    }
  };

  beforeAll(async () => {
    cluster = await GangCluster.start({
      webhooks: true,
      settings: {
        scheduler: {
          profiles: [
            { name: 'kai-scheduler', config: { queue: 'research', topologyName: 'datacentre' } },
            { name: 'default-scheduler' },
          ],
          defaultProfileName: 'kai-scheduler',
        },
        topologyAwareScheduling: {
          enabled: true,
          levels: [
            { domain: 'zone', key: ZONE },
            { domain: 'host', key: HOST },
          ],
        },
      },
    });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);
  beforeEach(() => {
    gang = `kai-${++counter}`;
  });

  test('without KAI only its gangs wait, and go on once it is installed', async () => {
    await createGang();
    await createPods();
    await cluster.life('other');
    const waits = await until('the gang says why it waits', async () => {
      const { message } = (await cluster.condition(gang, 'Initialized')) ?? {};
      return message?.includes('CRD podgroups.scheduling.run.ai') ? message : undefined;
    });
    expect(waits).toContain('install KAI Scheduler 0.15 or later');
    expect((await cluster.podsOf(gang)).map((pod) => gatesOf(pod).length)).toEqual([1, 1, 1]);
    await install('0.17');
    await untilPodGroup();
    await cluster.untilCondition(gang, 'Initialized', { status: 'True' });
    await untilUngated();
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  });

  test('a gang is one PodGroup of its own name, owned by the PodGang; the Topology is kept', async () => {
    const { metadata } = await createGang({ team: 'a' });
    const made = await untilPodGroup();
    expect(made.metadata).toMatchObject({
      labels: { team: 'a', 'app.kubernetes.io/managed-by': 'muster' },
      ownerReferences: [{ kind: 'PodGang', name: gang, uid: metadata.uid, controller: true }],
    });
    expect(made.spec).toEqual({
      queue: 'research',
      minMember: 3,
      subGroups: [
        { name: 'leader', minMember: 1 },
        { name: 'worker', minMember: 2 },
      ],
    });
    const topology = await until('the Topology', () =>
      cluster.client.ok<PodGroup>('GET', `${TOPOLOGIES}/datacentre`),
    );
    expect(topology.spec).toEqual({ levels: [{ nodeLabel: ZONE }, { nodeLabel: HOST }] });
    // Gone with its gang: the garbage collector of Kubernetes.
    await cluster.removeGang(gang);
    await until(
      'the PodGroup is gone',
      async () => (await cluster.client.request('GET', `${POD_GROUPS}/${NAMESPACE}.${gang}`)).status === 404,
      { withinMs: 60_000 },
    );
    // The collector learns of a new kind within half a minute.
  }, 90_000);

  test('what KAI writes stays, and a second look writes nothing', async () => {
    await createGang({ team: 'a' });
    await untilPodGroup();
    const path = `${POD_GROUPS}/${NAMESPACE}.${gang}`;
    await cluster.client.ok('PATCH', path, {
      metadata: {
        labels: { 'kai.scheduler/node-pool': 'gpu', foreign: 'x' },
        annotations: { 'kai.scheduler/last-start-timestamp': 'then' },
      },
      spec: { markUnschedulable: true, schedulingBackoff: 1 },
    });
    const words = 'Queue does not exist\nnowhere';
    const conditions = [
      { type: 'UnschedulableOnNodePool', status: 'True', transitionID: '1', message: words },
    ];
    await cluster.client.ok('PATCH', `${path}/status`, { status: { schedulingConditions: conditions } });
    await relabel({ team: 'b' });
    const now = await untilPodGroup((it) => it.metadata.labels?.['team'] === 'b');
    expect(now.metadata).toMatchObject({
      labels: { 'kai.scheduler/node-pool': 'gpu', foreign: 'x' },
      annotations: { 'kai.scheduler/last-start-timestamp': 'then' },
    });
    expect(now).toMatchObject({
      spec: { markUnschedulable: true, schedulingBackoff: 1, queue: 'research' },
      status: { schedulingConditions: conditions },
    });
    // A new process looks at every gang anew; once it has made another one it has been at work.
    await cluster.restart();
    await createGang({}, `${gang}-later`);
    await untilPodGroup(undefined, `${gang}-later`);
    expect((await podGroup()).metadata.resourceVersion).toBe(now.metadata.resourceVersion);
    // Once it has Pods that KAI may place, the gang says what KAI says.
    await createPods();
    await untilUngated();
    await until('the words of KAI', async () =>
      (await cluster.condition(gang, 'Scheduled'))?.message.includes('Queue does not exist nowhere'),
    );
  });

  test('another queue while nothing is bound; after that it stays, and the owner is told', async () => {
    await createGang();
    await createPods();
    await untilPodGroup();
    await untilUngated();
    await relabel({ 'kai.scheduler/queue': 'urgent' });
    await untilPodGroup(({ spec }) => spec['queue'] === 'urgent');
    await cluster.client.ok('POST', `${cluster.pods()}/${gang}-l/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name: `${gang}-l` },
      target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
    });
    // Pods and gangs come by watches of their own: a gang that changes before its Pod is seen bound goes to the other queue.
    await until('the loop has seen the binding', async () =>
      (await cluster.condition(gang, 'Scheduled'))?.message.startsWith('bound worker 0/2'),
    );
    const { warnings } = await cluster.client.request('PATCH', `${cluster.gangs()}/${gang}`, {
      metadata: { labels: { 'kai.scheduler/queue': 'later', team: 'c' } },
    });
    expect(warnings.join()).toContain(
      'the queue goes from urgent to later only if no Pod of the gang is bound',
    );
    const event = await until('an Event says so', async () =>
      (await cluster.events('PodGang', gang)).find(({ note }) => note.includes('stays in queue urgent')),
    );
    expect(event.type).toBe('Warning');
    const now = await untilPodGroup((it) => it.metadata.labels?.['team'] === 'c');
    expect(now.spec['queue']).toBe('urgent');
  });

  const wanted = async (parts: Parameters<typeof gangOf>[0]): Promise<OwnedObject> => {
    const { context, applied } = recordedSync();
    await made(kai, { queue: 'q', topologyName: 'dc' }, [ZONE, HOST]).syncPodGang(context, gangOf(parts));
    return applied[0] as OwnedObject;
  };
  const tried = (spec: unknown) =>
    cluster.client.request(
      'POST',
      POD_GROUPS,
      { apiVersion: 'scheduling.run.ai/v2alpha2', kind: 'PodGroup', metadata: { name: 'tried' }, spec },
      { query: { dryRun: 'All', fieldValidation: 'Strict' } },
    );

  test.each(KAI_RELEASES)(
    'KAI %s takes what Muster writes, and no more than its releases do',
    async (release) => {
      await install(release);
      const old = release === '0.14';
      const [root, nested] = [
        { minMember: 0, subGroups: [] },
        { subGroups: [{ name: 'p', minSubGroup: 1 }] },
      ];
      // The new schema is in force a moment after it is stored.
      await until('the definition is in force', async () => {
        const [one, other] = [(await tried(root)).status, (await tried(nested)).status];
        return one === (release === 'main' ? 201 : 422) && other === (old ? 400 : 201);
      });
      const flat = await wanted({ groups: [gangGroup('a'), gangGroup('b', { minReplicas: 2 })] });
      expect(await tried(flat.spec)).toMatchObject({ status: 201, warnings: [] });
      if (old) return;
      const pack = { packConstraint: { required: ZONE, preferred: HOST } };
      const full = await wanted({
        labels: { 'kai.scheduler/preemptibility': 'preemptible' },
        groups: [gangGroup('a', { topologyConstraint: pack }), gangGroup('b', { minReplicas: 0 })],
        spec: {
          priorityClassName: 'high',
          topologyConstraint: pack,
          topologyConstraintGroupConfigs: [{ name: 'p', podGroupNames: ['a'], topologyConstraint: pack }],
        },
      });
      const { status, body, warnings } = await tried(full.spec);
      expect({ status, warnings }).toEqual({ status: 201, warnings: [] });
      expect(body.spec).toEqual(full.spec);
      const released = await wanted({ groups: [gangGroup('a', { minReplicas: 0 })] });
      expect((await tried(released.spec)).status).toBe(201);
      expect((await tried({ subGroups: [{ name: 'Xy', minMember: 1 }] })).status).toBe(422);
      expect((await tried({ preemptibility: '' })).status).toBe(422);
    },
  );

  test('a Topology never takes other levels, and the host only last', async () => {
    const levels = (...keys: string[]) => ({ spec: { levels: keys.map((nodeLabel) => ({ nodeLabel })) } });
    const changed = await cluster.client.request('PATCH', `${TOPOLOGIES}/datacentre`, levels(ZONE));
    expect([changed.status, changed.body.message]).toEqual([
      422,
      expect.stringContaining('nodeLabel structure is immutable; only aliases may be edited'),
    ]);
    const { status, body } = await cluster.client.request('POST', TOPOLOGIES, {
      apiVersion: 'kai.scheduler/v1alpha1',
      kind: 'Topology',
      metadata: { name: 'odd' },
      ...levels(HOST, ZONE),
    });
    expect(status).toBe(422);
    expect(body.message).toContain('can only be used at the lowest level of topology');
  });
});
