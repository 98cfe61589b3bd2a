/** Corners of a gang's life, with webhooks and a real scheduler: what must change, and what must not. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { MUSTER_USER } from '../../src/api/names.ts';
import { MESSAGE_INTERVAL_MS } from '../../src/gang/plan/status-write.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { gatesOf, group, type Condition, type Gang } from './support/gang-objects.ts';
import { GATE } from './support/registered-muster.ts';

const FOREIGN: Condition = {
  type: 'example.com/Reserved',
  status: 'True',
  reason: 'Somebody',
  message: 'not of Muster',
  observedGeneration: 1,
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

clusterSuite('corners of the loop', () => {
  let cluster: GangCluster;
  let counter = 0;
  let gang = '';
  const releasedByOthers: string[] = [];

  const names = (...numbers: number[]): string[] => numbers.map((number) => `${gang}-worker-${number}`);
  const workers = (...numbers: number[]): Promise<unknown> =>
    Promise.all(numbers.map((number) => cluster.createPod(gang, `worker-${number}`, 'worker')));
  const initialized = (): Promise<Condition | undefined> => cluster.condition(gang, 'Initialized');

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true });
  }, 120_000);
  afterAll(() => cluster?.stop(), 60_000);
  beforeEach(() => {
    gang = `corner-${++counter}`;
  });
  /** Whatever a test is about, this holds of every state that its gang was ever in. */
  afterEach(async () => {
    expect(await cluster.history.ungatedEarly()).toEqual(releasedByOthers);
    expect(await cluster.history.initializedTakenBack()).toEqual([]);
    expect(badStates((await cluster.history.statesOf(gang)) as unknown as Gang[])).toEqual([]);
  });

  test('scale-in: the references shrink, and nothing else is written', async () => {
    await cluster.createGang(gang, [group('worker', 2)]);
    await workers(0, 1, 2, 3);
    await cluster.untilBound(gang, 4);
    await cluster.untilCondition(gang, 'Scheduled', { status: 'True' });
    await until('all four are referred to', async () => (await cluster.references(gang))[0]?.length === 4);
    const before = { condition: await initialized(), requests: await cluster.requestsAbout(gang) };
    const began = Date.now();
    await cluster.removePod(`${gang}-worker-0`);
    await cluster.removePod(`${gang}-worker-2`);
    await until('two are left', async () => (await cluster.references(gang))[0]?.length === 2);
    expect(await cluster.references(gang)).toEqual([names(1, 3)]);
    await cluster.life(`${gang}-meanwhile`);
    // The words, and since when; it has only observed more generations.
    expect(await initialized()).toEqual({
      ...before.condition,
      observedGeneration: expect.any(Number) as unknown,
    });
    const since = (await cluster.requestsAbout(gang))
      .slice(before.requests.length)
      .filter(({ name }) => !name.startsWith(`${gang}-meanwhile`));
    expect(since.filter(({ resource, verb }) => resource === 'pods' && verb !== 'list')).toEqual([]);
    // The references with each of the two Pods, and the generation observed now and then.
    const observed = 1 + Math.floor((Date.now() - began) / MESSAGE_INTERVAL_MS);
    const writes = since.filter(({ resource }) => resource === 'podgangs.scheduler.grove.io');
    expect(writes.length).toBeLessThanOrEqual(2 + observed);
  });

  test('scale-out and scale-in at once end at what is there', async () => {
    await cluster.createGang(gang, [group('worker', 2)]);
    await workers(0, 1, 2);
    await cluster.untilBound(gang, 3);
    const gone = [0, 2].map((number) => cluster.removePod(`${gang}-worker-${number}`));
    await Promise.all([...gone, workers(3, 4, 5)]);
    await cluster.untilBound(gang, 4);
    await until('the references say so', async () => (await cluster.references(gang))[0]?.length === 4);
    expect(await cluster.references(gang)).toEqual([names(1, 3, 4, 5)]);
    expect((await initialized())?.status).toBe('True');
  });

  test('a Pod of an unknown group stays gated and says what to do; made anew with the right label it goes', async () => {
    await cluster.createGang(gang, [group('worker', 2)]);
    await workers(0);
    await cluster.createPod(gang, 'worker-1', 'wroker');
    const note = `PodGang ${gang} has no group "wroker", only worker: correct the label grove.io/podclique where the Pod comes from, and delete the Pod`;
    const event = await cluster.untilEvent('Pod', `${gang}-worker-1`, 'UnknownGroup');
    expect(event).toMatchObject({ type: 'Warning', note });
    const told = await cluster.status(gang);
    expect(told.why).toBe('waiting for Pods: worker 1/2');
    expect(told.pods.find(({ name }) => name.endsWith('-1'))).toMatchObject({ state: 'gated', reason: note });
    expect((await cluster.podsOf(gang)).map(gatesOf)).toEqual([[GATE], [GATE]]);
    await cluster.removePod(`${gang}-worker-1`);
    await workers(1);
    await cluster.untilBound(gang, 2);
  });

  test('Pods of a gang that is not there yet say so, once, and go when it comes', async () => {
    await workers(0, 1);
    const note = `PodGang ${gang} does not exist: create it, or delete the Pod`;
    const event = await cluster.untilEvent('Pod', `${gang}-worker-0`, 'UnknownGang');
    expect(event).toMatchObject({ type: 'Warning', note });
    expect((await cluster.status(gang)).pods[0]).toMatchObject({ state: 'gated', reason: note });
    await cluster.createGang(gang, [group('worker', 2)]);
    await cluster.untilBound(gang, 2);
    const told = await cluster.events('Pod', `${gang}-worker-0`);
    expect(told.map(({ reason }) => reason)).toEqual(['UnknownGang']);
  });

  test('a Pod that was un-gated behind our back is told of, once', async () => {
    await cluster.createGang(gang, [group('worker', 4)]);
    await workers(0);
    await cluster.client.ok(
      'PATCH',
      `${cluster.pods()}/${gang}-worker-0`,
      [{ op: 'remove', path: '/spec/schedulingGates' }],
      { as: MUSTER_USER, asGroups: ['system:masters'] },
    );
    const event = await cluster.untilEvent('Pod', `${gang}-worker-0`, 'UngatedEarly');
    expect(event).toMatchObject({
      type: 'Warning',
      note: `this Pod has no gate ${GATE} before the gang is Initialized: it was created past the webhook, an earlier PodGang of this name released it, or somebody removed the gate`,
    });
    await workers(1);
    await cluster.life(`${gang}-meanwhile`);
    const told = await cluster.events('Pod', `${gang}-worker-0`);
    expect(told.map(({ reason }) => reason)).toEqual(['UngatedEarly']);
    releasedByOthers.push(`${gang}-worker-0`);
  });

  test('Pending, Starting, Running, below the minimum and back: each turn told once, over a restart', async () => {
    await cluster.createGang(gang, [group('worker', 2)]);
    await until('there is a status', async () => (await cluster.gang(gang)).status !== undefined);
    const status = { conditions: [FOREIGN, ...((await cluster.gang(gang)).status?.conditions ?? [])] };
    await cluster.client.ok('PATCH', `${cluster.gangs()}/${gang}/status`, { status });
    const phase = async (): Promise<string | undefined> => (await cluster.gang(gang)).status?.phase;
    expect(await phase()).toBe('Pending');
    await workers(0, 1);
    await until('Starting', async () => (await phase()) === 'Starting');
    await cluster.kubelet(`${gang}-worker-0`, 'Running', true);
    const before = await cluster.condition(gang, 'Ready');
    await cluster.untilCondition(gang, 'Ready', { status: 'False', message: 'ready worker 1/2' });
    expect((await cluster.condition(gang, 'Ready'))?.lastTransitionTime).toBe(before?.lastTransitionTime);
    await cluster.kubelet(`${gang}-worker-1`, 'Running', true);
    await until('Running', async () => (await phase()) === 'Running');
    await cluster.kubelet(`${gang}-worker-1`, 'Failed', false);
    const says = {
      status: 'True',
      reason: 'BelowMinimum',
      message:
        'fewer Pods than the minimum: worker 1/2; 1 Pod is on nodes, and some schedulers evict a gang below its minimum',
    };
    await cluster.untilCondition(gang, 'Unhealthy', says);
    expect((await cluster.status(gang)).why).toBe(says.message);
    // Events give way to the work that they tell of: what is not written yet would end with the process.
    for (const reason of ['PodsReady', 'BelowMinimum']) await cluster.untilEvent('PodGang', gang, reason);
    await cluster.restart();
    await cluster.removePod(`${gang}-worker-1`);
    await workers(2);
    await cluster.untilCondition(gang, 'Unhealthy', { status: 'False', reason: 'MinimumPresent' });
    await cluster.untilBound(gang, 2);
    await cluster.kubelet(`${gang}-worker-2`, 'Running', true);
    await until('Running again', async () => (await phase()) === 'Running');
    const { generation } = (await cluster.gang(gang)).metadata;
    for (const type of ['Initialized', 'Scheduled', 'Ready', 'Unhealthy']) {
      await cluster.untilCondition(gang, type, { observedGeneration: generation });
    }
    expect(await cluster.condition(gang, FOREIGN.type)).toEqual(FOREIGN);
    const turns = ['PodGangPodsCreated', 'BelowMinimum', 'MinimumPresent', 'PodsReady'];
    // The API server marks a Pod as being deleted just before it removes it: who sees that tells of it.
    const told = async (): Promise<string[]> =>
      (await cluster.events('PodGang', gang))
        .filter(({ reason, note }) => turns.includes(reason) && !note.includes('being deleted'))
        .map(({ reason, note }) => `${reason}: ${note}`)
        .sort();
    const ready = 'PodsReady: every group has its minimum of Pods ready';
    const all = [
      `BelowMinimum: ${says.message}`,
      'MinimumPresent: every group has its minimum of Pods',
      'PodGangPodsCreated: every group has its Pods and refers to them',
      ready,
      ready,
    ];
    await until(
      'the last turn is told',
      async () => (await told()).filter((one) => one === ready).length === 2,
    );
    // Whatever were told once more, would be told by then.
    await cluster.life(`${gang}-meanwhile`);
    await cluster.untilEvent('PodGang', `${gang}-meanwhile`, 'PodsBound');
    expect(await told()).toEqual(all);
  });
});

/** What is wrong with the states that a gang went through, by the rules of conditions. */
function badStates(states: readonly Gang[]): string[] {
  return states.flatMap(({ metadata, status }, index) => {
    if (status === undefined) return [];
    const old = states[index - 1]?.status?.conditions ?? [];
    const now = status.conditions ?? [];
    const turns = now.flatMap((next) => {
      const before = old.find(({ type }) => type === next.type);
      if (before === undefined) return [];
      const turned = before.status !== next.status;
      const moved = before.lastTransitionTime !== next.lastTransitionTime;
      return moved && !turned ? [`${next.type} moved its time without a turn`] : [];
    });
    const lost = old.filter(({ type }) => !now.some((next) => next.type === type));
    return [
      ...(status.phase ? [] : ['no phase']),
      ...now
        .filter(({ observedGeneration = 0 }) => observedGeneration > metadata.generation)
        .map(({ type }) => `${type} observed a generation to come`),
      ...turns,
      ...lost.map(({ type }) => `${type} was lost`),
    ].map((fault) => `state ${index}: ${fault}`);
  });
}
