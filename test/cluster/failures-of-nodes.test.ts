/** What becomes of a running gang whose node, Pods or scheduler are lost, and what `muster status` says of it then. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group, type Pod } from './support/gang-objects.ts';
import { startHeartbeats, type Heartbeats } from './support/heartbeats.ts';

/** A node is given up after this long without a heartbeat; a busy machine must not do that to a node that lives. */
const GRACE_SECONDS = 8;

/** The API server gives every Pod five minutes on a node that is gone; these go at once. */
const tolerations = ['not-ready', 'unreachable'].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 0,
}));

clusterSuite('a running gang', () => {
  let cluster: GangCluster;
  const heartbeats = new Map<string, Heartbeats>();

  const addNode = async (name: string): Promise<void> => {
    // The heartbeats first: a node is looked at from the moment it is there.
    heartbeats.set(name, await startHeartbeats(cluster.client, name));
    await cluster.plane.addNode(name, { cpu: 16 });
    await until(`${name} is ready`, async () => {
      const { spec } = await cluster.client.ok('GET', `/api/v1/nodes/${name}`);
      return (spec as { taints?: unknown[] }).taints === undefined;
    });
  };
  const workers = (gang: string, ...numbers: number[]): Promise<unknown> =>
    Promise.all(
      numbers.map((number) =>
        cluster.createPod(gang, `worker-${number}`, 'worker', { spec: { tolerations } }),
      ),
    );
  const nodesOf = (pods: readonly Pod[]): (string | undefined)[] => [
    ...new Set(pods.map(({ spec }) => spec.nodeName)),
  ];
  const leaving = async (gang: string): Promise<string[]> => {
    const pods = (await cluster.podsOf(gang)) as readonly (Pod & {
      metadata: { deletionTimestamp?: string };
    })[];
    return pods
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(({ metadata }) => metadata.name);
  };
  /** A gang of two that is bound. */
  const running = async (gang: string): Promise<void> => {
    await cluster.createGang(gang, [group('worker', 2)]);
    await workers(gang, 0, 1);
    await cluster.untilBound(gang, 2);
    await cluster.untilCondition(gang, 'Scheduled', { status: 'True' });
  };
  /** What was promised once holds whatever happens: it is Initialized for good, and nobody was released early. */
  const keptItsWord = async (gang: string): Promise<void> => {
    expect(await cluster.condition(gang, 'Initialized')).toMatchObject({ status: 'True' });
    expect(await cluster.history.ungatedEarly()).toEqual([]);
    expect(await cluster.history.initializedTakenBack()).toEqual([]);
  };

  beforeAll(async () => {
    cluster = await GangCluster.start({
      webhooks: true,
      nodes: false,
      plane: { nodeGraceSeconds: GRACE_SECONDS },
    });
    await addNode('node-a');
  }, 180_000);
  afterAll(async () => {
    for (const one of heartbeats.values()) await one.stop();
    await cluster?.stop();
  }, 60_000);

  test('half evicted: it says how many are left, and is whole again with a replacement', async () => {
    await running('evicted');
    const eviction = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'evicted-worker-1' },
      deleteOptions: { gracePeriodSeconds: 0 },
    };
    await cluster.client.ok('POST', `${cluster.pods()}/evicted-worker-1/eviction`, eviction);
    const says = await cluster.untilCondition('evicted', 'Unhealthy', {
      status: 'True',
      reason: 'BelowMinimum',
    });
    expect(says.message).toContain('worker 1/2');
    expect((await cluster.status('evicted')).why).toContain('worker 1/2');
    await until(
      'it is no longer referred to',
      async () => (await cluster.references('evicted'))[0]?.length === 1,
    );
    expect(await cluster.references('evicted')).toEqual([['evicted-worker-0']]);
    await workers('evicted', 2);
    await cluster.untilBound('evicted', 2);
    await cluster.untilCondition('evicted', 'Unhealthy', { status: 'False', reason: 'MinimumPresent' });
    await keptItsWord('evicted');
  });

  test('without a scheduler: its gates go off, nothing is bound, and that is told; it goes on when one is back', async () => {
    await cluster.plane.killScheduler();
    await cluster.createGang('unscheduled', [group('worker', 2)]);
    await workers('unscheduled', 0, 1);
    await until('its gates are off', async () =>
      (await cluster.podsOf('unscheduled')).every((pod) => gatesOf(pod).length === 0),
    );
    const waits = await cluster.untilCondition('unscheduled', 'Scheduled', {
      status: 'False',
      reason: 'PodsPending',
    });
    expect(waits.message).toContain('worker 0/2');
    const told = await cluster.status('unscheduled');
    expect(told.why).toContain('worker 0/2');
    expect(told.pods.map(({ name }) => name)).toEqual(['unscheduled-worker-0', 'unscheduled-worker-1']);
    await cluster.plane.startScheduler();
    await cluster.untilBound('unscheduled', 2);
    await cluster.untilCondition('unscheduled', 'Scheduled', { status: 'True' });
    await keptItsWord('unscheduled');
  }, 120_000);

  test('its node lost: it has fewer than its minimum, and its replacements start on another node', async () => {
    await running('lost');
    expect(nodesOf(await cluster.podsOf('lost'))).toEqual(['node-a']);
    await addNode('node-b');
    await heartbeats.get('node-a')?.stop();
    await until('its Pods are evicted', async () => (await leaving('lost')).length === 2, {
      withinMs: 60_000,
    });
    // They are there until somebody who knows that the node is off says so, and count no more.
    await cluster.untilCondition('lost', 'Unhealthy', { status: 'True', reason: 'BelowMinimum' });
    await until('nothing is referred to', async () => (await cluster.references('lost'))[0]?.length === 0);
    expect((await cluster.status('lost')).why).toContain('worker 0/2');
    expect((await leaving('lost')).length).toBe(2);

    for (const number of [0, 1]) await cluster.removePod(`lost-worker-${number}`);
    await workers('lost', 2, 3);
    await cluster.untilBound('lost', 2);
    expect(nodesOf(await cluster.podsOf('lost'))).toEqual(['node-b']);
    await cluster.untilCondition('lost', 'Unhealthy', { status: 'False', reason: 'MinimumPresent' });
    expect(await cluster.references('lost')).toEqual([['lost-worker-2', 'lost-worker-3']]);
    await keptItsWord('lost');
  }, 120_000);
});
