import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { inLength } from '../support/length.ts';
import { metricsAt } from '../support/observed.ts';
import type { Serving } from '../support/serving.ts';
import type { Client, KubeList } from './control-plane/client.ts';
import type { ControlPlane } from './control-plane/control-plane.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { GangHistory } from './support/gang-history.ts';
import { cli, verb } from './support/muster-cli.ts';
import { GANGS, GATE, NAMESPACE, PODS } from './support/registered-muster.ts';
import { STEADY_LEASE } from './support/looping-muster.ts';
import { DEFAULT_LEASE, untilReady, withMuster, type OnMuster } from './support/with-muster.ts';

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly nodeName?: string; readonly schedulingGates?: readonly { name: string }[] };
}
interface Gang {
  readonly metadata: { readonly name: string };
  readonly spec: { podgroups: { name: string; podReferences: { namespace: string; name: string }[] }[] };
  readonly status?: {
    phase: string;
    conditions: { type: string; status: string; reason: string; message: string }[];
  };
}

const KUBE = { 'grove.io/scheduler-name': 'default-scheduler' };

clusterSuite('the loop, with the rights of its account, on a real control plane with its scheduler', () => {
  let plane: ControlPlane;
  let client: Client;
  let on: OnMuster;
  let history: GangHistory;
  let counter = 0;
  let gang = '';

  const createGang = (groups: Record<string, number>, name = gang): Promise<unknown> =>
    client.ok('POST', GANGS, {
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
      metadata: { name, labels: KUBE },
      spec: {
        podgroups: Object.entries(groups).map(([group, minReplicas]) => ({ name: group, minReplicas })),
      },
    });
  const createPod = (
    name: string,
    group: string,
    given: { gang?: string; labels?: Record<string, string>; spec?: object } = {},
  ): Promise<unknown> =>
    client.ok('POST', PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${given.gang ?? gang}-${name}`,
        labels: {
          'grove.io/podgang': given.gang ?? gang,
          'grove.io/podclique': group,
          ...KUBE,
          ...given.labels,
        },
      },
      spec: { containers: [{ name: 'main', image: 'example/train:1' }], ...given.spec },
    });
  const remove = (name: string): Promise<unknown> =>
    client.ok('DELETE', `${PODS}/${gang}-${name}`, undefined, { query: { gracePeriodSeconds: 0 } });
  const podsOf = async (name = gang): Promise<readonly Pod[]> => {
    const query = { labelSelector: `grove.io/podgang=${name}` };
    return (await client.ok<KubeList<Pod>>('GET', PODS, undefined, { query })).items;
  };
  const read = (name = gang): Promise<Gang> => client.ok<Gang>('GET', `${GANGS}/${name}`);
  const condition = async (type: string, name = gang) =>
    (await read(name)).status?.conditions.find((one) => one.type === type);
  const gates = (pod: Pod): string[] => (pod.spec.schedulingGates ?? []).map((gate) => gate.name);
  const bound = (name = gang, count = 1): Promise<boolean> =>
    until(`${count} Pods of ${name} are bound`, async () => {
      const pods = await podsOf(name);
      return pods.length === count && pods.every((pod) => pod.spec.nodeName !== undefined);
    });
  const references = async (name = gang): Promise<string[][]> =>
    (await read(name)).spec.podgroups.map((group) => group.podReferences.map((one) => one.name));

  beforeAll(async () => {
    on = await withMuster({ plane: { scheduler: true, controllerManager: true }, cpu: 64 });
    ({ plane } = on);
    ({ client } = plane);
    history = new GangHistory(plane, NAMESPACE);
    await history.start();
    on.before(() => history.stop());
  }, 120_000);
  afterAll(() => on?.close(), 60_000);
  beforeEach(() => {
    gang = `gang-${++counter}`;
  });

  test.each(['gang first', 'Pods first', 'gang in between'])(
    'a gang forms and is bound: %s',
    async (order) => {
      if (order === 'gang first') await createGang({ leader: 1, worker: 2 });
      await createPod('leader-0', 'leader');
      await createPod('worker-1', 'worker');
      if (order === 'gang in between') await createGang({ leader: 1, worker: 2 });
      await createPod('worker-0', 'worker');
      if (order === 'Pods first') await createGang({ leader: 1, worker: 2 });
      await bound(gang, 3);
      expect(await references()).toEqual([[`${gang}-leader-0`], [`${gang}-worker-0`, `${gang}-worker-1`]]);
      expect(await condition('Initialized')).toMatchObject({ status: 'True', reason: 'PodGangPodsCreated' });
      await until('Scheduled', async () => (await condition('Scheduled'))?.status === 'True');
      expect((await read()).status?.phase).toBe('Starting');
      expect(await history.ungatedEarly()).toEqual([]);
    },
  );

  test('an incomplete gang waits, and says what is missing', async () => {
    await createGang({ leader: 1, worker: 3 });
    await createPod('worker-0', 'worker');
    const says = await until('the status counts', async () => {
      const found = await condition('Initialized');
      return found?.message.includes('worker 1/3') === true && found;
    });
    expect(says).toMatchObject({ status: 'False', reason: 'PodGangPodsCreationPending' });
    expect(says.message).toContain('leader 0/1');
    expect((await podsOf()).flatMap(gates)).toEqual([GATE]);
    await createPod('leader-0', 'leader');
    await createPod('worker-1', 'worker');
    await createPod('worker-2', 'worker');
    await bound(gang, 4);
    // Events give way to the work that they tell of.
    await until('all of it is told', async () => {
      const events = await client.ok<KubeList<{ reason: string; regarding: { name: string } }>>(
        'GET',
        `/apis/events.k8s.io/v1/namespaces/${NAMESPACE}/events`,
      );
      const said = events.items.filter((one) => one.regarding.name === gang).map((one) => one.reason);
      return ['PodGangPodsCreated', 'ReferencesUpdated', 'GatesRemoved'].every((one) => said.includes(one));
    });
  });

  test('scale-out and a replaced Pod follow; Initialized stays', async () => {
    await createGang({ worker: 2 });
    await createPod('worker-0', 'worker');
    await createPod('worker-1', 'worker');
    await bound(gang, 2);
    await createPod('worker-2', 'worker');
    await bound(gang, 3);
    await remove('worker-0');
    await until('the gone Pod is in no list', async () => (await references())[0]?.length === 2);
    await createPod('worker-3', 'worker');
    await bound(gang, 3);
    expect(await references()).toEqual([[`${gang}-worker-1`, `${gang}-worker-2`, `${gang}-worker-3`]]);
    expect(await condition('Initialized')).toMatchObject({ status: 'True' });
    expect(await history.initializedTakenBack()).toEqual([]);
    expect(await history.ungatedEarly()).toEqual([]);
  });

  test('the gate of somebody else stays', async () => {
    await createGang({ worker: 2 });
    const spec = {
      schedulingGates: [{ name: 'example.com/quota' }, { name: GATE }, { name: 'example.com/other' }],
    };
    await createPod('worker-0', 'worker', { spec });
    await createPod('worker-1', 'worker');
    await until('ours is off everywhere', async () => !(await podsOf()).flatMap(gates).includes(GATE));
    expect((await podsOf()).map(gates)).toEqual([['example.com/quota', 'example.com/other'], []]);
  });

  test('a scaled gang waits for its base gang', async () => {
    const base = `${gang}-base`;
    await createGang({ worker: 1 });
    await createPod('worker-0', 'worker', { labels: { 'grove.io/base-podgang': base } });
    await until('Initialized', async () => (await condition('Initialized'))?.status === 'True');
    const waits = await until('it says what for', async () => {
      const found = await condition('Scheduled');
      return found?.message.includes(base) === true && found;
    });
    expect(waits.reason).toBe('WaitingForBaseGang');
    expect((await podsOf()).flatMap(gates)).toEqual([GATE]);
    await createGang({ worker: 1 }, base);
    await createPod('worker-0', 'worker', { gang: base });
    await bound(base);
    await bound();
    expect(await history.order(`${gang}-worker-0`, 'ungated')).toBeGreaterThan(
      await history.order(`${base}-worker-0`, 'bound'),
    );
  });

  test('its metrics tell what it did', async () => {
    const value = async (sample: string): Promise<number> => {
      const text = await metricsAt(on.muster.metricsPort);
      const line = text.split('\n').find((one) => one.startsWith(`${sample} `));
      return Number(line?.slice(sample.length + 1));
    };
    const before = await value('muster_loop_gates_removed_total');
    await createGang({ worker: 2 });
    await createPod('worker-0', 'worker');
    await createPod('worker-1', 'worker');
    await bound(gang, 2);
    await until(
      'both gates are counted',
      async () => (await value('muster_loop_gates_removed_total')) === before + 2,
    );
    await until(
      'its time is counted',
      async () => (await value('muster_loop_gang_release_seconds_count')) > 0,
    );
    expect(await value('muster_loop_leading')).toBe(1);
    expect(await value('muster_loop_initialized_total')).toBeGreaterThan(0);
    expect(await value('muster_loop_reconciles_total{result="ok"}')).toBeGreaterThan(0);
    for (const resource of ['pods', 'podgangs', 'namespaces']) {
      expect(await value(`muster_loop_cached_objects{resource="${resource}"}`)).toBeGreaterThan(0);
      const lists = await value(`muster_loop_lists_total{resource="${resource}"}`);
      expect(lists).toBeGreaterThan(0);
      // One, and another where the API server ended a young definition's watch.
      expect(lists).toBeLessThan(3);
    }
    expect(await value('muster_kube_requests_total{verb="patch",code="200"}')).toBeGreaterThan(before);
    expect(await value('muster_kube_throttled_seconds_total')).toBe(0);
  });

  test('muster status tells what the loop knows, also without it', async () => {
    await createGang({ leader: 1, worker: 2 });
    await createPod('worker-0', 'worker');
    const table = await verb(['status', '-n', NAMESPACE, '--kubeconfig', plane.kubeconfig]);
    expect(table.code).toBe(0);
    expect(table.out.split('\n')[0]).toMatch(/^GANG +BACKEND +PHASE +GROUPS +PODS +GATES +AGE +WHY$/);
    const line = table.out.split('\n').find((one) => one.startsWith(`${gang} `));
    expect(line).toMatch(/default-scheduler +Pending +0\/2 +0\/3 +1 +\d+s +waiting for Pods: leader 0\/1, w/);
    // Nobody looks at a pipe, so nothing is cut.
    expect(line).toContain('waiting for Pods: leader 0/1, worker 1/2');
    const tree = await verb(['status', gang, '-n', NAMESPACE, '--kubeconfig', plane.kubeconfig]);
    expect(tree.out).toContain(`${gang}-worker-0  gated  waiting for Pods: leader 0/1, worker 1/2`);
    const json = await verb(['status', '-A', '-o', 'json', '--kubeconfig', plane.kubeconfig]);
    const { gangs } = JSON.parse(json.out) as { gangs: { name: string; summary: { gatesLeft: number } }[] };
    expect(gangs.find(({ name }) => name === gang)?.summary.gatesLeft).toBe(1);
    const missing = await verb(['status', 'nobody', '-n', NAMESPACE, '--kubeconfig', plane.kubeconfig]);
    expect(missing.code).toBe(1);
  });

  test('an API server that does not answer at start is told with exit code 3', async () => {
    const kubeconfig = join(on.certificates.path, 'nowhere.yaml');
    await writeFile(
      kubeconfig,
      (await readFile(plane.kubeconfig, 'utf8')).replace(/https:\/\/127.0.0.1:\d+/, 'https://127.0.0.1:1'),
    );
    const ended = await cli([
      'serve',
      '--cert-dir',
      on.certificates.path,
      '--port',
      '0',
      '--kubeconfig',
      kubeconfig,
    ]);
    expect(ended.code).toBe(3);
    expect(ended.out).toContain('no answer from https://127.0.0.1:1');
  });

  test('killed in the middle and started again: the same end', async () => {
    await createGang({ leader: 1, worker: 40 });
    await createPod('leader-0', 'leader');
    await Promise.all(Array.from({ length: 40 }, (_, index) => createPod(`worker-${index}`, 'worker')));
    await until(
      'the first gates are off',
      async () => (await podsOf()).some((pod) => gates(pod).length === 0),
      {
        everyMs: 5,
      },
    );
    await on.muster.kill();
    await on.restart();
    await bound(gang, 41);
    expect((await references()).map((group) => group.length)).toEqual([1, 40]);
    expect(await history.ungatedEarly()).toEqual([]);
    expect(await history.initializedTakenBack()).toEqual([]);
  });

  test('another replica takes over: on SIGTERM while the first drains, on SIGKILL when the Lease ran out', async () => {
    // How soon, test/cluster/loop-fail-over.test.ts says, with the default times of the Lease.
    const usual = {
      ...inLength({ short: { leaderElection: STEADY_LEASE }, long: DEFAULT_LEASE }),
      server: { webhooks: { drain: { seconds: 12, maxSeconds: 30 } } },
    };
    const word = (replica: Serving): Readonly<Record<string, unknown>> | undefined =>
      replica
        .log()
        .filter((line) => 'leads' in line)
        .at(-1);
    const leads = (replica: Serving): boolean => word(replica)?.['leads'] === true;
    await until('the one before leads', () => leads(on.muster));
    const first = await on.start(usual);
    await on.muster.terminate();
    await until('the first leads', () => leads(first));
    const other = await on.start(usual);
    expect(leads(other)).toBe(false);
    let ended = false;
    const terminatedAt = performance.now();
    const end = first.terminate().finally(() => (ended = true));
    await until('the other leads', () => leads(other), { everyMs: 10 });
    const onTerm = performance.now() - terminatedAt;
    expect(ended).toBe(false);
    // Each has a log of its own, so what was said first may be read last: the times in them tell the order.
    await until('the first says that it leads no longer', () => word(first)?.['leads'] === false);
    expect(String(word(first)?.['time']) <= String(word(other)?.['time'])).toBe(true);
    expect(await end).toBe(0);

    const third = await on.start(usual);
    const killedAt = performance.now();
    await other.kill();
    await until('the third leads', () => leads(third), { everyMs: 10 });
    const onKill = performance.now() - killedAt;
    process.stderr.write(
      `fail-over: ${Math.round(onTerm)} ms from SIGTERM, ${Math.round(onKill)} ms from SIGKILL\n`,
    );
    const old = [on.muster, first, other];
    for (const replica of old) await replica.close();
    await on.put(third);
    await createGang({ worker: 1 });
    await createPod('worker-0', 'worker');
    await bound();
  }, 120_000);

  test('while the API server is away reviews are answered; afterwards the loop goes on', async () => {
    await createGang({ worker: 2 });
    await createPod('worker-0', 'worker');
    await plane.stopApiServer({ kill: true });
    await untilReady(on.muster);
    await plane.startApiServer();
    await createPod('worker-1', 'worker');
    await bound(gang, 2);
  });
});
