/** What a tenant's bindings cost a fleet: a share of the memory, and nothing by their number. */
import { afterEach, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { startFleet } from '../../../../src/controller/fleet.ts';
import {
  bindingRecordOf,
  type BindingRecord,
} from '../../../../src/controller/fleet-bindings/binding-record.ts';
import { fleetBindings } from '../../../../src/controller/fleet-bindings/controller.ts';
import { fleetQueues } from '../../../../src/controller/fleet-queues/controller.ts';
import { watchBindings, type BindingWatches } from '../../../../src/controller/watch/binding-watches.ts';
import type { FleetShared } from '../../../../src/controller/watch/shared.ts';
import {
  CLUSTER_RESOURCE_BINDINGS,
  RESOURCE_BINDINGS,
  type KubeObject,
} from '../../../../src/kube/client/resources.ts';
import { CacheMemory } from '../../../../src/kube/loop/cache-memory.ts';
import { LoopMetrics } from '../../../../src/telemetry/loop-metrics.ts';
import { binding } from '../../fleet/assign/small-fleet.ts';
import { until } from '../../tls/until.ts';
import { FakeCluster } from '../../kube/loop/fake-cluster.ts';

const bindingOf = (namespace: string, name: string): KubeObject => ({
  ...(binding({ placement: { clusterAffinity: {} }, schedulerName: 'muster', replicas: 1 }) as object),
  metadata: {
    ...{ namespace, name, uid: `${namespace}-${name}`, resourceVersion: '1' },
    labels: { 'propagationpolicy.karmada.io/permanent-id': 'p' },
  },
});
const many = (count: number): KubeObject[] =>
  Array.from({ length: count }, (_, index) => bindingOf('flood', `b${index}`));

const started: BindingWatches<BindingRecord>[] = [];
afterEach(async () => {
  for (const { watches } of started.splice(0)) for (const watch of watches) await watch.stop();
});

async function start(cluster: FakeCluster, room: CacheMemory): Promise<BindingWatches<BindingRecord>> {
  const shared = { client: cluster.client, observe: () => ({}), room };
  const bindings = watchBindings(shared, (object, resource) => bindingRecordOf(object, resource, 'muster'));
  started.push(bindings);
  for (const watch of bindings.watches) watch.start();
  await Promise.all(bindings.watches.map((watch) => watch.whenSynced()));
  return bindings;
}

test('a namespace has its share, its bindings hear that it stands still, and others lose nothing', async () => {
  const cluster = new FakeCluster();
  cluster.objects.set(RESOURCE_BINDINGS, [bindingOf('flood', 'first'), bindingOf('good', 'mine')]);
  cluster.objects.set(CLUSTER_RESOURCE_BINDINGS, [bindingOf('', 'wide')]);
  const room = new CacheMemory({ ofNamespace: 64 * 1024, total: 128 * 1024, reserve: 1024 });
  const bindings = await start(cluster, room);
  const heard: (readonly string[])[] = [];
  bindings.onTurn((keys) => heard.push(keys));
  expect([room.standing, bindings.all().length]).toEqual([0, 3]);
  for (let index = 0; room.standing === 0; index += 1)
    await cluster.tell(RESOURCE_BINDINGS, 'ADDED', bindingOf('flood', `b${index}`));
  const kept = bindings.all().filter(({ namespace }) => namespace === 'flood');
  expect(kept.length).toBeGreaterThan(10);
  expect(heard).toEqual([kept.map(({ name }) => `flood/${name}`)]);
  expect(room.why('flood')).toContain('left out are some resourcebindings');
  await cluster.tell(RESOURCE_BINDINGS, 'ADDED', bindingOf('good', 'late'));
  await until('another namespace goes on', () => bindings.get('good/late') !== undefined);
  expect([bindings.get('good/mine') !== undefined, bindings.get('wide') !== undefined]).toEqual([true, true]);
});

test('two controllers that look at the same bindings share the room, each with what it keeps', async () => {
  const cluster = new FakeCluster();
  cluster.objects.set(RESOURCE_BINDINGS, many(400));
  const room = new CacheMemory({ ofNamespace: 64 * 1024, total: 128 * 1024, reserve: 1024 });
  const [one, other] = [await start(cluster, room), await start(cluster, room)];
  expect(one.all().length + other.all().length).toBeLessThan(300);
  expect(room.why('flood')).toContain('left out are some resourcebindings)');
});

test('held and unplaced bindings are told why they wait, by the controller that would let them go on', async () => {
  const cluster = new FakeCluster();
  const held = (name: string): KubeObject => {
    const made = bindingOf('flood', name);
    const annotations = { 'muster.dev/fleet-queue': 'team' };
    const { spec } = made as unknown as { spec: object };
    const own = {
      metadata: { ...made.metadata, annotations },
      spec: { ...spec, suspension: { scheduling: true } },
    };
    return { ...made, ...own };
  };
  // Both kinds of them first in the list, so that each controller has some.
  cluster.objects.set(
    RESOURCE_BINDINGS,
    many(400).flatMap((one, at) => [one, held(`h${at}`)]),
  );
  const room = new CacheMemory({ ofNamespace: 64 * 1024, total: 256 * 1024, reserve: 1024 });
  const told = new Map<string, Set<string>>();
  const shared: FleetShared = {
    ...{ client: cluster.client, room, observe: () => ({}), now: () => new Date() },
    ...{ log: pino({ level: 'silent' }), metrics: new LoopMetrics() },
    settings: {
      assigner: { schedulerName: 'muster' },
      queues: { reserveAfterMs: 60_000, kinds: [] },
    },
    recorder: {
      event: (_, { reason, note }) => told.set(reason, (told.get(reason) ?? new Set()).add(note)),
    },
  };
  const controllers = [fleetBindings(shared), fleetQueues(shared)];
  const ending = new AbortController();
  const leading = controllers.map(async (controller) => {
    for (const watch of controller?.watches ?? []) watch.start();
    for (const watch of controller?.watches ?? []) await watch.whenSynced();
    return controller?.lead(ending.signal);
  });
  const reasons = ['NamespaceTooLarge', 'ScheduleBindingFailed'];
  try {
    await until('both have told', () => reasons.every((reason) => told.has(reason)));
  } finally {
    ending.abort();
    await Promise.all(leading);
    for (const controller of controllers) for (const watch of controller?.watches ?? []) await watch.stop();
  }
  expect(reasons.map((reason) => [...(told.get(reason) ?? [])])).toEqual([
    [room.why('flood')],
    [room.why('flood')],
  ]);
});

test('all controllers of a fleet are given one room, which a whole fleet of ordinary size does not fill', async () => {
  const cluster = new FakeCluster();
  const rooms: CacheMemory[] = [];
  const take = ({ room }: FleetShared): undefined => {
    rooms.push(room);
  };
  const times = { leaseDurationMs: 1, renewDeadlineMs: 1, retryPeriodMs: 1 };
  const election = { enabled: false, resourceName: 'x', resourceNamespace: 'x', ...times };
  const metrics = new LoopMetrics();
  const loop = startFleet(
    {
      ...{ client: cluster.client, log: pino({ level: 'silent' }), metrics, now: () => new Date() },
      settings: { leaderElection: election },
    },
    [take, take],
  );
  await loop.stop();
  const [room] = rooms;
  expect([rooms.length, rooms[1] === room]).toEqual([2, true]);
  expect([room?.fits('ml', 16 * 2 ** 20), room?.fits('ml', 2 ** 40)]).toEqual([true, false]);
  room?.leftOut('ml', { kind: 'resourcebindings' });
  expect(await metrics.expose()).toContain('muster_loop_namespaces_standing_still 1');
});
