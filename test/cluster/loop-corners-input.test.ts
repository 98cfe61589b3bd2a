/**
 * Input that no webhook has looked at: it is not registered here, so that anything at all is stored. Each time it has to
 * be clear what is wrong, other gangs go on, and the loop does not wear itself out on it.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import { requestsOf, type Audited } from './support/audited.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group, type Group } from './support/gang-objects.ts';
import { GATE, NAMESPACE } from './support/registered-muster.ts';

const VALID = [group('worker', 2)];
const writes = (requests: readonly Audited[]): string[] =>
  requests.map(({ verb, resource, status }) => `${verb} ${resource} ${status}`);

clusterSuite('input past the webhook', () => {
  let cluster: GangCluster;
  let lives = 0;

  /** Muster's requests about a gang while another lives from its creation until it is scheduled. */
  const requestsMeanwhile = async (gang: string): Promise<string[]> => {
    const before = (await cluster.requestsAbout(gang)).length;
    await cluster.life(`other-${++lives}`);
    return writes((await cluster.requestsAbout(gang)).slice(before));
  };
  const twoWorkers = async (gang: string): Promise<void> => {
    await cluster.createPod(gang, 'worker-0', 'worker');
    await cluster.createPod(gang, 'worker-1', 'worker');
  };
  const replaceGroups = (gang: string, podgroups: readonly Group[]): Promise<unknown> =>
    cluster.client.ok('PATCH', `${cluster.gangs()}/${gang}`, { spec: { podgroups } });

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: false });
  }, 120_000);
  afterAll(() => cluster?.stop(), 60_000);

  const nonsense: readonly [string, readonly Group[], string][] = [
    ['empty', [], 'the gang has no groups'],
    [
      'twice',
      [group('worker', 1), group('worker', 1)],
      'spec.podgroups[1].name: Duplicate value: "worker": group names are unique in a gang (also spec.podgroups[0]); rename one of them [GroupNameDuplicate]',
    ],
    [
      'negative',
      [group('worker', 2), group('leader', -1)],
      'spec.podgroups[1].minReplicas: Invalid value: -1: minReplicas is a whole number from 0 to 2147483647; give the number of Pods that must start together [MinReplicasInvalid]',
    ],
    ['nothing', [group('worker', 0)], 'no group of the gang asks for a Pod'],
  ];
  test('groups that make no sense: it says what is wrong, others go on, and mended it forms', async () => {
    for (const [gang, groups] of nonsense) {
      await cluster.createGang(gang, groups);
      await twoWorkers(gang);
    }
    for (const [gang, , message] of nonsense) {
      const found = await cluster.untilCondition(gang, 'Initialized', { message });
      expect(found).toMatchObject({ status: 'False', reason: 'PodGangPodsCreationPending' });
      expect(await cluster.untilEvent('PodGang', gang, 'PodGangPodsCreationPending')).toMatchObject({
        note: message,
      });
    }
    const [[gang, , message]] = nonsense.slice(1) as [(typeof nonsense)[0]];
    expect((await cluster.status(gang)).why).toBe(message);
    expect(await cluster.untilEvent('PodGang', gang, 'SpecInvalid')).toMatchObject({ note: message });
    expect(await requestsMeanwhile(gang)).toEqual([]);
    for (const [gang, groups, message] of nonsense) {
      expect((await cluster.podsOf(gang)).flatMap(gatesOf)).toEqual([GATE, GATE]);
      expect(await cluster.condition(gang, 'Initialized')).toMatchObject({ message });
      expect((await cluster.gang(gang)).spec.podgroups).toEqual(groups);
      await replaceGroups(gang, VALID);
    }
    for (const [gang] of nonsense) await cluster.untilBound(gang, 2);
  });

  test('a gang that had formed, edited into nonsense: nothing is taken back, and it says so', async () => {
    await cluster.life('formed');
    const { spec } = await cluster.gang('formed');
    await replaceGroups('formed', []);
    const says = { status: 'True', reason: 'BelowMinimum', message: 'the gang has no groups' };
    await cluster.untilCondition('formed', 'Unhealthy', says);
    expect(await cluster.gang('formed')).toMatchObject({ status: { phase: 'Pending' } });
    expect((await cluster.condition('formed', 'Initialized'))?.status).toBe('True');
    expect((await cluster.status('formed')).why).toBe('the gang has no groups');
    await replaceGroups('formed', spec.podgroups);
    await cluster.untilCondition('formed', 'Unhealthy', { status: 'False' });
    await cluster.untilCondition('formed', 'Scheduled', { status: 'True' });
  });

  test('references of another namespace and an annotation that cannot be used are of no effect', async () => {
    const foreign = [{ namespace: 'kube-system', name: 'wrong-worker-0' }];
    const annotations = { 'muster.dev/expected-pods': 'worker=many,wroker=3' };
    await cluster.createGang('wrong', [group('worker', 2, foreign)], { annotations });
    await until('it refers to nobody', async () => (await cluster.references('wrong'))[0]?.length === 0);
    const { note } = await cluster.untilEvent('PodGang', 'wrong', 'ExpectedPodsInvalid');
    expect(['"worker=many" is not group=count', '"wroker" is no group of this gang']).toContain(note);
    await twoWorkers('wrong');
    await cluster.untilBound('wrong', 2);
    // Events are told one after the other, and give way to gates.
    const told = await until('both are told', async () => {
      const warnings = (await cluster.events('PodGang', 'wrong')).filter(({ type }) => type === 'Warning');
      return warnings.length > 1 && warnings;
    });
    expect(told.map(({ reason }) => reason)).toEqual(['ExpectedPodsInvalid', 'ExpectedPodsInvalid']);
  });

  test('deleted half-way and made again with old references: nobody goes before the new gang is whole', async () => {
    await twoWorkers('again');
    await cluster.createGang('again', [group('worker', 3)]);
    await cluster.untilCondition('again', 'Initialized', { message: 'waiting for Pods: worker 2/3' });
    await cluster.removeGang('again');
    const note = 'PodGang again does not exist: create it, or delete the Pod';
    expect(await cluster.untilEvent('Pod', 'again-worker-0', 'UnknownGang')).toMatchObject({ note });
    await cluster.untilEvent('Pod', 'again-worker-1', 'UnknownGang');
    expect((await cluster.status('again')).pods).toMatchObject([
      { state: 'gated', reason: note },
      { state: 'gated', reason: note },
    ]);
    expect(await requestsMeanwhile('again')).toEqual([]);
    expect((await cluster.podsOf('again')).map(gatesOf)).toEqual([[GATE], [GATE]]);
    const old = ['again-worker-0', 'again-worker-1', 'again-worker-2', 'gone'].map((name) => ({
      namespace: NAMESPACE,
      name,
    }));
    await cluster.createGang('again', [group('worker', 3, old)]);
    await cluster.untilCondition('again', 'Initialized', { message: 'waiting for Pods: worker 2/3' });
    await cluster.life(`other-${++lives}`);
    expect((await cluster.podsOf('again')).map(gatesOf)).toEqual([[GATE], [GATE]]);
    await cluster.createPod('again', 'worker-2', 'worker');
    await cluster.untilBound('again', 3);
    expect(await cluster.references('again')).toEqual([
      ['again-worker-0', 'again-worker-1', 'again-worker-2'],
    ]);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  });

  test('a formed gang made again, with its old references: the old Initialized releases nobody', async () => {
    await cluster.life('twin');
    const { spec, metadata } = await cluster.gang('twin');
    for (const name of ['twin-worker-0', 'twin-worker-1']) await cluster.removePod(name);
    // Else the new gang might be whole with the old Pods, and rightly so.
    await until('the loop knows', async () => (await cluster.references('twin'))[0]?.length === 0);
    await cluster.removeGang('twin');
    await cluster.createGang('twin', spec.podgroups);
    await cluster.createPod('twin', 'worker-0', 'worker');
    const says = { status: 'False', message: 'waiting for Pods: worker 1/2' };
    await cluster.untilCondition('twin', 'Initialized', says);
    expect((await cluster.podsOf('twin')).map(gatesOf)).toEqual([[GATE]]);
    await cluster.createPod('twin', 'worker-1', 'worker');
    await cluster.untilBound('twin', 2);
    expect((await cluster.gang('twin')).metadata.uid).not.toBe(metadata.uid);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  });

  test('a namespace that is ending ends; the loop asks little of it', async () => {
    const namespace = 'ending';
    await cluster.createNamespace(namespace);
    await cluster.createGang('last', VALID, { namespace });
    const finalizers = ['example.com/hold'];
    for (const name of ['worker-0', 'worker-1']) {
      await cluster.createPod('last', name, 'worker', { namespace, finalizers });
    }
    await cluster.untilBound('last', 2, namespace);
    await cluster.createPod('last', 'stranger', 'nobody', { namespace });
    await cluster.untilCondition('last', 'Scheduled', { status: 'True' }, namespace);
    const asked = async (): Promise<Audited[]> =>
      (await requestsOf(cluster.plane, MUSTER_USER)).filter((one) => one.namespace === namespace);
    const before = (await asked()).length;
    await cluster.client.ok('DELETE', `/api/v1/namespaces/${namespace}`);
    await until('its Pods are on their way out', async () => {
      const pods = await cluster.podsOf('last', namespace);
      return pods.length === 2 && pods.every(({ metadata }) => 'deletionTimestamp' in metadata);
    });
    await cluster.life(`other-${++lives}`);
    for (const name of ['last-worker-0', 'last-worker-1']) {
      const path = `${cluster.pods(namespace)}/${name}`;
      await cluster.client.ok('PATCH', path, { metadata: { finalizers: null } });
      await cluster.client.request('DELETE', path, undefined, { query: { gracePeriodSeconds: 0 } });
    }
    await until('it is gone', async () => {
      const { status } = await cluster.client.request('GET', `/api/v1/namespaces/${namespace}`);
      return status === 404;
    });
    const since = (await asked()).slice(before);
    expect(since.filter(({ forbidden }) => forbidden)).toEqual([]);
    // References, a status or two, the reads before a name leaves, and Events.
    expect(since.length).toBeLessThanOrEqual(20);
  });

  test('names as long as they may be', async () => {
    const gang = `g${'-'.repeat(61)}g`;
    const long = `${'p'.repeat(229)}-${'q'.repeat(23)}`;
    const pod = (name: string, podclique: string): Promise<unknown> =>
      cluster.createPod(gang, name.slice(gang.length + 1), podclique);
    const name = `${gang}-${long.slice(gang.length + 1)}`;
    await cluster.createGang(gang, [group('w'.repeat(63), 1)]);
    await pod(name, 'v'.repeat(63));
    const event = await cluster.untilEvent('Pod', name, 'UnknownGroup');
    expect(event.note).toContain(`has no group "${'v'.repeat(63)}", only ${'w'.repeat(63)}: correct`);
    await cluster.removePod(name);
    await pod(name, 'w'.repeat(63));
    await cluster.untilBound(gang, 1);
    expect(await cluster.references(gang)).toEqual([[name]]);
  });
});
