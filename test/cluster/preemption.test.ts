/** Making room for a gang: the real kube-scheduler without gangs of its own, and Muster under the rights that it ships with. */
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { metricsAt } from '../support/observed.ts';
import { MUSTER_USER } from '../../src/api/names.ts';
import { inLength } from '../support/length.ts';
import { manifestsIn } from '../support/manifests.ts';
import { startServing } from '../support/serving.ts';
import type { KubeList } from './control-plane/client.ts';
import { readKubeconfig } from './control-plane/kubeconfig.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll } from './support/apply.ts';
import { requestsOf } from './support/audited.ts';
import { untilEachIsUsed } from './support/granted.ts';
import { startFaultProxy } from './support/fault-proxy.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { group, type Pod } from './support/gang-objects.ts';
import { SHORT_LEASE, startLoopingReplica } from './support/looping-muster.ts';
import { policiesInForce } from './support/policies-in-force.ts';
import { NAMESPACE } from './support/registered-muster.ts';
import { WITHOUT_NATIVE_GANGS } from './support/small-gangs.ts';

jest.setTimeout(120_000);

/** On a PriorityClass: its Pods evict nobody one by one, its gangs do. */
const TOGETHER = { 'muster.dev/preemption-policy': 'PreemptLowerPriority' };
const PLAN = 'muster.dev/preemption-plan';
const OFF = { scheduler: { profiles: [{ name: 'default-scheduler' }] } };
const MAIN = { name: 'main', image: 'example/a' };
/** As many plans as the tests make: the limit has a test of its own. */
const SETTINGS = {
  ...OFF,
  preemption: { mode: 'Act', after: '500ms', limits: { plansPerMinute: 60 } },
};

clusterSuite('making room for a gang', () => {
  let cluster: GangCluster;
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';

  /** A Pod that runs, of a priority, on a node. */
  const run = async (
    name: string,
    node: string,
    priorityClassName: string,
    given: { cpu?: string; labels?: Record<string, string>; namespace?: string } = {},
  ): Promise<Pod> => {
    const { cpu = '4', labels = {}, namespace = NAMESPACE } = given;
    const pod = await cluster.client.ok<Pod>('POST', cluster.pods(namespace), {
      metadata: { name, labels },
      spec: {
        nodeName: node,
        priorityClassName,
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'c', image: 'example/a', resources: { requests: { cpu } } }],
      },
    });
    // Of a Pod that is still pending no budget is asked.
    await cluster.client.ok('PATCH', `${cluster.pods(namespace)}/${name}/status`, {
      status: { phase: 'Running' },
    });
    return pod;
  };
  const gangOf = async (
    name: string,
    count: number,
    cpu = '4',
    given: { min?: number; ofPods?: string; annotations?: Record<string, string> } = {},
  ): Promise<void> => {
    const { min = count, ofPods = 'high', annotations = {} } = given;
    const spec = { priorityClassName: 'high' };
    await cluster.createGang(name, [group('worker', min)], { annotations, spec });
    for (let index = 0; index < count; index += 1) {
      await cluster.createPod(name, `worker-${index}`, 'worker', {
        spec: {
          ...(ofPods !== '' && { priorityClassName: ofPods }),
          containers: [{ name: 'main', image: 'example/a', resources: { requests: { cpu } } }],
        },
      });
    }
  };
  const names = async (namespace = NAMESPACE): Promise<string[]> =>
    (await cluster.client.ok<KubeList<Pod>>('GET', cluster.pods(namespace))).items
      .map(({ metadata }) => metadata.name)
      .sort();
  const metric = async (name: string): Promise<number> => {
    const text = await metricsAt(cluster.muster.metricsPort);
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')
        .at(-1) ?? NaN,
    );
  };
  const budgets = `/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets`;
  /** A budget that lets none of these Pods go. */
  const protect = (minAvailable: number): Promise<unknown> =>
    cluster.client.ok('POST', budgets, {
      metadata: { name: 'all' },
      spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
    });
  const reckoned = (pods: number): Promise<unknown> =>
    until('the budget is reckoned', async () => {
      const { status } = await cluster.client.ok<{ metadata: never; status?: { expectedPods?: number } }>(
        'GET',
        `${budgets}/all`,
      );
      return status?.expectedPods === pods;
    });
  const planOf = async (gang: string): Promise<string | undefined> =>
    ((await cluster.gang(gang)).metadata as { annotations?: Record<string, string> }).annotations?.[PLAN];

  beforeAll(async () => {
    cluster = await GangCluster.start({
      webhooks: false,
      nodes: false,
      plane: WITHOUT_NATIVE_GANGS,
      settings: OFF,
    });
    // What Muster does must be within its bounds. Pods of gangs are placed by the test here, which the other policies forbid.
    await policiesInForce(cluster.client, 'muster-account-');
    for (const [name, value, more, annotations] of [
      ['low', 100, {}, {}],
      ['middle', 500, {}, { 'muster.dev/preemption-priority-for': 'low' }],
      ['high', 1000, { preemptionPolicy: 'Never' }, TOGETHER],
    ] as const) {
      await cluster.client.ok('POST', classes, { metadata: { name, annotations }, value, ...more });
    }
    await cluster.createNamespace('other');
    for (const name of ['node-1', 'node-2']) await cluster.plane.addNode(name, { cpu: 8 });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  beforeEach(async () => {
    for (const namespace of [NAMESPACE, 'other']) {
      const now = { query: { gracePeriodSeconds: 0 } };
      await cluster.client.ok('DELETE', cluster.gangs(namespace));
      await cluster.client.ok('DELETE', cluster.pods(namespace), undefined, now);
      await until('it is empty', async () => (await names(namespace)).length === 0);
    }
  });

  test('Off, as it is by default: nothing is read and nobody goes', async () => {
    for (const [index, node] of ['node-1', 'node-1', 'node-2', 'node-2'].entries())
      await run(`low-${index}`, node, 'low');
    await gangOf('off', 2);
    await cluster.untilCondition('off', 'Scheduled', { status: 'False' });
    expect(await metric('muster_preemption_victims_total')).toBeNaN();
    expect(await planOf('off')).toBeUndefined();
    expect((await names()).filter((name) => name.startsWith('low-'))).toHaveLength(4);
    expect((await cluster.requestsAbout('low')).map(({ verb }) => verb)).toEqual([]);
  });

  test('without the rights of its component it says what it lacks, and makes room once it has them', async () => {
    for (const [index, node] of ['node-1', 'node-1', 'node-2', 'node-2'].entries())
      await run(`first-${index}`, node, 'low');
    await gangOf('early', 2);
    await cluster.restart(SETTINGS);
    await until('it says so', () =>
      cluster.muster
        .log()
        .some(
          ({ msg, err }) =>
            msg === 'no room could be made, trying again' &&
            /list nodes: 403 Forbidden.*manifests\/ has the roles/.test(JSON.stringify(err)),
        ),
    );
    expect((await names()).filter((name) => name.startsWith('first-'))).toHaveLength(4);
    await applyAll(cluster.client, await manifestsIn('components/preemption'));
    // What bounds its account must not be in its way.
    const bounds = (await manifestsIn('policies')).filter(({ metadata }) =>
      metadata.name.startsWith('muster-account'),
    );
    await applyAll(cluster.client, bounds);
    await cluster.untilBound('early', 2);
  });

  test('exactly those go that the plan needs, and the gang starts whole', async () => {
    await run('middle-0', 'node-1', 'middle');
    await run('low-1', 'node-1', 'low');
    await run('low-2', 'node-2', 'low');
    await run('middle-3', 'node-2', 'middle');
    const before = await metric('muster_preemption_victims_total');
    await gangOf('urgent', 2);
    await cluster.untilBound('urgent', 2);
    expect(await names()).toEqual(['middle-0', 'middle-3', 'urgent-worker-0', 'urgent-worker-1']);
    await until('the plan is forgotten', async () => (await planOf('urgent')) === undefined);
    expect(await metric('muster_preemption_victims_total')).toBe(before + 2);
    expect((await cluster.untilEvent('Pod', 'low-1', 'Preempted')).note).toMatch(
      /^Preempted by PodGang urgent, whose priority 1000 is higher$/,
    );
    expect((await cluster.untilEvent('PodGang', 'urgent', 'Preempting')).note).toBe(
      '2 Pods of 2 units with priorities up to 100 make room',
    );
  });

  test('a gang that needs one Pod of four has one victim, and the others have none', async () => {
    for (const [index, node] of ['node-1', 'node-1', 'node-2', 'node-2'].entries())
      await run(`low-${index}`, node, 'low');
    const before = await metric('muster_preemption_victims_total');
    await gangOf('surplus', 4, '4', { min: 1 });
    await until('one is bound', async () =>
      (await cluster.podsOf('surplus')).some(({ spec }) => spec.nodeName !== undefined),
    );
    await until('the plan is forgotten', async () => (await planOf('surplus')) === undefined);
    expect((await names()).filter((name) => name.startsWith('low-'))).toHaveLength(3);
    expect(await metric('muster_preemption_victims_total')).toBe(before + 1);
  });

  test('a class that a quota refuses to its Pods gives a gang no victims', async () => {
    const quotas = `/api/v1/namespaces/${NAMESPACE}/resourcequotas`;
    const ofHigh = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] };
    await cluster.client.ok('POST', quotas, {
      metadata: { name: 'no-high' },
      spec: { hard: { pods: '0' }, scopeSelector: { matchExpressions: [ofHigh] } },
    });
    const zero = { preemptionPolicy: 'Never', metadata: { name: 'zero', annotations: TOGETHER }, value: 0 };
    await cluster.client.ok('POST', classes, zero);
    for (const node of ['node-1', 'node-2'])
      await run(`theirs-${node}`, node, 'low', { cpu: '8', namespace: 'other' });
    // Asked by dry runs: a gang that got its Pod meanwhile would be given victims.
    const asked = { metadata: { name: 'asked' }, spec: { priorityClassName: 'high', containers: [MAIN] } };
    await until('the quota refuses Pods of the class', async () => {
      const query = { dryRun: 'All' };
      const { status, body } = await cluster.client.request('POST', cluster.pods(), asked, { query });
      return status === 403 && JSON.stringify(body).includes('exceeded quota');
    });
    await expect(gangOf('refused', 1)).rejects.toThrow('exceeded quota');
    await gangOf('greedy', 1, '4', { ofPods: 'zero', annotations: TOGETHER });
    const told = await cluster.untilEvent('PodGang', 'greedy', 'PreemptionWaits');
    expect(told.note).toBe('nothing that runs has a priority below 0');
    expect(await names('other')).toEqual(['theirs-node-1', 'theirs-node-2']);
    await cluster.client.ok('DELETE', `${quotas}/no-high`);
  });

  test('a gang that is deleted while its victims go: the others are let alone', async () => {
    const count = 16;
    for (let index = 0; index < count; index += 1)
      await run(`low-${index}`, index % 2 === 0 ? 'node-1' : 'node-2', 'low', { cpu: '1' });
    const left = async (): Promise<number> =>
      (await names()).filter((name) => name.startsWith('low-')).length;
    // The second is told to go no sooner than the gang is gone, however long the machine takes from one to the other.
    const gone = Promise.withResolvers<void>();
    let told = 0;
    const access = await readKubeconfig(await cluster.plane.kubeconfigFor(MUSTER_USER));
    const proxy = await startFaultProxy(access, cluster.plane.dir, 'fickle');
    proxy.setFates(({ path }) => {
      if (!path.includes('/eviction?') || path.includes('dryRun=')) return {};
      told += 1;
      return told === 1 ? {} : { after: gone.promise };
    });
    await cluster.muster.kill();
    const alone = { ...SETTINGS, leaderElection: { enabled: false } };
    const muster = await startLoopingReplica(cluster.plane, cluster.certificates, alone, proxy.kubeconfig);
    const looks = async (): Promise<number> =>
      [
        ...(await metricsAt(muster.metricsPort)).matchAll(/^muster_preemption_attempts_total\{.*\} (\d+)$/gm),
      ].reduce((sum, [, times]) => sum + Number(times), 0);
    try {
      await gangOf('fickle', 2, '8');
      await until('the second is to go', () => told > 1);
      const before = await looks();
      await cluster.client.ok('DELETE', `${cluster.gangs()}/fickle`);
      const then = await left();
      gone.resolve();
      await until('the look is over', async () => (await looks()) > before);
      // Whoever was being told at that moment went.
      expect([then, await left()]).toEqual([count - 1, count - 2]);
    } finally {
      gone.resolve();
      await muster.close();
      await proxy.close();
    }
    await cluster.restart(SETTINGS);
  });

  test('plans of nobody’s making cause no look at the cluster', async () => {
    const lists = async (): Promise<number> =>
      (await requestsOf(cluster.plane, MUSTER_USER)).filter(
        ({ verb, resource }) => verb === 'list' && resource === 'persistentvolumes',
      ).length;
    const before = await lists();
    for (let index = 0; index < 20; index += 1)
      await cluster.createGang(`bogus-${index}`, [group('worker', 1)], {
        annotations: { [PLAN]: JSON.stringify({ gang: 'x', at: '2026-01-01T00:00:00Z', victims: [['y']] }) },
      });
    // One that has a reason is looked at after all of them.
    for (const node of ['node-1', 'node-2']) await run(`low-${node}`, node, 'low', { cpu: '8' });
    await gangOf('honest', 1);
    await cluster.untilBound('honest', 1);
    await until('its plan is forgotten', async () => (await planOf('honest')) === undefined);
    expect((await lists()) - before).toBeLessThanOrEqual(4);
  });

  test('a PodDisruptionBudget is kept: nobody goes, and the gang is told why; once it allows it, they do', async () => {
    await protect(4);
    for (const [index, node] of ['node-1', 'node-1', 'node-2', 'node-2'].entries())
      await run(`low-${index}`, node, 'low', { labels: { app: 'web' } });
    await reckoned(4);
    await gangOf('polite', 2);
    const told = await cluster.untilEvent('PodGang', 'polite', 'PreemptionWaits');
    expect(told).toMatchObject({ type: 'Warning' });
    expect(told.note).toBe(`it would fit only if PodDisruptionBudget ${NAMESPACE}/all were overdrawn`);
    expect(await planOf('polite')).toBeUndefined();
    expect((await names()).filter((name) => name.startsWith('low-'))).toHaveLength(4);
    await cluster.client.ok('DELETE', `${budgets}/all`);
    await cluster.untilBound('polite', 2);
  });

  test('a gang that is disrupted as one goes whole, and is shown as going; equal priority never goes', async () => {
    await cluster.createGang('old', [group('worker', 2)], {
      annotations: { 'muster.dev/disruption-mode': 'PodGroup' },
      spec: { priorityClassName: 'low' },
    });
    const labels = { 'grove.io/podgang': 'old', 'grove.io/podclique': 'worker' };
    await run('old-0', 'node-1', 'low', { labels });
    await run('old-1', 'node-2', 'low', { labels });
    for (const node of ['node-1', 'node-2']) await run(`same-${node}`, node, 'high');
    // It stays on its way out until somebody lets it go.
    const held = `${cluster.pods()}/old-0`;
    await cluster.client.ok('PATCH', held, { metadata: { finalizers: ['example.com/hold'] } });
    await gangOf('whole', 1);
    await until('both are told to go', async () => {
      const left = await names();
      const { metadata } = await cluster.client.ok('GET', held);
      return metadata.deletionTimestamp !== undefined && !left.includes('old-1');
    });
    expect((await cluster.status('whole')).why).toMatch(
      /^room is being made: 2 Pods of lower priority have to go, since \d{4}-.*Z; /,
    );
    const { status } = await cluster.client.ok<{
      metadata: never;
      status: { conditions: { type: string; reason: string }[] };
    }>('GET', held);
    // The eviction API writes its own reason over the one that was given.
    expect(status.conditions.find(({ type }) => type === 'DisruptionTarget')?.reason).toMatch(
      /^(PreemptionByScheduler|EvictionByEvictionAPI)$/,
    );
    await cluster.client.ok('PATCH', held, { metadata: { finalizers: null } });
    await cluster.untilBound('whole', 1);
    expect(await names()).toEqual(['same-node-1', 'same-node-2', 'whole-worker-0']);
    await gangOf('equal', 2);
    const told = await cluster.untilEvent('PodGang', 'equal', 'PreemptionWaits');
    expect(told.note).toBe('nothing that runs has a priority below 1000');
  });

  test('user story: what it costs to preempt a job changes while it runs, and the one that costs less goes', async () => {
    const cost = 'muster.dev/preemption-priority-class';
    for (const job of ['first', 'second']) {
      await cluster.createGang(job, [group('worker', 2)], {
        annotations: { 'muster.dev/disruption-mode': 'PodGroup', [cost]: 'middle' },
        spec: { priorityClassName: 'low' },
      });
      const labels = { 'grove.io/podgang': job, 'grove.io/podclique': 'worker' };
      for (const [index, node] of ['node-1', 'node-2'].entries())
        await run(`${job}-${index}`, node, 'low', { labels });
    }
    // As dear as each other the second would go, which came later. The first has just written a checkpoint.
    await cluster.client.ok('PATCH', `${cluster.gangs()}/first`, {
      metadata: { annotations: { [cost]: 'low' } },
    });
    await gangOf('dear', 1);
    await cluster.untilBound('dear', 1);
    await until('all of the first has gone', async () =>
      (await names()).every((name) => !name.startsWith('first-')),
    );
    expect(await names()).toEqual(['dear-worker-0', 'second-0', 'second-1']);
  });

  test('past budgets, where that is asked for: only of a gang that nothing else helps, and then Pods are deleted', async () => {
    await applyAll(cluster.client, await manifestsIn('components/preemption-past-budgets'));
    await cluster.restart({
      ...OFF,
      preemption: { ...SETTINGS.preemption, overridePodDisruptionBudgets: true },
    });
    await protect(2);
    for (const name of ['low-0', 'low-1']) await run(name, 'node-1', 'low', { labels: { app: 'web' } });
    for (const name of ['middle-0', 'middle-1']) await run(name, 'node-2', 'middle');
    await reckoned(2);
    await gangOf('spares', 1);
    await cluster.untilBound('spares', 1);
    expect((await names()).filter((name) => name.startsWith('low-'))).toEqual(['low-0', 'low-1']);
    await gangOf('breaks', 1, '8');
    await cluster.untilBound('breaks', 1);
    expect((await names()).filter((name) => name.startsWith('low-'))).toEqual([]);
    await cluster.client.ok('DELETE', `${budgets}/all`);
  });

  test('with every right of its components, and no other', async () => {
    await untilEachIsUsed(cluster.plane, 'components/preemption');
    await untilEachIsUsed(cluster.plane, 'components/preemption-past-budgets');
    // Before it had them it tried the first list, and nothing else.
    const refused = (await requestsOf(cluster.plane, MUSTER_USER)).filter(({ forbidden }) => forbidden);
    expect(new Set(refused.map(({ verb, resource }) => `${verb} ${resource}`))).toEqual(
      new Set(['list nodes']),
    );
  });

  test('its limits: exempt namespaces, victims for one gang, plans within a minute', async () => {
    await cluster.restart({
      ...OFF,
      preemption: {
        ...SETTINGS.preemption,
        exemptNamespaces: ['other'],
        limits: { victimsPerPlan: 1, plansPerMinute: 1 },
      },
    });
    const waits = async (gang: string): Promise<string> =>
      (await cluster.untilEvent('PodGang', gang, 'PreemptionWaits')).note;
    for (const node of ['node-1', 'node-2'])
      await run(`exempt-${node}`, node, 'low', { cpu: '8', namespace: 'other' });
    await gangOf('stopped', 1);
    expect(await waits('stopped')).toBe('nothing that runs below priority 1000 may be touched');
    expect(await names('other')).toHaveLength(2);
    await cluster.client.ok('DELETE', cluster.gangs());
    await cluster.client.ok('DELETE', cluster.pods(), undefined, { query: { gracePeriodSeconds: 0 } });
    await cluster.client.ok('DELETE', cluster.pods('other'), undefined, { query: { gracePeriodSeconds: 0 } });
    await until('it is empty', async () => [...(await names()), ...(await names('other'))].length === 0);

    for (const [index, node] of ['node-1', 'node-1', 'node-2', 'node-2'].entries())
      await run(`low-${index}`, node, 'low');
    await gangOf('large', 2);
    expect(await waits('large')).toBe(
      '2 Pods would have to go, more than preemption.limits.victimsPerPlan (1)',
    );
    await gangOf('first', 1);
    await cluster.untilBound('first', 1);
    await gangOf('second', 1);
    expect(await waits('second')).toBe(
      'as many plans were begun within a minute as preemption.limits.plansPerMinute',
    );
    expect((await names()).filter((name) => name.startsWith('low-'))).toHaveLength(3);
  });

  test('two that lead at once: one set of victims, and no second while those are on their way out', async () => {
    for (const [at, node] of ['node-1', 'node-1', 'node-2', 'node-2'].entries()) {
      await run(`low-${at}`, node, 'low');
      // Who is told to go stays until somebody lets it go: time for the other to think of a set of its own.
      await cluster.client.ok('PATCH', `${cluster.pods()}/low-${at}`, {
        metadata: { finalizers: ['example.com/hold'] },
      });
    }
    await cluster.restart(OFF);
    await gangOf('contested', 2);
    await cluster.untilCondition('contested', 'Scheduled', { status: 'False' });
    const both = { ...SETTINGS, leaderElection: { enabled: false } };
    const [other] = await Promise.all([
      startLoopingReplica(cluster.plane, cluster.certificates, both),
      cluster.restart(both),
    ]);
    try {
      const leaving = async (): Promise<string[]> =>
        (await cluster.client.ok<KubeList<Pod>>('GET', cluster.pods())).items
          .filter(
            ({ metadata }) => (metadata as { deletionTimestamp?: string }).deletionTimestamp !== undefined,
          )
          .map(({ metadata }) => metadata.name);
      await until('two are told to go', async () => (await leaving()).length >= 2);
      // Both have thought about it, or this would prove nothing.
      for (const { metricsPort } of [cluster.muster, other])
        await until('it has looked at the gang', async () => {
          const text = await metricsAt(metricsPort);
          const looks = [...text.matchAll(/^muster_preemption_attempts_total\{.*\} (\d+)$/gm)];
          return looks.reduce((sum, [, count]) => sum + Number(count), 0) > 0;
        });
      const told = await leaving();
      expect(told).toHaveLength(2);
      for (let at = 0; at < 4; at += 1)
        await cluster.client.ok('PATCH', `${cluster.pods()}/low-${at}`, { metadata: { finalizers: null } });
      await cluster.untilBound('contested', 2);
      expect((await names()).filter((name) => told.includes(name))).toEqual([]);
      expect((await names()).filter((name) => name.startsWith('low-'))).toHaveLength(2);
    } finally {
      await other.close();
    }
  });

  /** The write at which it is killed, and whether that is done still: the plan, two nominations, twice a mark and an eviction, the plan again. */
  const KILLS = inLength<readonly (readonly [number, boolean])[]>({
    short: [
      [0, true],
      [4, true],
    ],
    long: [0, 1, 2, 3, 4, 5, 6, 7].flatMap((index) => [[index, false] as const, [index, true] as const]),
  });

  test.each(KILLS)(
    'killed at write %i (done: %s): the same end, and no second set of victims',
    async (index, done) => {
      const gang = `killed-${index}-${String(done)}`;
      for (const [at, node] of ['node-1', 'node-1', 'node-2', 'node-2'].entries())
        await run(`low-${at}`, node, 'low');
      await cluster.restart(OFF);
      await gangOf(gang, 2);
      await cluster.untilCondition(gang, 'Scheduled', { status: 'False' });
      await cluster.muster.kill();
      const access = await readKubeconfig(await cluster.plane.kubeconfigFor(MUSTER_USER));
      const proxy = await startFaultProxy(access, cluster.plane.dir, gang);
      let writes = 0;
      let killing = false;
      proxy.setFates(({ method, path }) => {
        const counts =
          method !== 'GET' &&
          !path.includes('dryRun=') &&
          (path.includes(`/podgangs/${gang}?`) || /\/pods\/[^/]+\/(status|eviction)\?/.test(path));
        if (!counts || writes < index) {
          writes += counts ? 1 : 0;
          return {};
        }
        // What it would still write before it is dead is not done.
        if (killing) return { fault: 'reset' };
        killing = true;
        return { fault: done ? 'resetDone' : 'reset' };
      });
      const mortal = await startServing({
        kubeconfig: proxy.kubeconfig,
        settings: { leaderElection: SHORT_LEASE, ...SETTINGS },
      });
      await until('the write is done, or not', () => proxy.happened.reset + proxy.happened.resetDone > 0);
      await mortal.kill();
      await mortal.close();
      await proxy.close();
      await cluster.restart(SETTINGS);
      await cluster.untilBound(gang, 2);
      await until('the plan is forgotten', async () => (await planOf(gang)) === undefined);
      expect((await names()).filter((name) => name.startsWith('low-'))).toHaveLength(2);
    },
  );
});
