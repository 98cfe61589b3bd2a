/** The fleet and the backends as muster dashboard answers them, on an API server that a test writes into. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { gangObject, WatchedApi } from '../cli/watched-api.ts';
import { cut, json, list, status } from '../kube/fault-server.ts';
import { StartedDashboard } from './started.ts';

let api: WatchedApi;
let started: StartedDashboard;

beforeAll(async () => {
  api = await WatchedApi.start();
  const other = gangObject('other', 2, [['leader', 1]]);
  api.has([gangObject('train', 1, [['leader', 1]]), other, withoutScheduler('plain')], []).accepts();
  started = new StartedDashboard(api);
  await started.address();
}, 60_000);
afterAll(async () => {
  expect(await started.end()).toBe(0);
  expect(api.server.requests.filter((line) => !line.startsWith('GET '))).toEqual([]);
  await api.close();
});

function withoutScheduler(name: string): object {
  const gang = gangObject(name, 3, [['leader', 1]]);
  return { ...gang, metadata: { ...gang.metadata, labels: {} } };
}

const MEMBERS = 'GET /apis/cluster.karmada.io/v1alpha1';
const BINDINGS = 'GET /apis/work.karmada.io/v1alpha2';
const served = (...plurals: readonly string[]) =>
  json({ resources: plurals.map((name) => ({ name, kind: name, namespaced: true })) });

describe('the fleet', () => {
  beforeEach(() => {
    started.ahead += 10_000;
  });

  /** The answers to the next request. */
  const answers = (clusters: readonly object[], bindings: readonly object[] = []): void => {
    api.server.answer(`${MEMBERS}`, served('clusters'));
    api.server.answer(`${BINDINGS}`, served('resourcebindings', 'clusterresourcebindings'));
    api.server.answer(`${MEMBERS}/clusters?`, list(1, clusters));
    api.server.answer(`${BINDINGS}/resourcebindings?`, list(1, bindings));
    api.server.answer(`${BINDINGS}/clusterresourcebindings?`, list(1, []));
  };
  const cluster = (name: string, told: object, more: object = {}) => ({
    metadata: { name, uid: name },
    status: { conditions: [{ type: 'Ready', ...told }], ...more },
  });
  const summary = { allocatable: { cpu: '8', memory: '16Gi' }, allocated: { cpu: '2500m' } };
  const binding = (name: string, spec: object, conditions: unknown = []) => ({
    metadata: {
      ...{ namespace: 'ml', name, uid: name },
      labels: { 'propagationpolicy.karmada.io/permanent-id': 'x' },
      annotations: { 'muster.dev/fleet-queue': 'research' },
    },
    spec: {
      ...{ schedulerName: 'muster', replicas: 3 },
      resource: { apiVersion: 'batch/v1', kind: 'Job', name },
      ...spec,
    },
    status: { conditions },
  });
  const said = (truth: string, message: string) => [
    { type: 'Scheduled', status: truth, reason: 'Unschedulable', message },
  ];

  test('has its clusters, and the bindings that name Muster, those that wait first', async () => {
    const nodes = { nodeSummary: { readyNum: 3, totalNum: 4 } };
    answers(
      [
        cluster('m10', { status: 'False', message: 'cluster is not reachable' }),
        cluster('m2', { status: 'True' }, { resourceSummary: summary, ...nodes }),
      ],
      [
        binding('placed', { clusters: [{ name: 'm2', replicas: 3 }] }, said('True', 'fits')),
        binding('stays', { clusters: [{ name: 'm2', replicas: 2 }] }, said('False', 'it would have to move')),
        binding('held', { suspension: { scheduling: true } }),
        binding('new', {}),
        binding('full', {}, said('False', '3 replicas do not fit')),
        binding('foreign', { schedulerName: 'default-scheduler' }),
        { ...binding('unmanaged', {}), metadata: { name: 'unmanaged', namespace: 'ml' } },
      ],
    );
    const { status: code, body } = await started.read('/api/v1/fleet');
    expect([code, body]).toEqual([
      200,
      {
        ...{ absent: null, schedulerName: 'muster' },
        clusters: [
          {
            ...{ name: 'm2', ready: 'True', why: '', nodes: { ready: 3, total: 4 } },
            allocatable: { cpu: '8', memory: '16Gi' },
            free: { cpu: '5500m', memory: '16Gi' },
          },
          {
            ...{ name: 'm10', ready: 'False', nodes: null, allocatable: {}, free: null },
            why: 'cluster is not reachable; it does not say what it has, and counts as full',
          },
        ],
        bindings: [
          expect.objectContaining({
            ...{ namespace: 'ml', name: 'full', workload: 'batch/v1 Job full', state: 'Waiting' },
            ...{ why: '3 replicas do not fit', clusters: [] },
          }),
          expect.objectContaining({
            ...{ name: 'new', state: 'Waiting' },
            why: 'Muster has not judged it yet (if this stays, fleet.assigner is off, or no loop runs)',
          }),
          expect.objectContaining({
            ...{ name: 'held', state: 'Held' },
            why: 'it waits in queue research: the queues say at which position, and why',
          }),
          expect.objectContaining({
            ...{ name: 'placed', state: 'Placed', why: '', clusters: [{ name: 'm2', replicas: 3 }] },
          }),
          expect.objectContaining({ name: 'stays', state: 'Placed', why: 'it would have to move' }),
        ],
      },
    ]);
  });

  const EVICTION = {
    ...{ fromCluster: 'm1', producer: 'TaintManager', purgeMode: 'Gracefully', replicas: 2 },
    ...{ reason: 'TaintUntolerated', creationTimestamp: '2026-11-27T04:46:48Z' },
  };

  // Status, conditions and messages as karmada-controller-manager wrote them.
  test('has what clusters do not have, and of what is there nothing that waits', async () => {
    const applied = { clusterName: 'm1', applied: true, health: 'Healthy', status: { active: 4 } };
    const clash =
      'Failed to apply all manifests (0/1): resource(kind=Job, ml/clash) already exists in the cluster m2 and the work.karmada.io/conflict-resolution strategy value is empty, Karmada will not manage this resource';
    const untolerated =
      '0/2 clusters are available: 1 cluster(s) did not match the placement cluster affinity constraint, 1 cluster(s) had untolerated taint {repair:NoExecute}.';
    const failed = {
      ...{ type: 'FullyApplied', status: 'False', reason: 'FullyAppliedFailed' },
      message: 'Failed to apply all works, see status.aggregatedStatus for details',
    };
    const seen = (name: string, ofM2: object | undefined, spec: object = {}, condition: object = failed) => ({
      ...binding(name, {
        clusters: [
          { name: 'm1', replicas: 4 },
          { name: 'm2', replicas: 1 },
        ],
        ...spec,
      }),
      status: {
        conditions: [
          {
            ...{ type: 'Scheduled', status: 'True', reason: 'Success' },
            message: 'Binding has been scheduled successfully.',
          },
          condition,
        ],
        ...(ofM2 && { aggregatedStatus: [applied, { clusterName: 'm2', health: 'Unknown', ...ofM2 }] }),
      },
    });
    answers(
      [],
      [
        binding('fail', { gracefulEvictionTasks: [EVICTION] }, said('False', untolerated)),
        seen('a-clash', { appliedMessage: clash }),
        seen('b-dispatching', {}, { suspension: { dispatching: true } }),
        seen('c-on-clusters', {}, { suspension: { dispatchingOnClusters: { clusterNames: ['m2'] } } }),
        seen('d-on-others', {}, { suspension: { dispatchingOnClusters: { clusterNames: ['m3'] } } }),
        seen('e-new', undefined),
        seen('f-there', { applied: true }, {}, { type: 'FullyApplied', status: 'True' }),
        seen('g-evicted', { applied: true }, { gracefulEvictionTasks: [EVICTION] }, {}),
        seen('h-held', { applied: true }, { suspension: { scheduling: true } }, {}),
      ],
    );
    const { body } = await started.read('/api/v1/fleet');
    const { bindings } = body as { readonly bindings: { name: string; state: string; why: string }[] };
    expect(bindings.filter(({ state }) => state !== 'Placed').map(({ name }) => name)).toEqual(['fail']);
    expect(bindings.map(({ name, why }) => [name, why])).toEqual([
      ['fail', `${untolerated.slice(0, -1)}; it is being evicted from m1`],
      ['a-clash', `m2 does not have it: ${clash}`],
      ['b-dispatching', 'm2 does not have it: spec.suspension.dispatching'],
      ['c-on-clusters', 'm2 does not have it: spec.suspension.dispatchingOnClusters'],
      ['d-on-others', 'm2 does not have it yet'],
      ['e-new', 'Failed to apply all works, see status.aggregatedStatus for details'],
      ['f-there', ''],
      ['g-evicted', 'it is being evicted from m1'],
      ['h-held', 'its scheduling is suspended (spec.suspension.scheduling)'],
    ]);
  });

  test('is told with what to look at where what serves Clusters is away, alone', async () => {
    const away = status(
      503,
      'error trying to reach service: dial tcp 127.0.0.1:18443: connect: connection refused',
    );
    api.server.answer(MEMBERS, away);
    api.server.answer(BINDINGS, served('resourcebindings', 'clusterresourcebindings'));
    expect(await started.read('/api/v1/fleet')).toEqual({
      status: 502,
      body: {
        error: {
          code: 'CLUSTER_UNREACHABLE',
          message: expect.stringMatching(
            /^get \/apis\/cluster\.karmada\.io\/v1alpha1: 503.*: error trying to reach service: dial tcp/,
          ),
          fix: 'Clusters are served by karmada-aggregated-apiserver, which Karmada’s API server asks: kubectl get apiservice v1alpha1.cluster.karmada.io says whether it answers.',
        },
      },
    });
  });

  test('is listed once for all pages that are open, and again after ten seconds', async () => {
    answers([cluster('m1', { status: 'True' })]);
    const before = api.server.requests.length;
    const [first, second] = await Promise.all([started.read('/api/v1/fleet'), started.read('/api/v1/fleet')]);
    expect(second).toEqual(first);
    const listed = api.server.requests.length - before;
    expect(await started.read('/api/v1/fleet')).toEqual(first);
    expect(api.server.requests.length - before).toBe(listed);
    expect(
      api.server.requests.slice(before).filter((line) => line.startsWith(`${BINDINGS}/resourcebindings?`)),
    ).toHaveLength(1);
    started.ahead += 10_000;
    answers([cluster('m2', { status: 'True' })]);
    expect(await started.read('/api/v1/fleet')).toMatchObject({ body: { clusters: [{ name: 'm2' }] } });
  });

  test('is told of odd objects what can be told', async () => {
    const odd = [
      null,
      'text',
      7,
      [],
      { conditions: 'none' },
      { conditions: [null, 1, { type: 'Ready', status: 1 }] },
    ];
    answers(
      [
        ...odd.map((given, index) => ({ metadata: { name: `m${index}` }, spec: given, status: given })),
        cluster('<script>', { status: 'Unknown' }, { resourceSummary: { allocatable: { cpu: 'many' } } }),
        {
          metadata: { name: 'leaving', deletionTimestamp: 'x' },
          spec: { taints: [{ key: 'a', effect: 'NoExecute' }] },
        },
      ],
      [
        ...odd.map((given, index) => binding(`b${index}`, { clusters: given, replicas: given }, given)),
        binding('suspended', { suspension: { scheduling: true } }),
        { ...binding('\u202egnp', {}), status: null },
      ].map((one, index) =>
        index === odd.length ? { ...one, metadata: { ...one.metadata, annotations: null } } : one,
      ),
    );
    const { status: code, body } = await started.read('/api/v1/fleet');
    const { clusters, bindings } = body as {
      readonly clusters: { readonly name: string; readonly why: string; readonly ready: string }[];
      readonly bindings: { readonly name: string; readonly why: string; readonly state: string }[];
    };
    expect([code, clusters.length, bindings.length]).toEqual([200, odd.length + 2, odd.length + 2]);
    expect(clusters.filter(({ ready }) => ready !== 'Unknown')).toEqual([]);
    const whyOf = (name: string) =>
      [...clusters, ...bindings].find((one) => one.name === name)?.why.split('; ');
    expect(whyOf('<script>')).toEqual([
      'no reason is given',
      'it counts as full: status.resourceSummary.allocatable.cpu: "many" is no quantity',
      'write it as 500m, 2 or 12Gi',
    ]);
    expect(whyOf('leaving')).toEqual([
      'Karmada has not said whether it is ready',
      'it is being removed from the fleet',
      'taints a:NoExecute',
      'it does not say what it has, and counts as full',
    ]);
    expect(whyOf('suspended')).toEqual(['its scheduling is suspended (spec.suspension.scheduling)']);
    expect(bindings.at(-1)?.name).toBe('suspended');
  });

  test('is none where Karmada’s kinds are not served', async () => {
    api.server.answer(MEMBERS, status(404, 'unknown')).answer(BINDINGS, served('resourcebindings'));
    expect(await started.read('/api/v1/fleet')).toEqual({
      status: 200,
      body: {
        ...{ schedulerName: 'muster', clusters: [], bindings: [] },
        absent:
          'This API server is not Karmada’s, it serves no clusters.cluster.karmada.io and no clusterresourcebindings.work.karmada.io: name Karmada’s with --kubeconfig, or as fleet.kubeconfig of --config.',
      },
    });
  });

  test('is refused with the rights that it takes', async () => {
    api.server.answer(MEMBERS, served('clusters'));
    api.server.answer(BINDINGS, served('resourcebindings', 'clusterresourcebindings'));
    const forbidden = status(403, 'clusters is forbidden');
    api.server.answer(`${MEMBERS}/clusters?`, forbidden);
    for (const plural of ['resourcebindings', 'clusterresourcebindings'])
      api.server.answer(`${BINDINGS}/${plural}?`, forbidden);
    const refused = await started.read('/api/v1/fleet');
    answers([cluster('m1', { status: 'True' })]);
    // A right that was given is seen at once.
    expect((await started.read('/api/v1/fleet')).status).toBe(200);
    expect(refused).toEqual({
      status: 403,
      body: {
        error: {
          code: 'CLUSTER_REFUSED',
          message: expect.stringContaining('clusters is forbidden'),
          fix: 'It takes the rights to list clusters.cluster.karmada.io, resourcebindings.work.karmada.io and clusterresourcebindings.work.karmada.io.',
        },
      },
    });
  });
});

describe('the backends', () => {
  const DEFINITION = 'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/podgroups.scheduling';
  const ROOT = 'GET /apis/scheduling.';
  const fields = (...names: readonly string[]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'object' }])),
  });
  const definition = (version: string, spec: object) =>
    json({
      spec: {
        versions: [{ name: version, served: true, schema: { openAPIV3Schema: { properties: { spec } } } }],
      },
    });
  const answered = async () => {
    const { status: code, body } = await started.read('/api/v1/backends');
    const { backends } = body as {
      readonly backends: readonly {
        readonly name: string;
        readonly state: string;
        readonly gangs: number;
        readonly version: string;
        readonly kinds: unknown;
        readonly says: readonly string[];
      }[];
    };
    return { code, backends, of: (name: string) => backends.find((one) => one.name === name) };
  };

  test('are those of no scheduler where the API server serves none of their kinds', async () => {
    const unknown = status(404, 'unknown');
    api.server.answer(DEFINITION, unknown, unknown, unknown).answer(ROOT, unknown, unknown, unknown, unknown);
    const { code, backends, of } = await answered();
    expect([code, backends.map(({ name, state, gangs }) => [name, state, gangs])]).toEqual([
      200,
      [
        ['default-scheduler', 'Ready', 0],
        ['kai-scheduler', 'NotReady', 2],
        ['volcano', 'NotReady', 0],
        ['coscheduling', 'NotReady', 0],
        ['(default)', 'Unknown', 1],
      ],
    ]);
    expect(of('default-scheduler')).toMatchObject({
      ...{ default: null, version: 'none', kinds: [] },
      says: [expect.stringContaining('the cluster serves no native gangs')],
    });
    expect(of('kai-scheduler')).toMatchObject({
      version: '',
      kinds: [{ apiVersion: 'scheduling.run.ai/v2alpha2', kind: 'PodGroup', served: false }],
      says: [expect.stringContaining('the cluster does not serve PodGroup scheduling.run.ai/v2alpha2')],
    });
    expect(of('(default)')?.says).toEqual([
      'these gangs name no scheduler: the configuration says which one serves them (--config)',
    ]);
  });

  test('are ready with what they speak and what is missing, each as it is', async () => {
    api.server
      .answer(`${ROOT}k8s.io`, json({ versions: [{ version: 'v1alpha2' }, { version: 'v1' }] }))
      .answer(`${ROOT}k8s.io/v1alpha2`, served('workloads', 'podgroups'), served('workloads', 'podgroups'))
      .answer(`${DEFINITION}.run.ai`, definition('v2alpha2', fields('subGroups')))
      .answer('GET /apis/kai.scheduler', status(404, 'unknown'))
      .answer(`${DEFINITION}.volcano.sh`, status(403, 'customresourcedefinitions is forbidden'))
      .answer(`${ROOT}volcano.sh/v1beta1`, served('podgroups', 'queues'))
      .answer(`${DEFINITION}.x-k8s.io`, definition('v1alpha1', fields('minMember')))
      .answer(`${ROOT}x-k8s.io/v1alpha1`, served('podgroups'));
    const { code, of } = await answered();
    expect(code).toBe(200);
    const kind = (apiVersion: string, name = 'PodGroup') => ({ apiVersion, kind: name, served: true });
    expect(of('default-scheduler')).toMatchObject({
      ...{ state: 'Ready', version: 'scheduling.k8s.io/v1alpha2' },
      kinds: [kind('scheduling.k8s.io/v1alpha2', 'Workload'), kind('scheduling.k8s.io/v1alpha2')],
    });
    expect(of('kai-scheduler')).toMatchObject({
      ...{ state: 'Ready', kinds: [] },
      says: [expect.stringContaining('KAI is older than 0.15')],
    });
    expect(of('volcano')).toMatchObject({
      ...{ state: 'Unseen', version: '', kinds: [kind('scheduling.volcano.sh/v1beta1')] },
      says: [
        expect.stringMatching(/^what it takes cannot be seen: .*customresourcedefinitions is forbidden/),
      ],
    });
    expect(of('coscheduling')).toMatchObject({
      ...{ state: 'Ready', version: 'scheduling.x-k8s.io/v1alpha1', says: [] },
      kinds: [kind('scheduling.x-k8s.io/v1alpha1')],
    });
  });

  test('are told of odd answers', async () => {
    const odd = [null, 7, [], { versions: 'x', resources: [null, { name: 1 }] }, { spec: { versions: [1] } }];
    // KAI, which was seen to group Pods itself, keeps no kind.
    for (const given of odd) {
      const answer = json(given);
      api.server.answer(DEFINITION, answer, answer, answer).answer(ROOT, answer, answer, answer);
      const { code, backends } = await answered();
      expect([code, backends.map(({ state }) => state)]).toEqual([
        200,
        ['Ready', 'NotReady', 'NotReady', 'NotReady', 'Unknown'],
      ]);
    }
  });

  test('have kinds of which it is not known whether they are served', async () => {
    const refuse = status(403, 'forbidden');
    api.server.answer(DEFINITION, refuse, refuse, refuse).answer(ROOT, refuse, refuse, refuse);
    const { code, of } = await answered();
    expect([code, of('volcano')]).toMatchObject([
      200,
      { state: 'Unseen', kinds: [{ apiVersion: 'scheduling.volcano.sh/v1beta1', served: null }] },
    ]);
    expect(of('default-scheduler')).toMatchObject({
      ...{ state: 'Unseen', says: [expect.stringMatching(/^what it takes cannot be seen: .*forbidden/)] },
    });
  });

  test('are not guessed where the API server does not answer', async () => {
    // Each is asked again.
    const cuts = Array.from({ length: 20 }, () => cut);
    api.server.answer(DEFINITION, ...cuts).answer(ROOT, ...cuts);
    expect(await started.read('/api/v1/backends')).toEqual({
      status: 502,
      body: { error: expect.objectContaining({ code: 'CLUSTER_UNREACHABLE' }) },
    });
  });
});
