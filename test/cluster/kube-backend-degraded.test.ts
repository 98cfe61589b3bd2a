/** The backend default-scheduler in a cluster whose feature gates are off: gates alone, and everybody is told. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WITHOUT_NATIVE_GANGS } from './support/small-gangs.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import { gatesOf, group } from './support/gang-objects.ts';
import { cpus } from './support/native-gangs.ts';

clusterSuite('kube-scheduler without native gangs', () => {
  let cluster: GangCluster;

  beforeAll(async () => {
    cluster = await GangCluster.start({
      webhooks: true,
      cpu: 2,
      plane: WITHOUT_NATIVE_GANGS,
    });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  test('whoever creates a gang is told, and so is whoever runs the cluster', async () => {
    const answer = await cluster.client.request('POST', cluster.gangs(), {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name: 'told', labels: KUBE },
      spec: { podgroups: [group('worker', 1)] },
    });
    expect([answer.status, answer.warnings]).toEqual([
      201,
      [
        'default-scheduler has no gang: the gates hold the Pods until all are there, then each is placed by itself',
      ],
    ]);
    const path = '/apis/muster.dev/v1alpha1/schedulerbackends/default-scheduler';
    // The object is made first, and its status a moment later.
    await until('the backend is shown with its notice', async () => {
      const shown = JSON.stringify(await cluster.client.ok('GET', path));
      return shown.includes('the cluster serves no native gangs');
    });
  });

  test('a required topology, which nobody would keep, is refused', async () => {
    const spec = { topologyConstraint: { packConstraint: { required: 'kubernetes.io/hostname' } } };
    await expect(cluster.createGang('packed', [group('worker', 1)], { spec })).rejects.toThrow(
      'feature gate TopologyAwareWorkloadScheduling is off',
    );
  });

  test('a gang waits at its gates until it is complete; then its Pods are placed one by one', async () => {
    await cluster.createGang('half', [group('worker', 3)]);
    const create = (index: number): Promise<unknown> =>
      cluster.createPod('half', `worker-${index}`, 'worker', { spec: cpus(1) });
    await create(0);
    await create(1);
    await cluster.untilCondition('half', 'Initialized', { status: 'False' });
    const pods = await cluster.podsOf('half');
    expect(pods.map((pod) => [gatesOf(pod).length, pod.spec.nodeName])).toEqual([
      [1, undefined],
      [1, undefined],
    ]);
    expect(pods[0]?.spec).not.toHaveProperty('schedulingGroup');
    expect(pods[0]?.spec).not.toHaveProperty('workloadRef');
    await create(2);
    // Two of three fit: with a native gang there would be none.
    await until('two are bound', async () => {
      const found = await cluster.podsOf('half');
      return found.filter(({ spec }) => spec.nodeName !== undefined).length === 2;
    });
  });
});
