/** When a gang is looked at, and for whom nothing is done. */
import { describe, expect, test } from '@jest/globals';
import { BackendRegistry } from '../../../../src/backends/registry.ts';
import { evictorOf } from '../../../../src/controller/preemption/evictor.ts';
import { plannerThread } from '../../../../src/controller/preemption/planner.ts';
import { PlanRate } from '../../../../src/controller/preemption/make-room.ts';
import { snapshotObjects } from '../../../../src/controller/preemption/read-cluster.ts';
import { roomReconciler } from '../../../../src/controller/preemption/reconcile-room.ts';
import type { GangView } from '../../../../src/controller/watch/gang-view.ts';
import { EVERY_GANG } from '../../../../src/gang/gang-selection.ts';
import { readGangRecord, readPodRecord } from '../../../../src/gang/read-records.ts';
import type { JsonObject } from '../../../../src/json/json.ts';
import type { KubeClient } from '../../../../src/kube/client/client.ts';
import { ApiError } from '../../../../src/kube/client/errors.ts';
import { FakeClock } from '../../kube/loop/fake-clock.ts';
import type { FakeApi } from './fake-api.ts';
import { cluster, evictions, FULL, gang, plannerHere, pod, running } from './room-scene.ts';

const AFTER_MS = 10_000;
const { signal } = new AbortController();

/** A view that knows at once what the API server knows. */
const viewOf = (api: FakeApi): GangView => {
  const object = (stored: unknown): JsonObject => stored as JsonObject;
  return {
    gangs: {
      get: (namespace: string, name: string) => {
        const found = api.get('podgangs', `${namespace}/${name}`);
        return found && readGangRecord(object(found));
      },
    },
    pods: {
      byIndex: (_index: string, key: string) =>
        api
          .all('pods')
          .map((one) => readPodRecord(object(one)))
          .filter((pod) => `${pod.namespace}/${pod.gang}` === key),
    },
    namespaces: { get: () => undefined },
  } as never;
};

async function start(
  api: FakeApi,
  given: {
    profile?: string;
    config?: JsonObject;
    profiles?: readonly string[];
    lookMs?: number;
    evictMs?: number;
    refuse?: () => Error | undefined;
  } = {},
) {
  const {
    profile = 'default-scheduler',
    config = { gangScheduling: false },
    profiles = [],
    lookMs = 0,
    evictMs = 0,
    refuse = () => undefined,
  } = given;
  const registry = new BackendRegistry([{ name: profile, config }], profile);
  await registry.init(profile, (init) => init({ cluster: undefined, signal }));
  const clock = new FakeClock();
  const told: string[] = [];
  let lists = 0;
  const client: KubeClient = Object.create(api.client, {
    list: {
      value: async (...asked: Parameters<KubeClient['list']>) => {
        // A look at the gang alone is none at the cluster.
        if (asked[1]?.labelSelector === undefined) lists += 1;
        const refusal = refuse();
        if (refusal !== undefined) throw refusal;
        // The last kind of a look.
        if (asked[0].plural === 'podgangs') await clock.pass(lookMs);
        return api.client.list(...asked);
      },
    },
    evict: {
      value: async (...asked: Parameters<KubeClient['evict']>) => {
        if (asked[1]?.dryRun !== true) await clock.pass(evictMs);
        return api.client.evict(...asked);
      },
    },
  }) as KubeClient;
  const reconcile = roomReconciler({
    client,
    view: viewOf(api),
    registry,
    selectors: EVERY_GANG,
    settings: {
      profiles,
      afterMs: AFTER_MS,
      overridePodDisruptionBudgets: false,
      limits: { victimsPerPlan: 64, plansPerMinute: 6 },
      exemptNamespaces: [],
    },
    rate: new PlanRate(6, () => clock.now()),
    planner: plannerHere,
    now: () => clock.date(),
    clock,
    observer: {
      begun: () => told.push('begun'),
      ended: (_gang, why) => told.push(`ended: ${why}`),
      evicted: ({ name }) => told.push(`evicted ${name}`),
      attempted: (_gang, result) => told.push(result),
      planned: () => told.push('planned'),
    },
  });
  return {
    clock,
    told,
    lists: () => lists,
    look: async (key = 'ns/urgent') => (await reconcile(key, signal))?.requeueAfterMs,
  };
}

describe('a gang without room', () => {
  test('is looked at once it has been so for a while, and then until its victims are gone', async () => {
    const api = cluster();
    const { clock, told, lists, look } = await start(api);
    expect(await look()).toBe(AFTER_MS);
    await clock.pass(AFTER_MS - 1);
    expect(await look()).toBe(1);
    expect(lists()).toBe(0);
    await clock.pass(1);
    expect(await look()).toBe(1_000);
    expect(told).toEqual(['planned', 'begun', 'evicted low-b', 'evicted low-a', 'preempting']);
    // While the first of them is there nobody lists the cluster again.
    const before = lists();
    await clock.pass(1_000);
    expect(await look()).toBe(1_000);
    expect(lists()).toBe(before);
    api.leave();
    await clock.pass(1_000);
    expect(await look()).toBe(AFTER_MS);
    expect(told.slice(5)).toEqual(['planned', 'ended: it fits without anybody else going', 'fits']);
    expect(running(api)).toEqual(['middle-a', 'middle-b']);
  });

  test('with a plan is gone on with at once', async () => {
    const api = cluster();
    api.after = (write) => {
      if (write === 'remember urgent') throw new Error('killed');
    };
    const first = await start(api);
    await first.look();
    await first.clock.pass(AFTER_MS);
    await expect(first.look()).rejects.toThrow('killed');
    api.after = () => undefined;
    const { look } = await start(api);
    expect(await look()).toBe(1_000);
    expect(evictions(api)).toHaveLength(2);
  });

  test.each([
    ['that nothing helps', FULL.map((one) => ({ ...one, prio: 1000 })), 'impossible'],
    ['that has room, and whose scheduler thinks otherwise', [], 'fits'],
  ])('%s is looked at less and less often', async (_case, others, result) => {
    const { clock, look, told } = await start(cluster(others));
    await look();
    const waits: (number | undefined)[] = [];
    let wait = AFTER_MS;
    for (let times = 0; times < 8; times += 1) {
      await clock.pass(wait);
      wait = (await look()) ?? 0;
      waits.push(wait / 1000);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 300]);
    expect(new Set(told)).toEqual(new Set(['planned', result]));
  });

  test('whose attempts fail is tried less and less often, and as usual once one succeeds', async () => {
    const api = cluster(FULL.map((one) => ({ ...one, prio: 1000 })));
    let forbidden = true;
    const { clock, look } = await start(api, {
      refuse: () => (forbidden ? new ApiError('list nodes', { status: 403, message: 'no' }) : undefined),
    });
    await look();
    await clock.pass(AFTER_MS);
    const waits: (number | undefined)[] = [];
    for (let times = 0; times < 6; times += 1) {
      await expect(look()).rejects.toThrow('403');
      const wait = (await look()) ?? 0;
      waits.push(wait / 1000);
      await clock.pass(wait);
    }
    expect(waits).toEqual([1, 2, 4, 8, 10, 10]);
    forbidden = false;
    expect(await look()).toBe(AFTER_MS);
  });

  test('costs a tenth of the time at most, however many of them there are; a plan is gone on with all the same', async () => {
    const api = cluster(FULL.map((one) => ({ ...one, prio: 1000 })));
    api.put('podgangs', gang('second', 2));
    for (const name of ['second-0', 'second-1'])
      api.put('pods', pod({ name, prio: 1000, gang: 'second', never: true }));
    const { clock, look, told } = await start(api, { lookMs: 500 });
    await look();
    await look('ns/second');
    await clock.pass(AFTER_MS);
    await look();
    expect(told).toEqual(['planned', 'impossible']);
    expect(await look('ns/second')).toBe(4_500);
    const plan = { gang: 'uid-second', at: '1970-01-01T00:00:00Z', nominations: [], victims: [['uid-gone']] };
    api.put('podgangs', gang('second', 2, { 'muster.dev/preemption-plan': JSON.stringify(plan) }));
    expect(await look('ns/second')).toBe(AFTER_MS);
    expect(told).toHaveLength(5);
  });

  test('waits for the reading and the planning of another one, not for its evictions', async () => {
    const api = cluster();
    api.put('podgangs', gang('second', 2));
    for (const name of ['second-0', 'second-1'])
      api.put('pods', pod({ name, prio: 1000, gang: 'second', never: true }));
    const { clock, look, told } = await start(api, { lookMs: 100, evictMs: 5_000 });
    await look();
    await look('ns/second');
    await clock.pass(AFTER_MS);
    await look();
    expect(told).toContain('evicted low-a');
    expect(await look('ns/second')).toBe(900);
  });

  test('with a plan of nobody’s making is looked at as one without', async () => {
    const api = cluster([]);
    for (let index = 0; index < 40; index += 1)
      api.put('podgangs', gang(`bogus-${index}`, 1, { 'muster.dev/preemption-plan': '{}' }));
    const { look, lists } = await start(api);
    for (let index = 0; index < 40; index += 1) expect(await look(`ns/bogus-${index}`)).toBeUndefined();
    expect(lists()).toBe(0);
  });

  test('with a plan that another process wrote waits for others of its namespace', async () => {
    const api = cluster([]);
    for (const name of ['one', 'two']) {
      const plan = { gang: `uid-${name}`, at: '1970-01-01T00:00:00Z', nominations: [], victims: [['gone']] };
      api.put('podgangs', gang(name, 1, { 'muster.dev/preemption-plan': JSON.stringify(plan) }));
    }
    const elsewhere = { gang: 'uid-three', at: '1970-01-01T00:00:00Z', nominations: [], victims: [] };
    const three = gang('three', 1, { 'muster.dev/preemption-plan': JSON.stringify(elsewhere) });
    api.put('podgangs', { ...three, metadata: { ...(three['metadata'] as JsonObject), namespace: 'other' } });
    const { look, lists } = await start(api, { lookMs: 500 });
    await look('ns/one');
    const once = lists();
    expect(once).toBeGreaterThan(0);
    expect(await look('ns/two')).toBe(4_500);
    expect(lists()).toBe(once);
    await look('other/three');
    expect(lists()).toBe(2 * once);
  });

  test('and that has room meanwhile is forgotten', async () => {
    const api = cluster();
    const { look } = await start(api);
    expect(await look()).toBe(AFTER_MS);
    for (const name of ['urgent-0', 'urgent-1']) {
      const pod = api.get('pods', `ns/${name}`);
      (pod?.['spec'] as JsonObject & { nodeName: string }).nodeName = 'a';
    }
    expect(await look()).toBeUndefined();
  });
});

describe('nothing is done for a gang', () => {
  test.each<[string, Parameters<typeof start>[1]]>([
    ['whose scheduler may have gangs of its own', { config: {} }],
    ['whose scheduler has them', { config: { api: 'v1alpha2' } }],
    ['of KAI, which preempts itself', { profile: 'kai-scheduler', config: { queue: 'q' } }],
    ['of Volcano, which preempts itself', { profile: 'volcano', config: {} }],
    ['of a profile that is not asked for', { profiles: ['coscheduling'] }],
  ])('%s', async (_case, given) => {
    const { look, lists } = await start(cluster(), given);
    expect(await look()).toBeUndefined();
    expect(lists()).toBe(0);
  });

  test('that the Grove operator keeps, or that is not there', async () => {
    const api = cluster();
    const groves = gang('urgent', 2);
    const metadata = {
      ...(groves['metadata'] as JsonObject),
      labels: { 'app.kubernetes.io/managed-by': 'grove-operator' },
    };
    api.put('podgangs', { ...groves, metadata });
    const { look } = await start(api);
    expect(await look()).toBeUndefined();
    api.remove('podgangs', 'ns/urgent');
    expect(await look()).toBeUndefined();
  });
});

describe('a victim', () => {
  const victim = { namespace: 'ns', name: 'low-a', uid: 'uid-low-a' };
  const at = new Date('2026-01-01T00:00:00.123Z');

  test('is told once, in place of an older word, and not where it goes already', async () => {
    const api = cluster();
    const evictor = evictorOf(api.client, signal, false);
    const conditions = (): unknown => (api.get('pods', 'ns/low-a')?.['status'] as JsonObject)['conditions'];
    (api.get('pods', 'ns/low-a')?.['status'] as { conditions: JsonObject[] }).conditions = [
      { type: 'DisruptionTarget', status: 'False', reason: 'x' },
    ];
    await evictor.mark(victim, at);
    expect(conditions()).toEqual([
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'PreemptionByScheduler',
        message: 'muster: preempting to make room for a gang of higher priority',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ]);
    await evictor.mark(victim, at);
    await evictor.mark({ ...victim, uid: 'another' }, at);
    await evictor.mark({ ...victim, name: 'nobody' }, at);
    await evictor.evict({ ...victim, name: 'low-b', uid: 'uid-low-b' });
    await evictor.mark({ ...victim, name: 'low-b', uid: 'uid-low-b' }, at);
    expect(api.writes).toEqual(['mark low-a', 'evict low-b']);
  });

  test.each<[number, string, string]>([
    [404, 'not found', 'gone'],
    [409, 'the uid is another', 'gone'],
    [429, 'would violate the budget', 'evict: 429: would violate the budget'],
    [
      500,
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      'evict: 500: This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    ],
  ])('whose eviction is answered %i: %s', async (status, message, expected) => {
    const api = cluster();
    const evict = () => Promise.reject(new ApiError('evict', { status, message }));
    const evictor = evictorOf({ ...api.client, evict }, signal, false);
    const pod = { namespace: victim.namespace, name: victim.name };
    expect(await evictor.evict(victim)).toEqual(
      expected === 'gone' ? expected : { refused: { why: 'EvictionRefused', pod, status, words: expected } },
    );
  });

  test('whose eviction is forbidden is no victim that is gone', async () => {
    const evict = () => Promise.reject(new ApiError('evict', { status: 403, message: 'no' }));
    const evictor = evictorOf({ ...cluster().client, evict }, signal, false);
    await expect(evictor.evict(victim)).rejects.toThrow('403');
  });
});

describe('the thread in which it is planned', () => {
  test('comes to what is come to here', async () => {
    const objects = await snapshotObjects(cluster().client, signal);
    const question = {
      gang: gang('urgent', 2),
      waiting: ['urgent-0', 'urgent-1'].map((name) => pod({ name, prio: 1000, gang: 'urgent', never: true })),
      waits: true,
      plan: undefined,
      late: false,
      exemptNamespaces: [],
      overridePodDisruptionBudgets: false,
    };
    const [there, here] = [plannerThread(), plannerHere()];
    for (const planner of [there, here]) planner.take(objects);
    const answer = await there.consider(question);
    expect(answer).toEqual(await here.consider(question));
    expect(answer.step?.evict.map(({ name }) => name)).toEqual(['low-a', 'low-b']);
    await there.end();
  });

  test('that ends before it has an answer is an error for whoever asked', async () => {
    const planner = plannerThread();
    planner.take([null as never]);
    await expect(planner.consider({} as never)).rejects.toThrow();
    await planner.end();
  });
});
