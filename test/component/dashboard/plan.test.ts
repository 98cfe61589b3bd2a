/** The plan that the dashboard is asked for, on an API server that a test writes into. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { until } from '../../unit/tls/until.ts';
import { node, pod, priorityClass } from '../../unit/preemption/small-cluster.ts';
import { gangObject, podObject, WatchedApi } from '../cli/watched-api.ts';
import { list, silence, status } from '../kube/fault-server.ts';
import { StartedDashboard } from './started.ts';

const CORE = ['nodes', 'pods', 'namespaces', 'persistentvolumes', 'persistentvolumeclaims'] as const;
const OTHERS = [
  'policy/v1/poddisruptionbudgets',
  'scheduling.k8s.io/v1/priorityclasses',
  'scheduler.grove.io/v1alpha1/podgangs',
] as const;
const VERSIONS = ['v1', 'v1beta1', 'v1alpha3', 'v1alpha2'];

const HIGH = priorityClass('high', 100);
const TRAIN = gangObject('train', 1, [['leader', 1]]);
const gang = { ...TRAIN, spec: { ...TRAIN.spec, priorityClassName: 'high' } };
const spec = { priorityClassName: 'high' };
const leader = pod({ namespace: 'ml', name: 'leader-0', gang: 'train', group: 'leader', cpu: 2, spec });
const web = pod({ namespace: 'shop', name: 'web', on: 'n1', cpu: 2, prio: 10 });

let api: WatchedApi;
let started: StartedDashboard;

beforeEach(async () => {
  api = await WatchedApi.start();
}, 60_000);
afterEach(async () => {
  await started.end();
  await api.close();
});

/** Starts a dashboard of these gangs. @returns what reads the plan of one */
async function dashboardOf(
  gangs: readonly object[],
  pods: readonly object[],
): Promise<(name: string, query?: string) => Promise<unknown>> {
  api.has(gangs, pods).accepts();
  started = new StartedDashboard(api);
  await started.address();
  return async (name, query = '') => {
    const { status: code, body } = await started.read(`/api/v1/gangs/ml/${name}/plan${query}`);
    return [code, body];
  };
}

/** What is in the cluster, by the end of the path that lists it. */
function lists(objects: Readonly<Record<string, readonly object[]>>): void {
  for (const kind of CORE) api.server.answer(`GET /api/v1/${kind}?`, list(1, objects[kind] ?? []));
  for (const path of OTHERS)
    api.server.answer(`GET /apis/${path}?`, list(1, objects[path.split('/')[2] ?? ''] ?? []));
  for (const version of VERSIONS)
    api.server.answer(`GET /apis/scheduling.k8s.io/${version}/podgroups?`, status(404, 'unknown'));
}

const cluster = { pods: [leader, web], priorityclasses: [HIGH], podgangs: [gang] };
const at = expect.stringMatching(/^\d{4}-.*Z$/);

test('a gang that fits', async () => {
  const planOf = await dashboardOf([gang], [leader]);
  lists({ ...cluster, nodes: [node('n1', 4)] });
  expect(await planOf('train')).toEqual([
    200,
    {
      at,
      says: 'gang ml/train (priority 100) fits as it is',
      plan: expect.objectContaining({ fits: true, victims: [], placement: { 'ml/leader-0': 'n1' } }),
    },
  ]);
  expect(api.server.requests.filter((line) => !line.startsWith('GET '))).toEqual([]);
});

test('a gang for which others would have to make room, and one that nothing helps', async () => {
  const planOf = await dashboardOf([gang], [leader]);
  lists({ ...cluster, nodes: [node('n1', 2)] });
  expect(await planOf('train')).toMatchObject([
    200,
    {
      says: 'gang ml/train (priority 100) would fit if 1 Pod (shop/web, priority 10) made room; nothing else is touched',
      plan: {
        ...{ variant: 'kep', fits: false, feasible: true },
        victims: [{ unit: 'Pod', namespace: 'shop', name: 'web', priority: 10, pods: ['shop/web'] }],
      },
    },
  ]);
  lists({ ...cluster, nodes: [node('n1', 1)] });
  expect(await planOf('train')).toMatchObject([
    200,
    {
      says: 'gang ml/train (priority 100) does not fit, and no node is large enough for a Pod of group leader that asks for 2 cpu: the largest that it may use, n1, has 1: 0/1 nodes are available: 1 Insufficient cpu',
      plan: { fits: false, feasible: false, victims: [] },
    },
  ]);
});

test.each([
  ['', 'kep', false],
  ['?variant=kep', 'kep', false],
  ['?variant=kube-1.36', 'kube-1.36', true],
  ['?variant=kube-1.37', 'kube-1.37', true],
])(
  'by the variant that is asked for, %s: a kube-scheduler spares no namespace',
  async (query, variant, feasible) => {
    const planOf = await dashboardOf([gang], [leader]);
    const system = pod({ namespace: 'kube-system', name: 'web', on: 'n1', cpu: 2, prio: 10 });
    lists({ ...cluster, pods: [leader, system], nodes: [node('n1', 2)] });
    expect(await planOf('train', query)).toMatchObject([200, { plan: { variant, fits: false, feasible } }]);
  },
);

test('whoever may not list the nodes is told which rights it takes', async () => {
  const planOf = await dashboardOf([gang], [leader]);
  api.server.answer('GET /api/v1/nodes?', status(403, 'nodes is forbidden: User "ann" cannot list nodes'));
  expect(await planOf('train')).toEqual([
    403,
    {
      error: {
        code: 'CLUSTER_REFUSED',
        message: expect.stringMatching(
          /^list nodes: 403 Failure: nodes is forbidden: User "ann" cannot list nodes/,
        ),
        fix: expect.stringMatching(
          /^It takes the right to list these in all namespaces: nodes, pods, .*, podgangs\.scheduler\.grove\.io, /,
        ),
      },
    },
  ]);
});

test('what cannot be counted with is said, and stops the one plan alone', async () => {
  const planOf = await dashboardOf([gang], [leader]);
  lists({ ...cluster, nodes: [] });
  expect(await planOf('train')).toEqual([
    502,
    {
      error: expect.objectContaining({
        code: 'SNAPSHOT_INVALID',
        message: 'there is no Node in the snapshot',
      }),
    },
  ]);
  lists({ ...cluster, nodes: [node('n1', 4)] });
  expect(await planOf('train')).toMatchObject([200, { plan: { fits: true } }]);
});

test.each([
  [
    'bound',
    [gang],
    [{ ...leader, spec: { nodeName: 'n1' } }],
    'gang ml/train waits for no node: each of its Pods has one',
  ],
  ['without Pods', [gang], [], 'gang ml/train has no Pod yet: there is nothing to find a node for'],
  [
    'without a PodGang',
    [],
    [podObject('leader-0', 2)],
    'gang ml/train has Pods and no PodGang: nobody knows how many have to start together',
  ],
])('a gang that is %s has no plan, and nothing is listed for it', async (_what, gangs, pods, says) => {
  const planOf = await dashboardOf(gangs, pods);
  await until('the watches', () => api.watched);
  const before = api.server.requests.length;
  expect(await planOf('train')).toEqual([200, { at, says, plan: null }]);
  expect(api.server.requests.slice(before)).toEqual([]);
});

test('a change is tried: what the gang would need with another minimum, and nothing is written', async () => {
  const second = pod({ namespace: 'ml', name: 'leader-1', gang: 'train', group: 'leader', cpu: 2, spec });
  const planOf = await dashboardOf([gang], [leader, second]);
  const tried = (minimum: string): Promise<unknown> => {
    lists({ ...cluster, pods: [leader, second], nodes: [node('n1', 2)] });
    return planOf('train', `?minimum=${minimum}`);
  };
  expect(await tried('leader=1')).toMatchObject([200, { plan: { fits: true } }]);
  expect(await tried('leader=2')).toMatchObject([
    200,
    {
      says: expect.stringMatching(
        /^gang ml\/train with minReplicas 2 of leader \(priority 100\) does not fit/,
      ),
      plan: { fits: false, feasible: false },
    },
  ]);
  expect(await tried('leader=3')).toEqual([
    200,
    {
      ...{ at, plan: null },
      says: 'gang ml/train would wait for 3 Pods of group leader, which has 2: there is nothing to plan before they are there',
    },
  ]);
  expect(await tried('nobody=1')).toEqual([
    200,
    { at, says: 'gang ml/train has no group nobody', plan: null },
  ]);
  expect(api.server.requests.filter((line) => !line.startsWith('GET '))).toEqual([]);
});

test('a change that the webhook refuses is refused in its words', async () => {
  const planOf = await dashboardOf([gang], [leader]);
  lists({ ...cluster, nodes: [node('n1', 4)] });
  expect(await planOf('train', '?minimum=leader=0')).toEqual([
    200,
    {
      ...{ at, plan: null },
      says: expect.stringMatching(
        /^gang ml\/train may not be changed so: spec\.podgroups: .* \[MinReplicasAllZero\]$/,
      ),
    },
  ]);
});

test('Ctrl-C ends the dashboard in the middle of a plan', async () => {
  const planOf = await dashboardOf([gang], [leader]);
  api.server.answer('GET /api/v1/nodes?', silence);
  const asked = planOf('train').catch(() => 'cut');
  await until('the list', () => api.server.requests.some((line) => line.startsWith('GET /api/v1/nodes?')));
  expect(await started.end()).toBe(0);
  expect(await asked).toBe('cut');
});

test('a gang that nobody knows has none either', async () => {
  const planOf = await dashboardOf([gang], [leader]);
  expect(await planOf('nobody')).toMatchObject([404, { error: { code: 'GANG_UNKNOWN' } }]);
});
