/** What a dry run is told beforehand: Muster under the rights that ship, the real API server, kubectl and kube-scheduler. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { stringify } from 'yaml';
import { MUSTER_USER } from '../../src/api/names.ts';
import { variantOfGroups } from '../../src/preemption/variants.ts';
import { GANGS as NATIVE_GANGS } from './control-plane/releases.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { verb } from './support/muster-cli.ts';
import { untilEachIsUsed } from './support/granted.ts';
import { requestsOf } from './support/audited.ts';
import { GANGS, gangPod, NAMESPACE, podGang, PODS } from './support/registered-muster.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';

jest.setTimeout(120_000);

/** Whether the scheduler keeps a gang where it would be with nobody there; others take whoever is least important. */
const keepsPlacement = variantOfGroups(NATIVE_GANGS) === 'kube-1.37';
const BATCH = '/api/v1/namespaces/batch/pods';

clusterSuite('the forecast of a dry run', () => {
  let on: OnMuster;

  const ok = (path: string, body: object): Promise<unknown> => on.plane.client.ok('POST', path, body);
  const untilBound = (name: string): Promise<unknown> =>
    until(`${name} is bound`, async () => {
      const { spec } = await on.plane.client.ok<{ spec: { nodeName?: string } }>('GET', `${PODS}/${name}`);
      return spec.nodeName !== undefined;
    });
  const cpus = (count: number, more: object = {}): Record<string, unknown> => ({
    containers: [
      { name: 'main', image: 'example.test/none', resources: { requests: { cpu: String(count) } } },
    ],
    ...more,
  });
  const running = (name: string, more: object = {}): object => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    // No kubelet ends them.
    spec: cpus(1, { priorityClassName: 'low', terminationGracePeriodSeconds: 0, ...more }),
  });
  /** A PodGang and its Pods, as one file. */
  const file = (name: string, cpu: number, className = 'high'): string => {
    const gang = {
      ...podGang(name),
      spec: { priorityClassName: className, podgroups: [{ name: 'worker', minReplicas: 2 }] },
    };
    const pods = ['a', 'b'].map((letter) =>
      gangPod(
        { name: `${name}-${letter}`, namespace: NAMESPACE },
        cpus(cpu, { priorityClassName: className }),
        { 'grove.io/podgang': name },
      ),
    );
    return [gang, ...pods].map((one) => stringify(one)).join('---\n');
  };
  const forecasts = ({ stderr }: { stderr: string }): string[] =>
    stderr.split('\n').flatMap((line) => /^Warning: (forecast: .*)$/.exec(line)?.[1] ?? []);
  const dryRun = async (text: string): Promise<string[]> => {
    const done = await on.plane.kubectl(['create', '--dry-run=server', '-f', '-'], { stdin: text });
    expect([done.code, done.stderr]).toEqual([0, expect.any(String)]);
    return forecasts(done);
  };

  beforeAll(async () => {
    on = await withMuster({
      // Topology constraints would switch workload-aware preemption off.
      plane: {
        scheduler: true,
        auditPolicy: 'Metadata',
        featureGates: { TopologyAwareWorkloadScheduling: false },
      },
      settings: {
        preemption: { preview: true },
        scheduler: { profiles: [{ name: 'default-scheduler' }] },
      },
      cpu: 4,
    });
    for (const [name, value] of Object.entries({ low: 10, high: 100 }))
      await ok('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value });
    await ok('/api/v1/namespaces', { metadata: { name: 'batch' } });
    for (const name of ['old-0', 'old-1', 'old-2']) await ok(BATCH, running(name));
    await until('they run', async () => {
      const { items } = await on.plane.client.ok<{ items: { spec: { nodeName?: string } }[] }>('GET', BATCH);
      return items.every(({ spec }) => spec.nodeName !== undefined);
    });
    await until('it says that forecasts can be given', () =>
      Promise.resolve(on.muster.log().some(({ msg }) => msg === 'forecasts of preemption can be given')),
    );
    // Its process has watches of its own, which tell later than a read shows.
    await until('those that run are known', async () =>
      (await dryRun(file('early', 2))).join().includes('3 Pods of 3 units (priority 10) would go'),
    );
  }, 180_000);
  afterAll(() => on?.close(), 60_000);

  const head = (name: string, priority = 100): string =>
    `forecast: gang ${NAMESPACE}/${name} (priority ${priority}, 2 Pods)`;

  test('one file of which nothing is stored: how many would have to make room, and no names where anybody may ask', async () => {
    expect(await dryRun(file('first', 2))).toEqual([
      `${head('first')} would fit if 3 Pods of 3 units made room; nothing else is touched`,
      'forecast: 3 Pods of 3 units (priority 10) would go',
    ]);
    // Half of it says nothing: the gang is not complete.
    const [gang = '', pod = ''] = file('half', 2).split('---\n');
    expect(await dryRun(`${gang}---\n${pod}`)).toEqual([]);
    // Once more with smaller Pods: what was tried out before does not count.
    expect(await dryRun(file('first', 1).replaceAll('cpu: "1"', 'cpu: 500m'))).toEqual([
      `${head('first')} fits as it is`,
    ]);
    const { items } = await on.plane.client.ok<{ items: unknown[] }>('GET', GANGS);
    expect(items).toEqual([]);
  });

  test('nothing helps: what is short', async () => {
    expect(await dryRun(file('large', 3))).toEqual([
      `${head('large')} does not fit, even with preemption: 0/1 nodes are available: 1 Insufficient cpu; short of 2 cpu`,
    ]);
    expect(await dryRun(file('modest', 2, 'low'))).toEqual([
      `${head('modest', 10)} does not fit, and nothing that runs has a priority below 10: 0/1 nodes are available: 1 Insufficient cpu; short of 3 cpu`,
    ]);
  });

  test('a Pod that completes a gang which is stored; and kube-scheduler agrees', async () => {
    const create = (text: string) => on.plane.kubectl(['create', '-f', '-'], { stdin: text });
    const [gang = '', first = '', second = ''] = file('third', 2).split('---\n');
    // One of those that run is of the same namespace.
    await ok(PODS, running('mine'));
    await untilBound('mine');
    expect(forecasts(await create(`${gang}---\n${first}`))).toEqual([]);
    const told = await until('the thread has seen the first Pod', async () => {
      const found = await dryRun(second);
      return found.length > 0 && found;
    });
    expect(told).toEqual([
      `${head('third')} would fit if 4 Pods of 4 units made room; nothing else is touched`,
      'forecast: 4 Pods of 4 units (priority 10) would go',
    ]);
    expect(forecasts(await create(second))).toEqual([]);
    await until('both run, and those four are gone', async () => {
      const pods = await on.plane.client.ok<{
        items: { metadata: { name: string; deletionTimestamp?: string }; spec: { nodeName?: string } }[];
      }>('GET', '/api/v1/pods');
      const left = pods.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const names = left.map(({ metadata }) => metadata.name).sort();
      return (
        JSON.stringify(names) === '["third-a","third-b"]' &&
        left.every(({ spec }) => spec.nodeName !== undefined)
      );
    });
  });

  test('muster status says of a gang without room what the planner says, or which right it takes', async () => {
    const created = await on.plane.kubectl(['create', '-f', '-'], { stdin: file('stuck', 3) });
    expect(created.code).toBe(0);
    const status = (kubeconfig: string) =>
      verb(['status', 'stuck', '-n', NAMESPACE, '--kubeconfig', kubeconfig, '-o', 'json']);
    const planOf = ({ out }: { out: string }): string | undefined =>
      (JSON.parse(out) as { gangs: { plan?: string }[] }).gangs[0]?.plan;
    const told = await until('the scheduler has found no room', async () =>
      planOf(await status(on.plane.kubeconfig)),
    );
    expect(told).toBe(
      'plan: does not fit, and nothing that runs has a priority below 100: 0/1 nodes are available: 1 Insufficient cpu; short of 6 cpu',
    );
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rights = [
      { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
      { apiGroups: ['scheduler.grove.io'], resources: ['podgangs'], verbs: ['list'] },
    ];
    await ok(`${rbac}/namespaces/${NAMESPACE}/roles`, { metadata: { name: 'viewer' }, rules: rights });
    await ok(`${rbac}/namespaces/${NAMESPACE}/rolebindings`, {
      metadata: { name: 'viewer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'viewer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'viewer' }],
    });
    const viewer = await on.plane.kubeconfigFor('viewer');
    const seen = await until('the right is there', async () => {
      const found = await status(viewer);
      if (found.code !== 0) throw new Error(found.out);
      return planOf(found);
    });
    expect(seen).toBe(
      'plan: not known: it takes the right to list these in all namespaces: nodes, pods, namespaces, persistentvolumes, persistentvolumeclaims, poddisruptionbudgets.policy, priorityclasses.scheduling.k8s.io, podgangs.scheduler.grove.io, podgroups.scheduling.k8s.io',
    );
    await on.plane.kubectl(['delete', 'podgang,pod', '-n', NAMESPACE, '--all', '--force', '--wait=false']);
  });

  test('whom another algorithm would spare, where the cluster’s own scheduler takes them; and it does', async () => {
    for (const [name, value] of Object.entries({ lower: 20, middle: 50 }))
      await ok('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value });
    const one = (name: string, className: string, node: string) =>
      ok(BATCH, running(name, { ...cpus(2, { nodeName: node }), priorityClassName: className }));
    for (const name of ['liked', 'other']) await on.plane.addNode(name, { cpu: 3, labels: { pool: 'pair' } });
    await one('more-important', 'middle', 'liked');
    await one('less-important', 'lower', 'other');
    // With nobody there it would be on the node that it prefers.
    const preference = {
      matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['liked'] }],
    };
    const preferredDuringSchedulingIgnoredDuringExecution = [{ weight: 100, preference }];
    const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution } };
    const gang = {
      ...podGang('choosy'),
      spec: { priorityClassName: 'high', podgroups: [{ name: 'worker', minReplicas: 1 }] },
    };
    const spec = cpus(3, { priorityClassName: 'high', nodeSelector: { pool: 'pair' }, affinity });
    const pod = gangPod({ name: 'choosy-a', namespace: NAMESPACE }, spec, { 'grove.io/podgang': 'choosy' });
    const taken = keepsPlacement
      ? { name: 'more-important', priority: 50 }
      : { name: 'less-important', priority: 20 };
    const wanted = `forecast: gang ${NAMESPACE}/choosy (priority 100, 1 Pod) would fit if 1 Pod (priority ${taken.priority}) made room; nothing else is touched`;
    // Nodes, Pods and classes come over watches of their own: while one is missing it may be another that would go.
    await until('it says who would go', async () => {
      const found = (await dryRun([gang, pod].map((object) => stringify(object)).join('---\n'))).join();
      if (found === wanted) return true;
      throw new Error(found);
    });
    await ok(GANGS, gang);
    await ok(PODS, pod);
    await untilBound('choosy-a');
    const { items } = await on.plane.client.ok<{ items: { metadata: { name: string } }[] }>('GET', BATCH);
    const left = items.map(({ metadata }) => metadata.name);
    expect(['more-important', 'less-important'].filter((name) => !left.includes(name))).toEqual([taken.name]);
    await on.plane.kubectl(['delete', 'podgang,pod', '-n', NAMESPACE, '--all', '--force', '--wait=false']);
  });

  test('a Pod of no gang, and one that is really made, are told nothing', async () => {
    const pod = { ...(running('single', {}) as { metadata: object }), kind: 'Pod' };
    expect(await dryRun(stringify(pod))).toEqual([]);
  });

  test('each right of its component is used, and none is missing', async () => {
    await on.muster.terminate();
    await untilEachIsUsed(on.plane, 'components/preemption-preview');
    const refused = (await requestsOf(on.plane, MUSTER_USER)).filter(({ forbidden }) => forbidden);
    expect(refused).toEqual([]);
  });
});
