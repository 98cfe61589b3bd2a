/** Muster as a scheduler of Karmada's bindings, on a real API server with the shapes of Karmada's definitions. */
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { metricsAt } from '../support/observed.ts';
import type { Serving } from '../support/serving.ts';
import { MUSTER_USER } from '../../src/api/names.ts';
import { manifestsIn } from '../support/manifests.ts';
import type { Client, KubeList, KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { clusterResourceBindings, fleetClusters, resourceBindings } from './support/crds/karmada.ts';
import { untilEachIsUsed } from './support/granted.ts';
import { secondWebhook } from './support/second-webhook.ts';
import { STEADY_LEASE } from './support/looping-muster.ts';
import { withMuster, type OnMuster } from './support/with-muster.ts';
import { estimatorAt, type Estimator } from '../support/estimator.ts';

jest.setTimeout(120_000);

const ROOT = join(import.meta.dirname, '../..');
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CLUSTERS = '/apis/cluster.karmada.io/v1alpha1/clusters';
const BINDINGS = '/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings';
const CLUSTER_BINDINGS = '/apis/work.karmada.io/v1alpha2/clusterresourcebindings';
const LABELS = { 'propagationpolicy.karmada.io/permanent-id': '77aa' };
const STRATEGY = 'muster.dev/custom-scheduling-strategy';
const LEAST = 'muster.dev/min-available';
const APPLIED = 'policy.karmada.io/applied-placement';
const PLACED = 'muster.dev/placed-components';
const SETTINGS = {
  scheduler: { profiles: [{ name: 'default-scheduler' }] },
  leaderElection: STEADY_LEASE,
  fleet: {
    assigner: {
      enabled: true,
      plugins: [
        {
          name: 'prices',
          module: join(ROOT, 'docs/examples/cheapest-strategies.ts'),
          config: { prices: { m1: 3, m2: 2, m3: 1 } },
        },
        { name: 'faulty', module: join(ROOT, 'test/support/faulty-modules/ending-strategies.ts') },
      ],
    },
  },
};

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}
interface Binding extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly generation: number };
  readonly spec: {
    readonly clusters?: readonly { name: string; replicas?: number; components?: unknown }[];
    readonly placement?: object;
  };
  readonly status?: {
    readonly schedulerObservedGeneration?: number;
    readonly schedulerObservingAffinityName?: string;
    readonly lastScheduledTime?: string;
    readonly conditions?: readonly Condition[];
  };
}

clusterSuite('the assigner, on a real API server', () => {
  let on: OnMuster;
  let client: Client;

  const room = (cpu: number): object => ({
    resourceSummary: { allocatable: { cpu: String(cpu), pods: '100' } },
    apiEnablements: [
      { groupVersion: 'batch/v1', resources: [{ name: 'jobs', kind: 'Job' }] },
      { groupVersion: 'v1', resources: [{ name: 'namespaces', kind: 'Namespace' }] },
    ],
  });
  const setRoom = (name: string, cpu: number): Promise<unknown> =>
    client.ok('PATCH', `${CLUSTERS}/${name}/status`, { status: room(cpu) });
  const addCluster = async (name: string, cpu: number): Promise<void> => {
    await client.ok('POST', CLUSTERS, {
      apiVersion: 'cluster.karmada.io/v1alpha1',
      kind: 'Cluster',
      metadata: { name },
      spec: { syncMode: 'Push' },
    });
    await setRoom(name, cpu);
  };
  const create = (
    name: string,
    spec: object,
    annotations: Record<string, string> = {},
    labels: object = LABELS,
  ): Promise<Binding> =>
    client.ok<Binding>('POST', BINDINGS, {
      apiVersion: 'work.karmada.io/v1alpha2',
      kind: 'ResourceBinding',
      metadata: { name, labels, annotations },
      spec: {
        schedulerName: 'muster',
        resource: { apiVersion: 'batch/v1', kind: 'Job', namespace: 'default', name, uid: name },
        replicaRequirements: { resourceRequest: { cpu: '1' } },
        placement: { clusterAffinity: {} },
        ...spec,
      },
    });
  const get = (name: string): Promise<Binding> => client.ok<Binding>('GET', `${BINDINGS}/${name}`);
  const patch = (name: string, body: object): Promise<Binding> =>
    client.ok<Binding>('PATCH', `${BINDINGS}/${name}`, body);
  const gang = (least: number | string, strategy = 'gang-divided'): Record<string, string> => ({
    [STRATEGY]: strategy,
    [LEAST]: String(least),
  });
  const scheduled = (binding: Binding): Condition | undefined =>
    binding.status?.conditions?.find(({ type }) => type === 'Scheduled');
  const clustersOf = ({ spec }: Binding): Record<string, number> =>
    Object.fromEntries((spec.clusters ?? []).map(({ name, replicas = 0 }) => [name, replicas]));
  /** Waits until the clusters are these and the status speaks of them. */
  const placed = (name: string, clusters: Record<string, number>): Promise<Binding> =>
    until(`${name} is placed`, async () => {
      const binding = await get(name);
      expect(clustersOf(binding)).toEqual(clusters);
      expect(scheduled(binding)).toMatchObject({ status: 'True', reason: 'Success' });
      expect(binding.status?.schedulerObservedGeneration).toBe(binding.metadata.generation);
      return binding;
    });
  const held = (name: string, reason: string): Promise<Binding> =>
    until(`${name} is held`, async () => {
      const binding = await get(name);
      return scheduled(binding)?.reason === reason && binding;
    });
  const metric = async (muster: Serving, name: string): Promise<number> => {
    const text = await metricsAt(muster.metricsPort);
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.split(' ').at(-1) ?? NaN);
  };

  /** Cluster 2 has an estimator, at 127.0.0.2. */
  let estimator: Estimator;
  const estimated = async (): Promise<typeof SETTINGS> => {
    estimator = await estimatorAt('127.0.0.2', { answer: () => 7 });
    on.before(() => Promise.resolve(estimator.close()));
    const address = `127.0.0.{cluster}:${estimator.port}`;
    return {
      ...SETTINGS,
      fleet: { ...SETTINGS.fleet, estimators: { enabled: true, address } },
    } as typeof SETTINGS;
  };

  beforeAll(async () => {
    on = await withMuster({ muster: 'none', plane: { auditPolicy: 'Metadata' } });
    client = on.plane.client;
    const definitions = [resourceBindings, clusterResourceBindings, fleetClusters];
    for (const one of definitions) await client.ok('POST', DEFINITIONS, one);
    await untilEstablished(client, definitions as never);
    await applyAll(client, await manifestsIn('karmada/assigner'));
    await on.put(await on.start(SETTINGS));
  }, 180_000);
  afterAll(() => on?.close(), 60_000);

  beforeEach(async () => {
    for (const collection of [BINDINGS, CLUSTER_BINDINGS, CLUSTERS]) {
      await client.ok('DELETE', collection);
      await until(
        'it is empty',
        async () => (await client.ok<KubeList>('GET', collection)).items.length === 0,
      );
    }
    // Each kind has a watch of its own: what comes now must not be judged by clusters that are gone.
    const cached = 'muster_loop_cached_objects{resource="clusters"}';
    await until('Muster knows of no cluster', async () => (await metric(on.muster, cached)) === 0);
  });

  test('a gang is divided, with all that others go by: placement, generation, the whole list of conditions', async () => {
    await addCluster('m1', 6);
    await addCluster('m2', 8);
    const { metadata } = await create('train', { replicas: 12 }, gang(8));
    await until('it is there', () => get('train'));
    const binding = await placed('train', { m1: 5, m2: 7 });
    expect(JSON.parse(binding.metadata.annotations?.[APPLIED] ?? '')).toEqual(binding.spec.placement);
    expect(binding.status?.lastScheduledTime).toMatch(/^\d{4}-/);
    expect(binding.metadata.uid).toBe(metadata.uid);
    // Somebody else's condition stays, whatever Muster says beside it.
    const other = {
      type: 'FullyApplied',
      status: 'True',
      reason: 'FullyAppliedSuccess',
      message: 'all',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const conditions = [...(binding.status?.conditions ?? []), other];
    await client.ok('PATCH', `${BINDINGS}/train/status`, { status: { conditions } });
    // The detector writes placement anew: the same placement moves nothing, and the generation is observed.
    await patch('train', { spec: { replicas: 13 } });
    const grown = await until('it is seen', async () => {
      const now = await get('train');
      return now.status?.schedulerObservedGeneration === now.metadata.generation && now;
    });
    const sum = Object.values(clustersOf(grown)).reduce((all, one) => all + one, 0);
    expect(sum).toBe(13);
    expect(grown.status?.conditions?.map(({ type }) => type).sort()).toEqual(['FullyApplied', 'Scheduled']);
  });

  test('what is too fragmented waits, and only it is judged again when a cluster has room', async () => {
    await addCluster('m1', 3);
    await addCluster('m2', 3);
    await create('waits', { replicas: 8 }, gang(8));
    // By the first cluster alone at first, where Muster has heard of no other yet.
    const binding = await until('it says what there is', async () => {
      const now = await held('waits', 'Unschedulable');
      const { message = '' } = scheduled(now) ?? {};
      return /no available scheduling results: .*6 replicas.* 8 are needed/.test(message) && now;
    });
    expect(binding.spec.clusters).toBeUndefined();
    expect(binding.status?.schedulerObservedGeneration).toBeUndefined();
    await create('runs', { replicas: 1 }, gang(1));
    await until('the small one runs', async () => (await get('runs')).spec.clusters);
    const waiting = 'muster_fleet_bindings_waiting';
    await until('one waits', async () => (await metric(on.muster, waiting)) === 1);
    await setRoom('m2', 9);
    await until('it is placed', async () => {
      const all = Object.values(clustersOf(await get('waits')));
      return all.reduce((sum, one) => sum + one, 0) === 8;
    });
    await until('Events say so', async () => {
      const events = await client.ok<KubeList>('GET', '/apis/events.k8s.io/v1/namespaces/default/events');
      const of = events.items as unknown as { regarding: { name: string }; reason: string; note: string }[];
      const words = of.filter(({ regarding }) => regarding.name === 'waits').map(({ reason }) => reason);
      return words.includes('ScheduleBindingFailed') && words.includes('ScheduleBindingSucceed');
    });
  });

  test('it grows from its least up to all, and what runs is not moved', async () => {
    await addCluster('m1', 4);
    await create('grows', { replicas: 8 }, gang(4, 'gang-no-divided'));
    await placed('grows', { m1: 4 });
    await addCluster('m2', 50);
    // The cluster says by now what runs in it.
    await client.ok('PATCH', `${CLUSTERS}/m1/status`, {
      status: {
        ...room(20),
        resourceSummary: { allocatable: { cpu: '20', pods: '100' }, allocated: { cpu: '4', pods: '4' } },
      },
    });
    await placed('grows', { m1: 8 });
  });

  test('templates go together, and how many went is known where the definition drops it', async () => {
    await addCluster('m1', 40);
    await addCluster('m2', 28);
    const components = [
      { name: 'master', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
      { name: 'worker', replicas: 4, replicaRequirements: { resourceRequest: { cpu: '8' } } },
    ];
    await create('multi', { replicaRequirements: null, components }, gang('master=1,worker=2'));
    const binding = await placed('multi', { m1: 0 });
    expect(binding.spec.clusters?.[0]?.components).toBeUndefined();
    expect(JSON.parse(binding.metadata.annotations?.[PLACED] ?? '')).toEqual({
      m1: { master: 1, worker: 4 },
    });
    // Full by now, as it runs there; a better place elsewhere changes nothing.
    await client.ok('PATCH', `${CLUSTERS}/m1/status`, {
      status: {
        ...room(40),
        resourceSummary: { allocatable: { cpu: '40', pods: '100' }, allocated: { cpu: '40', pods: '5' } },
      },
    });
    await setRoom('m2', 400);
    await patch('multi', { spec: { resource: { resourceVersion: '2' } } });
    await placed('multi', { m1: 0 });
  });

  test('nothing of a running gang is taken down: not for a policy that nothing fits, nor for a cluster that is gone', async () => {
    await addCluster('m1', 8);
    await create('stays', { replicas: 4 }, gang(4));
    await placed('stays', { m1: 4 });
    await patch('stays', { spec: { placement: { clusterAffinity: { clusterNames: ['none'] } } } });
    expect(clustersOf(await held('stays', 'NoClusterFit'))).toEqual({ m1: 4 });
    await patch('stays', { spec: { placement: { clusterAffinity: { clusterNames: null } } } });
    await placed('stays', { m1: 4 });
    await client.ok('DELETE', `${CLUSTERS}/m1`);
    expect(clustersOf(await held('stays', 'NoClusterFit'))).toEqual({ m1: 4 });
    await addCluster('m2', 8);
    await placed('stays', { m2: 4 });
  });

  test('what is being evicted from goes elsewhere', async () => {
    await addCluster('m1', 8);
    await create('moves', { replicas: 4 }, gang(4));
    await placed('moves', { m1: 4 });
    await addCluster('m2', 8);
    await patch('moves', {
      spec: {
        clusters: null,
        gracefulEvictionTasks: [{ fromCluster: 'm1', reason: 'TaintUntolerated', producer: 'TaintManager' }],
      },
    });
    await placed('moves', { m2: 4 });
  });

  test('a quota that is exceeded: the condition says so, what runs stays, and it goes on when there is more', async () => {
    await addCluster('m1', 8);
    const exceeded = 'FederatedResourceQuota(default/q) exceeded for resource cpu: requested sum 2, limit 2.';
    let limit = 2;
    // As Karmada's webhook does, which counts what spec.clusters have; status is none of its business.
    const quota = await secondWebhook(client, 'quota', on.certificates.path, {
      label: 'quota',
      on: {
        apiGroups: ['work.karmada.io'],
        apiVersions: ['v1alpha2'],
        operations: ['CREATE', 'UPDATE'],
        resources: ['resourcebindings'],
      },
      answer: ({ uid, object }) => {
        const sum = Object.values(clustersOf(object as Binding)).reduce((all, one) => all + one, 0);
        const status = { code: 403, reason: 'QuotaExceeded', message: exceeded };
        const response = { uid, allowed: false, status };
        const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
        return sum <= limit ? {} : { body: JSON.stringify(review) };
      },
    });
    try {
      const labels = { ...LABELS, quota: 'yes' };
      const large = {
        metadata: { name: 'large', labels },
        spec: { clusters: [{ name: 'm1', replicas: 9 }] },
      };
      await until('the quota is asked', async () => {
        const made = { apiVersion: 'work.karmada.io/v1alpha2', kind: 'ResourceBinding', ...large };
        return (await client.request('POST', BINDINGS, made, { query: { dryRun: 'All' } })).status === 403;
      });
      await create('first', { replicas: 4 }, gang(4), labels);
      expect(await held('first', 'QuotaExceeded').then(clustersOf)).toEqual({});
      await create('grows', { replicas: 2 }, gang(2), labels);
      const { status: before } = await placed('grows', { m1: 2 });
      await patch('grows', { spec: { replicas: 4 } });
      const refused = await held('grows', 'QuotaExceeded');
      expect(clustersOf(refused)).toEqual({ m1: 2 });
      expect(scheduled(refused)).toMatchObject({
        status: 'False',
        message: `admission webhook "quota.example.com" denied the request: ${exceeded}`,
      });
      expect(refused.status?.schedulerObservedGeneration).toBe(before?.schedulerObservedGeneration);
      // What was refused takes no room: both fit.
      limit = 4;
      await setRoom('m1', 9);
      await placed('grows', { m1: 4 });
      await placed('first', { m1: 4 });
    } finally {
      await quota.close();
    }
  });

  test('suspended, another’s, or of no policy: left alone; let go, it is placed', async () => {
    await addCluster('m1', 8);
    await create('suspended', { replicas: 1, suspension: { scheduling: true } });
    await create('other', { replicas: 1, schedulerName: 'default-scheduler' });
    await create('unlabelled', { replicas: 1 }, {}, {});
    await create('mine', { replicas: 1 });
    await placed('mine', { m1: 1 });
    for (const name of ['suspended', 'other', 'unlabelled']) expect((await get(name)).status).toBeUndefined();
    await patch('suspended', { spec: { suspension: { scheduling: false } } });
    await placed('suspended', { m1: 1 });
  });

  test('of the cluster: a binding without a namespace, and one that is no workload goes everywhere', async () => {
    await addCluster('m1', 8);
    await client.ok('POST', CLUSTER_BINDINGS, {
      apiVersion: 'work.karmada.io/v1alpha2',
      kind: 'ClusterResourceBinding',
      metadata: { name: 'ns', labels: LABELS },
      spec: {
        schedulerName: 'muster',
        resource: { apiVersion: 'v1', kind: 'Namespace', name: 'ns' },
        placement: {},
      },
    });
    const names = async (): Promise<string[]> =>
      ((await client.ok<Binding>('GET', `${CLUSTER_BINDINGS}/ns`)).spec.clusters ?? []).map(
        ({ name }) => name,
      );
    await until('it is there', async () => (await names()).join() === 'm1');
    await addCluster('m2', 8);
    await until('it is in the new cluster, too', async () => (await names()).join() === 'm1,m2');
  });

  test('an unknown strategy, and a binding that cannot be read, say so', async () => {
    await addCluster('m1', 8);
    await create('unknown', { replicas: 1 }, { [STRATEGY]: 'best' });
    expect(scheduled(await held('unknown', 'SchedulerError'))?.message).toBe(
      'unknown strategy "best": there are cheapest-first, default, ending, gang-divided, gang-no-divided',
    );
    await create('wrong', { replicas: 4 }, gang('some'));
    expect(scheduled(await held('wrong', 'SchedulerError'))?.message).toMatch(
      /min-available.*"some" is not understood; write it as 8/,
    );
    await patch('wrong', { metadata: { annotations: { [LEAST]: '2' } } });
    await placed('wrong', { m1: 4 });
    await client.ok('PATCH', `${CLUSTERS}/m1/status`, {
      status: { resourceSummary: { allocatable: { cpu: 'many' } } },
    });
    await until('its log says so', () =>
      on.muster.log().some(({ msg }) => msg === 'a cluster says what cannot be counted, and counts as full'),
    );
  });

  test('strategies of modules: one places, one that ends its process holds its own bindings and nobody else’s', async () => {
    for (const [name, cpu] of [
      ['m1', 6],
      ['m2', 8],
      ['m3', 2],
    ] as const)
      await addCluster(name, cpu);
    // Clusters and bindings come by watches of their own, and what is placed before the last cluster is known stays.
    await create('larger', { replicas: 17 }, gang(17));
    await until('Muster knows what there is', async () =>
      /16 replicas.* 17 are needed/.test(scheduled(await get('larger'))?.message ?? ''),
    );
    await create('broken', { replicas: 1 }, gang(1, 'ending'));
    const { message } = scheduled(await held('broken', 'SchedulerError')) ?? {};
    expect(message).toContain(
      'strategy "ending" of plugin faulty gives no answer: it ended itself, with exit code 7',
    );
    await create('cheap', { replicas: 12 }, gang(8, 'cheapest-first'));
    await placed('cheap', { m3: 2, m2: 8, m1: 2 });
    for (const said of ['a strategy module wrote', 'a strategy module has ended, and its bindings wait'])
      await until(`its log has: ${said}`, () => on.muster.log().some(({ msg }) => msg === said));
  });

  test('without its rights it says so, and goes on once it has them', async () => {
    await addCluster('m1', 8);
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/muster-fleet-assigner';
    const { rules } = await client.ok<KubeObject & { rules: { verbs: string[] }[] }>('GET', role);
    await client.ok('PATCH', role, {
      rules: rules
        .map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'patch') }))
        .filter(({ verbs }) => verbs.length > 0),
    });
    await until('it may not', async () => {
      const { status } = await client.request('PATCH', `${BINDINGS}/none`, {}, { as: MUSTER_USER });
      return status === 403;
    });
    await create('early', { replicas: 2 });
    await until('its log says so', () =>
      on.muster
        .log()
        .some(
          ({ msg, err }) =>
            msg === 'a binding could not be written, trying again' &&
            /403 Forbidden.*manifests/.test(JSON.stringify(err)),
        ),
    );
    await client.ok('PATCH', role, { rules });
    await placed('early', { m1: 2 });
  });

  test('killed at any moment, under a detector that writes all the time: each is placed once, and stays', async () => {
    // The one that leads from then on asks estimators, and none of these clusters has one.
    for (const name of ['3', '4', '5']) await addCluster(name, 20);
    const names = Array.from({ length: 8 }, (_, index) => `many-${index}`);
    let ended = false;
    const detector = (async () => {
      for (let turn = 0; !ended; turn += 1) {
        const name = names[turn % names.length] ?? '';
        await patch(name, { spec: { resource: { resourceVersion: String(turn) } } }).catch(() => undefined);
      }
    })();
    for (const name of names) {
      await create(name, { replicas: 6 }, gang(4));
      if (name === 'many-3') {
        await on.muster.kill();
        await on.put(await on.start(await estimated()));
      }
    }
    const sums = async (): Promise<number[]> =>
      Promise.all(
        names.map(async (name) =>
          Object.values(clustersOf(await get(name))).reduce((all, one) => all + one, 0),
        ),
      );
    await until('all are placed', async () => (await sums()).every((sum) => sum === 6), { withinMs: 60_000 });
    ended = true;
    await detector;
    const total: Record<string, number> = {};
    for (const name of names)
      for (const [cluster, replicas] of Object.entries(clustersOf(await get(name))))
        total[cluster] = (total[cluster] ?? 0) + replicas;
    // No cluster has reported any of it: what was sent is counted all the same.
    expect(Math.max(...Object.values(total))).toBeLessThanOrEqual(20);
  });

  test('an estimator that knows of less room is heard, and who does not answer is told of', async () => {
    await addCluster('2', 20);
    await addCluster('3', 2);
    await create('waits', { replicas: 12 }, gang(10));
    await until('it says whose word is missing', async () =>
      /no available scheduling results: .*; no estimate of 3$/.test(
        scheduled(await get('waits'))?.message ?? '',
      ),
    );
    await create('less', { replicas: 12 }, gang(4));
    await placed('less', { '2': 7, '3': 2 });
    expect(estimator.asked.at(-1)?.request).toMatchObject({
      cluster: '2',
      replicaRequirements: { namespace: 'default', resourceRequestBytes: { cpu: { string: '1' } } },
    });
    await until('its log says so', () =>
      on.muster
        .log()
        .some(
          ({ msg, cluster, why }) =>
            msg === 'an estimator does not answer, and its cluster counts by its own status' &&
            cluster === '3' &&
            /UNAVAILABLE/.test(String(why)),
        ),
    );
    for (const result of ['answered', 'failed', 'resting'])
      expect(await metric(on.muster, `muster_fleet_estimates_total{result="${result}"}`)).toBeGreaterThan(0);
  });

  test('it ends in good order, and gives its Lease up', async () => {
    const lease = '/apis/coordination.k8s.io/v1/namespaces/muster-system/leases/muster-leader-election-fleet';
    const holder = async (): Promise<string> =>
      (await client.ok<KubeObject & { spec: { holderIdentity?: string } }>('GET', lease)).spec
        .holderIdentity ?? '';
    await until('somebody leads', holder);
    expect(await on.muster.terminate()).toBe(0);
    expect(on.muster.log().map(({ msg }) => msg)).toContain("the fleet's loop has ended");
    expect(await holder()).toBe('');
    // Events are counted as those of gangs are; the rights of Muster's account are tried with them.
    await untilEachIsUsed(on.plane, 'karmada/assigner', (right) => right.startsWith('patch events'));
  });
});
