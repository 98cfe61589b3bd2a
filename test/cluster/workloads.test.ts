/** Plain workloads whose Pods ask for a gang by one label, with the controllers and the scheduler of a real cluster. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { manifestsIn } from '../support/manifests.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import { gatesOf, type Gang, type Pod } from './support/gang-objects.ts';
import { GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';

const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
const SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`;
const MERGE = { contentType: 'application/merge-patch+json' };
const AT_ONCE = { query: { propagationPolicy: 'Background' } };

type Made = Gang & {
  metadata: {
    uid: string;
    annotations?: Record<string, string>;
    ownerReferences?: { kind: string; name: string }[];
  };
  status?: { phase?: string };
};

const template = (labels: object = {}, annotations: object = {}): object => ({
  metadata: { labels: { 'muster.dev/gang': 'true', ...KUBE, ...labels }, annotations },
  spec: {
    restartPolicy: 'Never',
    // No kubelet ends them here.
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'example/train:1', resources: { requests: { cpu: '100m' } } }],
  },
});
const job = (name: string, pods: number, spec: object = {}): KubeObject =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name },
    spec: { parallelism: pods, completions: pods, template: template(), ...spec },
  }) as unknown as KubeObject;

clusterSuite('a workload with the label muster.dev/gang', () => {
  let cluster: GangCluster;
  const gang = async (name: string): Promise<Made | undefined> => {
    const { status, body } = await cluster.client.request('GET', `${GANGS}/${name}`);
    return status === 404 ? undefined : (body as unknown as Made);
  };
  const made = (name: string): Promise<Made> => until(`PodGang ${name} is made`, () => gang(name));
  const untilGone = (name: string): Promise<unknown> =>
    until(`PodGang ${name} is gone`, async () => (await gang(name)) === undefined);
  const untilPhase = (name: string, phase: string): Promise<unknown> =>
    until(`${name} is ${phase}`, async () => (await gang(name))?.status?.phase === phase);
  const finish = async (name: string, phase: string, count = Infinity): Promise<void> => {
    const pods = await cluster.podsOf(name);
    for (const pod of pods.slice(0, count)) {
      await cluster.client.ok('PATCH', `${PODS}/${pod.metadata.name}/status`, { status: { phase } }, MERGE);
    }
  };
  const minimums = async (name: string): Promise<number[]> =>
    (await made(name)).spec.podgroups.map(({ minReplicas }) => minReplicas);
  const patch = (path: string, body: object): Promise<unknown> =>
    cluster.client.ok('PATCH', path, body, MERGE);
  /** What keeps it is told where it comes to nothing. */
  const untilBound = (name: string, count: number): Promise<unknown> =>
    cluster.untilBound(name, count).catch(async (error: unknown) => {
      const { why, pods } = await cluster.status(name);
      throw new Error(`${String(error)}: ${why} ${JSON.stringify(pods)}`, { cause: error });
    });
  const create = (path: string, object: KubeObject): Promise<unknown> =>
    cluster.client.ok('POST', path, object);

  beforeAll(async () => {
    cluster = await GangCluster.start({ webhooks: true });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  test('Job: its Pods start together, it succeeds, and its gang goes with it', async () => {
    await create(JOBS, job('train', 3));
    const { metadata, spec } = await made('job-train');
    expect(metadata.annotations?.['muster.dev/workload']).toBe('job/train');
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Job', name: 'train' }]);
    expect(spec.podgroups).toMatchObject([{ name: 'main', minReplicas: 3 }]);
    await untilBound('job-train', 3);
    expect(cluster.history.ungatedEarly()).toEqual([]);
    // Some are done before the others: nothing is missing of the gang.
    await finish('job-train', 'Succeeded', 1);
    await cluster.untilCondition('job-train', 'Unhealthy', { status: 'False' });
    await finish('job-train', 'Succeeded');
    await untilPhase('job-train', 'Succeeded');
    expect(await cluster.condition('job-train', 'Unhealthy')).toMatchObject({
      status: 'False',
      reason: 'WorkloadEnded',
    });
    await cluster.client.ok('DELETE', `${JOBS}/train`, undefined, AT_ONCE);
    await untilGone('job-train');
  }, 120_000);

  test('Job: it waits while a Pod is missing, and a later Job of its name is another gang', async () => {
    // No more of its Pods are let in than two.
    await until('no Pod is there', async () => {
      const { items } = await cluster.client.ok<{ items: unknown[] }>('GET', PODS);
      return items.length === 0;
    });
    const quotas = `/api/v1/namespaces/${NAMESPACE}/resourcequotas`;
    const metadata = { name: 'two' };
    await create(quotas, {
      ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata },
      spec: { hard: { 'count/pods': '2' } },
    } as KubeObject);
    await until('the quota counts', async () => {
      const { status } = await cluster.client.ok<{ status?: { used?: object } }>('GET', `${quotas}/two`);
      return status?.used !== undefined;
    });
    await create(JOBS, job('short', 3));
    const first = await made('job-short');
    await cluster.untilCondition('job-short', 'Initialized', { status: 'False' });
    expect((await cluster.podsOf('job-short')).every((pod: Pod) => gatesOf(pod).length === 1)).toBe(true);
    await cluster.client.ok('DELETE', `${JOBS}/short`, undefined, AT_ONCE);
    await cluster.client.ok('DELETE', `${quotas}/two`);
    // At once, so that its Pods name the former's PodGroup before that has gone.
    await create(JOBS, job('short', 2));
    await until('another gang of the same name has formed', async () => {
      const now = await gang('job-short');
      return now !== undefined && now.metadata.uid !== first.metadata.uid;
    });
    await untilBound('job-short', 2);
    expect(cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('an Indexed Job that is suspended gives its gang back, and has a new one once it goes on', async () => {
    await create(JOBS, job('paused', 2, { completionMode: 'Indexed' }));
    await untilBound('job-paused', 2);
    const { metadata } = await made('job-paused');
    await patch(`${JOBS}/paused`, { spec: { suspend: true } });
    await untilGone('job-paused');
    await patch(`${JOBS}/paused`, { spec: { suspend: false } });
    await untilBound('job-paused', 2);
    expect((await made('job-paused')).metadata.uid).not.toBe(metadata.uid);
    expect(cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('StatefulSet: its gang grows and shrinks with it', async () => {
    const pods = { ...template({ app: 'db' }) } as { spec: object };
    const set = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db' },
      spec: {
        replicas: 2,
        serviceName: 'db',
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: { app: 'db' } },
        template: { ...pods, spec: { ...pods.spec, restartPolicy: 'Always' } },
      },
    };
    await create(SETS, set as unknown as KubeObject);
    await untilBound('statefulset-db', 2);
    await patch(`${SETS}/db`, { spec: { replicas: 3 } });
    await untilBound('statefulset-db', 3);
    await until('the minimum has grown', async () => (await minimums('statefulset-db'))[0] === 3);
    await patch(`${SETS}/db`, { spec: { replicas: 1 } });
    await until('the minimum has shrunk', async () => (await minimums('statefulset-db'))[0] === 1);
    await cluster.untilCondition('statefulset-db', 'Unhealthy', { status: 'False' });
  }, 120_000);

  test('Deployment: each revision is a gang', async () => {
    const pods = { ...template({ app: 'web' }) } as { spec: object };
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`;
    await create(path, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 2,
        strategy: { type: 'Recreate' },
        selector: { matchLabels: { app: 'web' } },
        template: { ...pods, spec: { ...pods.spec, restartPolicy: 'Always' } },
      },
    } as unknown as KubeObject);
    const gangs = async (): Promise<string[]> =>
      (await cluster.client.ok<{ items: Made[] }>('GET', GANGS)).items
        .filter(({ metadata }) => metadata.name.startsWith('replicaset-web-'))
        .map(({ metadata }) => metadata.name);
    const [first = ''] = await until('its gang is made', async () => {
      const found = await gangs();
      return found.length === 1 && found;
    });
    await untilBound(first, 2);
    await patch(`${path}/web`, { spec: { template: { metadata: { annotations: { version: '2' } } } } });
    // That of the former revision has no Pods to run any more.
    const [second = ''] = await until('the new revision has one of its own', async () => {
      const found = await gangs();
      return found.length === 1 && found[0] !== first && found;
    });
    await untilBound(second, 2);
  }, 120_000);

  test('a PodGang that somebody wrote is used as it is', async () => {
    await cluster.createGang('job-mine', [{ name: 'main', minReplicas: 2, podReferences: [] }]);
    const written = await cluster.gang('job-mine');
    await create(JOBS, job('mine', 2));
    await untilBound('job-mine', 2);
    const after = (await made('job-mine')).metadata;
    expect(after.uid).toBe(written.metadata.uid);
    expect(after.ownerReferences).toBeUndefined();
    expect(after.annotations?.['muster.dev/workload']).toBeUndefined();
  }, 120_000);

  test('where nobody may read the workload it says so, and goes by muster.dev/gang-size', async () => {
    const ofJobSet = async (name: string, role: string, annotations = {}): Promise<void> => {
      const { metadata, spec } = template({}, annotations) as Pod & { metadata: { labels: object } };
      const owner = `${name}-${role}-0`;
      const { uid } = (await cluster.client.ok('GET', `${JOBS}/${owner}`)).metadata;
      const controller = { apiVersion: 'batch/v1', kind: 'Job', name: owner, uid, controller: true };
      await create(PODS, {
        ...{ apiVersion: 'v1', kind: 'Pod' },
        metadata: {
          generateName: `${owner}-`,
          annotations,
          labels: {
            ...metadata.labels,
            'jobset.sigs.k8s.io/jobset-name': name,
            'jobset.sigs.k8s.io/replicatedjob-name': role,
            'jobset.sigs.k8s.io/job-index': '0',
          },
          ownerReferences: [controller],
        },
        spec,
      } as unknown as KubeObject);
    };
    for (const name of ['unread-leader-0', 'sized-leader-0', 'sized-worker-0'])
      await create(JOBS, job(name, 1, { suspend: true }));
    const size = { 'muster.dev/gang-size': 'leader=1,worker=2' };
    await ofJobSet('unread', 'leader');
    const [pod] = await cluster.podsOf('jobset-unread');
    const event = await cluster.untilEvent('Pod', pod?.metadata.name ?? '', 'WorkloadUnreadable');
    expect(event.note).toContain('jobsets cannot be read');
    for (const role of ['leader', 'worker', 'worker']) await ofJobSet('sized', role, size);
    await untilBound('jobset-sized', 3);
    expect((await made('jobset-sized')).spec.podgroups).toMatchObject([
      { name: 'leader', minReplicas: 1 },
      { name: 'worker', minReplicas: 2 },
    ]);
    expect(cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('a kind of somebody else’s: what is wrong is said, and once it is right the gang is made', async () => {
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'pytorchjobs.kubeflow.org' },
      spec: {
        group: 'kubeflow.org',
        scope: 'Namespaced',
        names: { kind: 'PyTorchJob', plural: 'pytorchjobs', singular: 'pytorchjob' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    };
    const component = await manifestsIn('components/workloads');
    await applyAll(cluster.client, [...component, definition]);
    await untilEstablished(cluster.client, [definition]);
    const path = `/apis/kubeflow.org/v1/namespaces/${NAMESPACE}/pytorchjobs`;
    const replicas = (count: number): object => ({ replicas: count, template: template() });
    const minimum = (minAvailable: number): object => ({ runPolicy: { schedulingPolicy: { minAvailable } } });
    await create(path, {
      ...{ apiVersion: 'kubeflow.org/v1', kind: 'PyTorchJob', metadata: { name: 'bert' } },
      spec: { pytorchReplicaSpecs: { Master: replicas(1), Worker: replicas(2) }, ...minimum(9) },
    } as unknown as KubeObject);
    const { uid } = (await cluster.client.ok('GET', `${path}/bert`)).metadata;
    for (const [index, role] of ['master', 'worker', 'worker'].entries()) {
      const { metadata, spec } = template() as { metadata: { labels: object }; spec: object };
      const labels = {
        ...metadata.labels,
        'training.kubeflow.org/job-name': 'bert',
        'training.kubeflow.org/replica-type': role,
      };
      const controller = {
        apiVersion: 'kubeflow.org/v1',
        kind: 'PyTorchJob',
        name: 'bert',
        uid,
        controller: true,
      };
      await create(PODS, {
        ...{ apiVersion: 'v1', kind: 'Pod', spec },
        metadata: { name: `bert-${index}`, labels, ownerReferences: [controller] },
      } as unknown as KubeObject);
    }
    const event = await until('what is wrong is said', async () => {
      const all = await Promise.all([0, 1, 2].map((index) => cluster.events('Pod', `bert-${index}`)));
      return all.flat().find(({ reason }) => reason === 'WorkloadInvalid');
    });
    expect(event.note).toContain('a minimum of 9 is more than there are Pods (3)');
    await patch(`${path}/bert`, { spec: minimum(3) });
    await untilBound('pytorchjob-bert', 3);
    expect((await made('pytorchjob-bert')).spec.podgroups.map(({ name }) => name)).toEqual([
      'master',
      'worker',
    ]);
  }, 120_000);

  test('what cannot be written is tried again, and told', async () => {
    const quotas = `/api/v1/namespaces/${NAMESPACE}/resourcequotas`;
    const { items } = await cluster.client.ok<{ items: unknown[] }>('GET', GANGS);
    const count = 'count/podgangs.scheduler.grove.io';
    await create(quotas, {
      ...{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'no-gang' } },
      spec: { hard: { [count]: '0' } },
    } as KubeObject);
    await until('the quota counts', async () => {
      const { status } = await cluster.client.ok<{ status?: { used?: Record<string, string> } }>(
        'GET',
        `${quotas}/no-gang`,
      );
      return status?.used?.[count] === String(items.length);
    });
    await create(JOBS, job('late', 1));
    await until('it says so', () =>
      cluster.muster
        .log()
        .some((line) => line['msg'] === 'the gang of a workload was not dealt with, trying again'),
    );
    await cluster.client.ok('DELETE', `${quotas}/no-gang`);
    await untilBound('job-late', 1);
  }, 120_000);
});
