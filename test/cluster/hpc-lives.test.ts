/**
 * Plain workloads whose templates name an HPCPolicy, from their first start on: scaled, replaced and restarted by the
 * controllers of a real cluster, while Muster is there and while it is not.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { manifestsIn } from '../support/manifests.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { JOB_SETS, LEADER_WORKER_SETS, TRAIN_JOBS } from './support/crds/workloads.ts';
import { GangCluster } from './support/gang-cluster.ts';
import { indexedJob, podTemplate, statefulSet } from './support/hpc-workloads.ts';
import { GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';
import { policiesInForce } from './support/policies-in-force.ts';

const POLICIES = `/apis/muster.dev/v1alpha1/namespaces/${NAMESPACE}/hpcpolicies`;
const SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`;
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
const MERGE = { contentType: 'application/merge-patch+json' };
const HOSTS = 'muster.dev/hosts';
const START = ['/bin/bash', '/etc/flux-config/entrypoint.sh', '--', 'lmp'];
/** The garbage collector looks for new definitions every 30 seconds. */
const COLLECTED = { withinMs: 150_000 };

type Stored = KubeObject & {
  metadata: { uid: string; resourceVersion: string; annotations?: Record<string, string> };
};
type HpcPod = Stored & {
  spec: { nodeName?: string; hostname: string; subdomain: string; containers: { command: string[] }[] };
};

clusterSuite('the life of a plain workload with an HPCPolicy', () => {
  let cluster: GangCluster;
  const core = (what: string): string => `/api/v1/namespaces/${NAMESPACE}/${what}`;
  const create = (path: string, object: object): Promise<Stored> =>
    cluster.client.ok<Stored>('POST', path, object);
  const get = (path: string): Promise<Stored> => cluster.client.ok<Stored>('GET', path);
  const createService = (name: string): Promise<Stored> =>
    create(core('services'), {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name } },
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: { a: 'b' } },
    });
  const scale = (set: string, replicas: number): Promise<unknown> =>
    cluster.client.ok('PATCH', `${SETS}/${set}`, { spec: { replicas } }, MERGE);
  const podsOf = async (gang: string): Promise<readonly HpcPod[]> =>
    (await cluster.podsOf(gang)) as unknown as readonly HpcPod[];
  /** What Flux is told of a gang. */
  const told = async (gang: string): Promise<Record<string, string>> =>
    (
      await cluster.client.ok<{ data: Record<string, string> }>(
        'GET',
        core(`configmaps/${gang}-flux-entrypoint`),
      )
    ).data;
  const untilPrepared = async (
    gang: string,
    hosts: readonly string[],
    subdomain = gang,
    policy = 'flux',
  ): Promise<void> => {
    await until(
      `${hosts.join()} of ${gang} are bound`,
      async () => {
        const pods = await podsOf(gang);
        if (pods.length === hosts.length && pods.every(({ spec }) => spec.nodeName !== undefined))
          return true;
        throw new Error(JSON.stringify(await cluster.status(gang)));
      },
      COLLECTED,
    );
    const pods = await podsOf(gang);
    expect(pods.map(({ spec }) => spec.hostname).sort()).toEqual(hosts);
    for (const pod of pods) {
      expect(pod.metadata.annotations?.['muster.dev/prepared']).toMatch(RegExp(`^${policy}@[0-9a-f]{8}$`));
      expect(pod.spec).toMatchObject({ subdomain, containers: [{ command: START }] });
    }
  };
  const versions = (paths: readonly string[]): Promise<readonly string[]> =>
    Promise.all(
      paths.map(async (path) => {
        const { uid, resourceVersion } = (await get(path)).metadata;
        return `${path} ${uid} ${resourceVersion}`;
      }),
    );
  const objectsOf = (gang: string): string[] => [
    core(`configmaps/${gang}-flux-entrypoint`),
    core(`secrets/${gang}-flux-curve`),
  ];
  const untilTold = (name: string, what: string): Promise<unknown> =>
    until(`an Event of ${name} says ${what}`, async () => {
      const path = core(`events?fieldSelector=involvedObject.name=${name}`);
      return JSON.stringify(await cluster.client.ok('GET', path)).includes(what);
    });
  /** Its controller, which waits longer after each refusal, looks at it at once. */
  const retried = (name: string): Promise<unknown> =>
    cluster.client.ok('PATCH', `${JOBS}/${name}`, { metadata: { annotations: { look: 'now' } } }, MERGE);
  const removed = async (name: string): Promise<void> => {
    const { uid } = (await get(`${PODS}/${name}`)).metadata;
    await cluster.removePod(name);
    await until(`${name} is followed`, async () => (await get(`${PODS}/${name}`)).metadata.uid !== uid);
  };

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true, settings: { hpc: { enabled: true } } });
    await policiesInForce(cluster.client);
    const definitions = [JOB_SETS, LEADER_WORKER_SETS, TRAIN_JOBS] as never;
    await applyAll(cluster.client, definitions);
    await untilEstablished(cluster.client, definitions);
    await applyAll(cluster.client, await manifestsIn('components/workloads'));
    await create(POLICIES, {
      ...{ apiVersion: 'muster.dev/v1alpha1', kind: 'HPCPolicy', metadata: { name: 'flux' } },
      spec: { hpc: { settings: {} } },
    });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  test('StatefulSet: it starts, a Pod is replaced, it is scaled within its hosts, and beyond them after it was away', async () => {
    const gang = 'statefulset-crew';
    await create(SETS, statefulSet('crew', 3));
    await until('its Service is missed', async () =>
      (await cluster.status(gang)).why.includes('there is no Service crew'),
    );
    expect((await podsOf(gang)).every(({ spec }) => spec.nodeName === undefined)).toBe(true);
    await createService('crew');
    await untilPrepared(gang, ['crew-0', 'crew-1', 'crew-2'], 'crew');
    expect(await told(gang)).toMatchObject({ hostlist: 'crew-[0-2]\n', quorum: '3\n' });
    for (const name of ['crew-0', 'crew-1', 'crew-2']) await cluster.kubelet(name, 'Running', true);
    await until('it runs', async () => (await cluster.gang(gang)).status?.phase === 'Running');

    // Another process, which remembers nothing, writes nothing of what runs.
    const pods = ['crew-0', 'crew-1', 'crew-2'].map((name) => `${PODS}/${name}`);
    const all = [...objectsOf(gang), ...pods, `${GANGS}/${gang}`];
    const before = await versions(all);
    await cluster.restart();
    await cluster.life('meanwhile');
    expect(await versions(all)).toEqual(before);

    const more = { metadata: { annotations: { [HOSTS]: 'main=crew-[0-4]' } } };
    await expect(cluster.client.ok('PATCH', `${GANGS}/${gang}`, more, MERGE)).rejects.toThrow(
      /annotations\[muster\.dev\/hosts\]: Forbidden: .*now main=crew-\[0-4\]\); delete its Pods first; scale a workload to 0.*HpcHostsFixed/,
    );
    const made = await versions(objectsOf(gang));
    const lead = await versions([`${PODS}/crew-0`]);
    await removed('crew-1');
    await untilPrepared(gang, ['crew-0', 'crew-1', 'crew-2'], 'crew');
    expect(await versions(objectsOf(gang))).toEqual(made);

    await scale('crew', 2);
    await until('its minimum follows', async () => (await told(gang))['quorum'] === '2\n');
    await untilPrepared(gang, ['crew-0', 'crew-1'], 'crew');
    await scale('crew', 3);
    await untilPrepared(gang, ['crew-0', 'crew-1', 'crew-2'], 'crew');
    await until('its minimum follows', async () => (await told(gang))['quorum'] === '3\n');
    expect(await told(gang)).toMatchObject({ hostlist: 'crew-[0-2]\n' });

    // Those that run know no more hosts; they are replaced all the same.
    await scale('crew', 5);
    await untilTold('crew', 'HpcHostUnlisted');
    await removed('crew-1');
    await untilPrepared(gang, ['crew-0', 'crew-1', 'crew-2'], 'crew');
    expect(await told(gang)).toMatchObject({ hostlist: 'crew-[0-2]\n', quorum: '3\n' });
    expect(await versions([`${PODS}/crew-0`])).toEqual(lead);

    await scale('crew', 0);
    const { uid } = (await get(`${GANGS}/${gang}`)).metadata;
    await until('its gang is gone', async () => {
      const { status, body } = await cluster.client.request('GET', `${GANGS}/${gang}`);
      return status === 404 || (body as unknown as Stored).metadata.uid !== uid;
    });
    await scale('crew', 5);
    await untilPrepared(gang, ['crew-0', 'crew-1', 'crew-2', 'crew-3', 'crew-4'], 'crew');
    expect(await told(gang)).toMatchObject({ hostlist: 'crew-[0-4]\n', quorum: '5\n' });
  }, 400_000);

  test('Indexed Job: a Pod that failed is replaced under its host, and nothing else changes', async () => {
    await create(JOBS, indexedJob('retry', 3));
    const hosts = ['retry-0', 'retry-1', 'retry-2'];
    await untilPrepared('job-retry', hosts);
    const made = await versions(objectsOf('job-retry'));
    const failed = (await podsOf('job-retry')).find(({ spec }) => spec.hostname === 'retry-1');
    await cluster.kubelet(failed?.metadata.name ?? '', 'Failed', false);
    await untilPrepared('job-retry', [...hosts, 'retry-1'].sort());
    expect(await versions(objectsOf('job-retry'))).toEqual(made);
    expect(await told('job-retry')).toMatchObject({ hostlist: 'retry-[0-2]\n', quorum: '3\n' });
  }, 180_000);

  test('what is created while Muster is away has no Pods until it is back; a policy that comes later is waited for', async () => {
    await cluster.muster.kill();
    const later = indexedJob('later', 2, { template: podTemplate({}, {}, 'later') });
    await create(JOBS, indexedJob('away', 2));
    await create(JOBS, later);
    await untilTold('away', 'failed calling webhook');
    expect((await cluster.client.ok<{ items: Stored[] }>('GET', PODS)).items).not.toEqual(
      expect.arrayContaining([
        expect.objectContaining({ metadata: expect.objectContaining({ generateName: 'away-0-' }) }),
      ]),
    );
    await cluster.restart();
    await retried('away');
    await untilPrepared('job-away', ['away-0', 'away-1']);
    expect(await told('job-away')).toMatchObject({ hostlist: 'away-[0-1]\n' });
    await untilTold('later', 'HpcPolicyMissing');
    await create(POLICIES, {
      ...{ apiVersion: 'muster.dev/v1alpha1', kind: 'HPCPolicy', metadata: { name: 'later' } },
      spec: { hpc: { settings: {} } },
    });
    await retried('later');
    await untilPrepared('job-later', ['later-0', 'later-1'], 'job-later', 'later');
    expect(await told('job-later')).toMatchObject({ hostlist: 'later-[0-1]\n' });
  }, 240_000);

  test('TrainJob: the Jobs of its JobSet are a gang of its name', async () => {
    const trainer = '/apis/trainer.kubeflow.org/v1alpha1';
    const owned = async (path: string, object: KubeObject): Promise<object> => {
      const { uid } = (await create(path, object)).metadata;
      const { apiVersion, kind } = object;
      return { apiVersion, kind, uid, name: object.metadata.name, controller: true };
    };
    const trainJob = await owned(`${trainer}/namespaces/${NAMESPACE}/trainjobs`, {
      ...{ apiVersion: 'trainer.kubeflow.org/v1alpha1', kind: 'TrainJob', metadata: { name: 'gpt' } },
      spec: { runtimeRef: { name: 'torch-gang' }, trainer: { numNodes: 2 } },
    } as unknown as KubeObject);
    const node = {
      spec: { completionMode: 'Indexed', completions: 2, parallelism: 2, template: podTemplate() },
    };
    const jobSet = await owned(`/apis/jobset.x-k8s.io/v1alpha2/namespaces/${NAMESPACE}/jobsets`, {
      ...{ apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet' },
      metadata: { name: 'gpt', ownerReferences: [trainJob] },
      spec: { replicatedJobs: [{ name: 'node', replicas: 1, template: node }] },
    } as unknown as KubeObject);
    await createService('gpt');
    const labels = {
      'jobset.sigs.k8s.io/jobset-name': 'gpt',
      'jobset.sigs.k8s.io/jobset-uid': (jobSet as { uid: string }).uid,
      'jobset.sigs.k8s.io/replicatedjob-name': 'node',
      'jobset.sigs.k8s.io/job-index': '0',
    };
    const spec = { template: podTemplate(labels, { subdomain: 'gpt' }) };
    await create(JOBS, indexedJob('gpt-node-0', 2, spec, { ownerReferences: [jobSet] }));
    await untilPrepared('jobset-gpt', ['gpt-node-0-0', 'gpt-node-0-1'], 'gpt');
    expect((await get(`${GANGS}/jobset-gpt`)).metadata.annotations?.[HOSTS]).toBe('node=gpt-node-0-[0-1]');
    expect(await told('jobset-gpt')).toMatchObject({ hostlist: 'gpt-node-0-[0-1]\n' });
  }, 120_000);
});
