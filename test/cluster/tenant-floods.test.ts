/**
 * What a tenant does to the loop by making much, large or false things in his own namespace, and that another's gangs go
 * on. Nothing is refused here: neither webhooks nor policies are registered, so that the loop has to cope with it.
 */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { inLength } from '../support/length.ts';
import { metricsAt } from '../support/observed.ts';
import { MUSTER_USER } from '../../src/api/names.ts';
import { requestsOf } from './support/audited.ts';
import { clusterSuiteUnless } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import { HAS_POD_GROUPS, VERSION } from './support/native-gangs.ts';
import { GATE } from './support/registered-muster.ts';

jest.setTimeout(120_000);

/** Little enough that a flood need not be large: 108 MiB in all, of which a namespace may have a quarter. */
const HEAP = ['--max-old-space-size=96', '--max-semi-space-size=4'];
/** Annotations may have 256 KiB together. */
const ANNOTATIONS = { note: 'x'.repeat(250 * 1024) };

const short = inLength({ short: 'it stores 100 MiB: npm run test:long', long: undefined });

clusterSuiteUnless(short, 'a tenant who floods', () => {
  let cluster: GangCluster;
  let lives = 0;

  const life = (): Promise<void> => cluster.life(`good-${++lives}`);
  /** What a flood came to before the loop could be ended by it would be no flood. */
  const inParallel = async (count: number, make: (index: number) => Promise<unknown>): Promise<void> => {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < count) await make(next++);
    };
    await Promise.all(Array.from({ length: 8 }, worker));
  };

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: false, node: HEAP });
    for (const name of ['names', 'labels', 'large', 'mirror']) await cluster.createNamespace(name);
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  test('tens of thousands of references that he made up cost a list for each gang, not one for each name', async () => {
    const gangs = Array.from({ length: 6 }, (_, index) => `forged-${index}`);
    const names = Array.from({ length: 10_000 }, (_, index) => ({
      namespace: 'names',
      name: `pod-${index}`,
    }));
    for (const gang of gangs) {
      await cluster.createGang(gang, [group('worker', 2, names)], { namespace: 'names' });
    }
    await life();
    for (const gang of gangs) {
      await until(`${gang} refers to nobody`, async () => {
        const { spec } = await cluster.gang(gang, 'names');
        return spec.podgroups[0]?.podReferences.length === 0;
      });
    }
    const lists = (await requestsOf(cluster.plane, MUSTER_USER)).filter(
      ({ verb, resource, namespace }) => verb === 'list' && resource === 'pods' && namespace === 'names',
    );
    expect(lists.length).toBeGreaterThanOrEqual(gangs.length);
    expect(lists.length).toBeLessThanOrEqual(4 * gangs.length);
  });

  test('objects that merely carry the label take no memory, not even of a replica that starts', async () => {
    const plural = HAS_POD_GROUPS ? 'podgroups' : 'workloads';
    const path = `/apis/scheduling.k8s.io/${VERSION}/namespaces/labels/${plural}`;
    const spec = HAS_POD_GROUPS
      ? { schedulingPolicy: { basic: {} } }
      : { podGroups: [{ name: 'a', policy: { basic: {} } }] };
    // With what the program takes itself it is more than the whole heap.
    await inParallel(300, (index) =>
      cluster.client.ok('POST', path, {
        apiVersion: `scheduling.k8s.io/${VERSION}`,
        kind: HAS_POD_GROUPS ? 'PodGroup' : 'Workload',
        metadata: {
          name: `nobodys-${index}`,
          labels: { 'app.kubernetes.io/managed-by': 'muster' },
          annotations: ANNOTATIONS,
        },
        spec,
      }),
    );
    await life();
    await cluster.restart();
    await life();
  });

  test('past his bound his own gangs wait and say why, until there is room again; others notice nothing', async () => {
    const namespace = 'large';
    const waiting = [group('worker', 2)];
    const podOf = (index: number): Promise<unknown> =>
      cluster.createPod('waits', `worker-${index}`, 'worker', { namespace });
    await cluster.createGang('waits', waiting, { namespace });
    await podOf(0);
    await inParallel(125, (index) =>
      cluster.createGang(`large-${index}`, waiting, { namespace, annotations: ANNOTATIONS }),
    );
    const found = await cluster.untilCondition(
      'waits',
      'Initialized',
      { reason: 'NamespaceTooLarge' },
      namespace,
    );
    expect(found).toMatchObject({ status: 'False' });
    expect(found.message).toMatch(
      /^namespace large holds more than Muster keeps of one in memory \(\d+ MiB; left out are some .+\): its gangs stay as they are/,
    );
    await podOf(1);
    await life();
    const pods = await cluster.podsOf('waits', namespace);
    expect(pods.map(gatesOf)).toEqual([[GATE], [GATE]]);
    const metrics = await metricsAt(cluster.muster.metricsPort);
    expect(metrics).toContain('\nmuster_loop_namespaces_standing_still 1\n');
    await until('it is logged', () =>
      cluster.muster
        .log()
        .some((line) => line['msg'] === 'the namespace stands still' && line['namespace'] === namespace),
    );
    await cluster.client.ok('DELETE', cluster.gangs(namespace), undefined, {
      query: { fieldSelector: 'metadata.name!=waits' },
    });
    // At once, where the process that runs would look again after half a minute or more.
    await cluster.restart();
    await cluster.untilBound('waits', 2, namespace);
  });

  test('a mirror Pod of a node counts for nothing, whatever its labels', async () => {
    const namespace = 'mirror';
    await cluster.createGang('mixed', [group('worker', 2)], { namespace });
    await cluster.createPod('mixed', 'worker-0', 'worker', { namespace });
    await cluster.client.ok('POST', cluster.pods(namespace), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'mixed-worker-1',
        labels: { 'grove.io/podgang': 'mixed', 'grove.io/podclique': 'worker' },
        annotations: { 'kubernetes.io/config.mirror': 'hash' },
      },
      spec: {
        nodeName: 'node-1',
        schedulerName: 'default-scheduler',
        containers: [{ name: 'main', image: 'example/train:1' }],
      },
    });
    const message = 'waiting for Pods: worker 1/2';
    await cluster.untilCondition('mixed', 'Initialized', { status: 'False', message }, namespace);
    await life();
    expect(await cluster.condition('mixed', 'Initialized', namespace)).toMatchObject({
      status: 'False',
      message,
    });
    await cluster.createPod('mixed', 'worker-2', 'worker', { namespace });
    await until('the gang is bound without it', async () => {
      const bound = (await cluster.podsOf('mixed', namespace)).filter((pod) => gatesOf(pod).length === 0);
      return bound.length === 3;
    });
    const { spec } = await cluster.gang('mixed', namespace);
    expect(spec.podgroups[0]?.podReferences.map(({ name }) => name)).toEqual([
      'mixed-worker-0',
      'mixed-worker-2',
    ]);
  });

  test('and nothing was let go before its time', async () => {
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  });
});
