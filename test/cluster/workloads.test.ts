/** Plain workloads whose Pods ask for a gang by one label, with the controllers and the scheduler of a real cluster. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeObject } from './control-plane/client.ts';
import { clusterSuite } from './control-plane/suite.ts';
import { until } from './control-plane/until.ts';
import { manifestsIn } from '../support/manifests.ts';
import { inLength } from '../support/length.ts';
import { example, examples } from '../support/workloads-page.ts';
import { MUSTER_USER } from '../../src/api/names.ts';
import { applyAll, untilEstablished } from './support/apply.ts';
import { requestsOf } from './support/audited.ts';
import { GangCluster, KUBE } from './support/gang-cluster.ts';
import {
  JOB_SETS,
  LEADER_WORKER_SETS,
  MPI_JOBS,
  PYTORCH_JOBS,
  RAY_CLUSTERS,
  RAY_JOBS,
  RAY_SERVICES,
  TRAINERS,
  TRAINING_RUNTIMES,
} from './support/crds/workloads.ts';
import { untilEachIsUsed } from './support/granted.ts';
import { gatesOf, type Gang, type Pod } from './support/gang-objects.ts';
import { HAS_POD_GROUPS } from './support/native-gangs.ts';
import { DRY_RUN, GANGS, NAMESPACE, PODS } from './support/registered-muster.ts';
import { secondWebhook } from './support/second-webhook.ts';

const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
const SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`;
/** Of kinds that others bring. */
const DEFINITIONS = [
  JOB_SETS,
  LEADER_WORKER_SETS,
  RAY_CLUSTERS,
  RAY_JOBS,
  RAY_SERVICES,
  TRAINING_RUNTIMES,
  PYTORCH_JOBS,
  MPI_JOBS,
  TRAINERS,
];

const MERGE = { contentType: 'application/merge-patch+json' };
const AT_ONCE = { query: { propagationPolicy: 'Background' } };

type Made = Gang & {
  metadata: {
    uid: string;
    annotations?: Record<string, string>;
    ownerReferences?: { apiVersion: string; kind: string; name: string }[];
  };
  status?: { phase?: string };
};

type Labelled = Pod & { metadata: { labels: Record<string, string> } };

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

type StatefulSet = KubeObject & { spec: { template: { spec: object } } };

/** Of Pods that are made all at once. */
const statefulSet = (name: string, spec: object): StatefulSet => {
  const pods = { ...template({ app: name }) } as { spec: object };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name },
    spec: {
      ...{ serviceName: name, podManagementPolicy: 'Parallel', selector: { matchLabels: { app: name } } },
      template: { ...pods, spec: { ...pods.spec, restartPolicy: 'Always' } },
      ...spec,
    },
  } as unknown as StatefulSet;
};

/** The same replicated job under a second name as well. */
const twice = (spec: object): object[] => {
  const { replicatedJobs } = spec as { replicatedJobs: object[] };
  return [...replicatedJobs, { ...replicatedJobs[0], name: 'second' }];
};

clusterSuite('a workload with the label muster.dev/gang', () => {
  let cluster: GangCluster;
  const gang = async (name: string): Promise<Made | undefined> => {
    const { status, body } = await cluster.client.request('GET', `${GANGS}/${name}`);
    return status === 404 ? undefined : (body as unknown as Made);
  };
  const made = (name: string): Promise<Made> => until(`PodGang ${name} is made`, () => gang(name));
  /** The garbage collector looks for new definitions every 30 seconds. */
  const untilGone = (name: string): Promise<unknown> =>
    until(`PodGang ${name} is gone`, async () => (await gang(name)) === undefined, { withinMs: 90_000 });
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
  const expectRefused = async (path: string, object: object, why: string): Promise<void> => {
    const { status, body } = await cluster.client.request('POST', path, object);
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(why)]);
  };
  /** An owner reference to what was stored there. */
  const controllerAt = async (path: string): Promise<object> => {
    const { apiVersion, kind, metadata } = await cluster.client.ok<KubeObject>('GET', path);
    return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
  };
  /** Pods as an operator makes them that controls them itself. */
  const controlled = async (
    workload: string,
    pods: readonly (readonly [string, Record<string, string>])[],
  ): Promise<void> => {
    const controller = await controllerAt(workload);
    for (const [name, labels] of pods) {
      const { metadata, spec } = template(labels) as Pod;
      await create(PODS, {
        ...{ apiVersion: 'v1', kind: 'Pod', spec },
        metadata: { ...metadata, name, ownerReferences: [controller] },
      } as unknown as KubeObject);
    }
  };
  const groupsOf = async (name: string): Promise<string[]> =>
    (await made(name)).spec.podgroups.map((one) => `${one.name} ${one.minReplicas}`);

  beforeAll(async () => {
    const { workloads } = example('configuration');
    cluster = await GangCluster.start({ webhooks: true, settings: { workloads } });
    await applyAll(cluster.client, DEFINITIONS as never);
    await untilEstablished(cluster.client, DEFINITIONS as never);
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  test('Job: its Pods start together, it succeeds, and its gang goes with it', async () => {
    await create(JOBS, job('train', 3));
    const { metadata, spec } = await made('job-train');
    expect(metadata.annotations?.['muster.dev/workload']).toBe('job/train');
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Job', name: 'train' }]);
    expect(spec.podgroups).toMatchObject([{ name: 'main', minReplicas: 3 }]);
    await untilBound('job-train', 3);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
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
    // What the quota refused makes the Job controller wait, twice as long each time, and also with a Job of the same name.
    const BACK_OFF = { withinMs: 120_000 };
    await until(
      'another gang of the same name has formed',
      async () => {
        const now = await gang('job-short');
        return now !== undefined && now.metadata.uid !== first.metadata.uid;
      },
      BACK_OFF,
    );
    await untilBound('job-short', 2);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 240_000);

  test('Job: what is retried is let go at once, and where it gives up its gang has failed', async () => {
    await create(JOBS, job('retried', 2, { backoffLimit: 1 }));
    await untilBound('job-retried', 2);
    const { metadata } = await made('job-retried');
    await finish('job-retried', 'Failed', 1);
    await until('the next Pod is bound', async () => {
      const pods = await cluster.podsOf('job-retried');
      return pods.filter(({ spec }) => spec.nodeName !== undefined).length === 3;
    });
    expect((await made('job-retried')).metadata.uid).toBe(metadata.uid);
    await finish('job-retried', 'Failed');
    await untilPhase('job-retried', 'Failed');
    expect(await cluster.condition('job-retried', 'Unhealthy')).toMatchObject({
      status: 'False',
      reason: 'WorkloadEnded',
    });
  }, 120_000);

  test('CronJob: each run is a gang of its own, and all go with it', async () => {
    const CRONJOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/cronjobs`;
    const jobTemplate = { spec: { parallelism: 2, completions: 2, backoffLimit: 0, template: template() } };
    const schedule = inLength({ short: '0 3 1 1 *', long: '* * * * *' });
    await create(CRONJOBS, {
      ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'nightly' } },
      spec: { schedule, jobTemplate },
    } as unknown as KubeObject);
    const controller = await controllerAt(`${CRONJOBS}/nightly`);
    // As `kubectl create job --from=cronjob/nightly` makes it.
    const run = (name: string): Promise<unknown> =>
      create(JOBS, {
        ...{ apiVersion: 'batch/v1', kind: 'Job', spec: jobTemplate.spec },
        metadata: {
          name,
          annotations: { 'cronjob.kubernetes.io/instantiate': 'manual' },
          ownerReferences: [controller],
        },
      } as unknown as KubeObject);
    for (const name of ['nightly-one', 'nightly-two']) await run(name);
    for (const name of ['job-nightly-one', 'job-nightly-two']) await untilBound(name, 2);
    const [one, two] = [await made('job-nightly-one'), await made('job-nightly-two')];
    expect(one.metadata.annotations?.['muster.dev/workload']).toBe('job/nightly-one');
    expect(one.metadata.uid).not.toBe(two.metadata.uid);
    await finish('job-nightly-one', 'Succeeded');
    await finish('job-nightly-two', 'Failed', 1);
    await untilPhase('job-nightly-one', 'Succeeded');
    await untilPhase('job-nightly-two', 'Failed');
    const runs = async (): Promise<string[]> =>
      (await cluster.client.ok<{ items: Made[] }>('GET', GANGS)).items
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith('job-nightly-'));
    const least = inLength({ short: 2, long: 3 });
    await until('its own runs are gangs', async () => (await runs()).length >= least, { withinMs: 120_000 });
    await cluster.client.ok('DELETE', `${CRONJOBS}/nightly`, undefined, AT_ONCE);
    await until('no gang of it is left', async () => (await runs()).length === 0);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 240_000);

  test('an Indexed Job that is suspended gives its gang back, and has a new one once it goes on', async () => {
    // As Kueue has it: suspended from the beginning, and let go when there is room.
    await create(JOBS, job('paused', 2, { completionMode: 'Indexed', suspend: true }));
    await until('its controller has seen it', async () => {
      const { body } = await cluster.client.request<{ status?: { conditions?: unknown[] } }>(
        'GET',
        `${JOBS}/paused`,
      );
      return (body.status?.conditions ?? []).length > 0;
    });
    expect(await gang('job-paused')).toBeUndefined();
    await patch(`${JOBS}/paused`, { spec: { suspend: false } });
    await untilBound('job-paused', 2);
    const { metadata } = await made('job-paused');
    await patch(`${JOBS}/paused`, { spec: { suspend: true } });
    await untilGone('job-paused');
    await patch(`${JOBS}/paused`, { spec: { suspend: false } });
    await untilBound('job-paused', 2);
    expect((await made('job-paused')).metadata.uid).not.toBe(metadata.uid);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('an Indexed Job that has given an index up is a gang of the others once it goes on', async () => {
    await create(JOBS, job('given-up', 3, { completionMode: 'Indexed', backoffLimitPerIndex: 0 }));
    await untilBound('job-given-up', 3);
    await finish('job-given-up', 'Failed', 1);
    await until('its controller has given it up', async () => {
      const { status } = await cluster.client.ok<{ status?: { failedIndexes?: string } }>(
        'GET',
        `${JOBS}/given-up`,
      );
      return (status?.failedIndexes ?? '') !== '';
    });
    await patch(`${JOBS}/given-up`, { spec: { suspend: true } });
    await untilGone('job-given-up');
    await patch(`${JOBS}/given-up`, { spec: { suspend: false } });
    // With the one that has failed.
    await untilBound('job-given-up', 3);
    expect(await minimums('job-given-up')).toEqual([2]);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('StatefulSet: its gang grows and shrinks with it', async () => {
    const set = statefulSet('db', { replicas: 2 });
    await create(SETS, set);
    await untilBound('statefulset-db', 2);
    await patch(`${SETS}/db`, { spec: { replicas: 3 } });
    await untilBound('statefulset-db', 3);
    await until('the minimum has grown', async () => (await minimums('statefulset-db'))[0] === 3);
    await patch(`${SETS}/db`, { spec: { replicas: 1 } });
    await until('the minimum has shrunk', async () => (await minimums('statefulset-db'))[0] === 1);
    await cluster.untilCondition('statefulset-db', 'Unhealthy', { status: 'False' });
    // Made again under its name, at once, and held by somebody else besides.
    const { metadata } = await made('statefulset-db');
    await cluster.client.ok('DELETE', `${SETS}/db`, undefined, AT_ONCE);
    const gates = [{ name: 'kueue.x-k8s.io/admission' }];
    const again = { ...set.spec.template, spec: { ...set.spec.template.spec, schedulingGates: gates } };
    await create(SETS, { ...set, spec: { ...set.spec, template: again } });
    await until('another gang has formed, and its Pods have the other gate alone', async () => {
      const now = await gang('statefulset-db');
      const pods = await cluster.podsOf('statefulset-db');
      const held = pods.filter((pod) => gatesOf(pod).join() === 'kueue.x-k8s.io/admission');
      return now !== undefined && now.metadata.uid !== metadata.uid && held.length === 2;
    });
    for (const pod of await cluster.podsOf('statefulset-db'))
      await patch(`${PODS}/${pod.metadata.name}`, { spec: { schedulingGates: null } });
    await untilBound('statefulset-db', 2);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('StatefulSet: what becomes of its gang when somebody takes a part of it away', async () => {
    const set = statefulSet('kept', { replicas: 2, updateStrategy: { type: 'OnDelete' } });
    const uids = async (): Promise<unknown[]> =>
      (await cluster.podsOf('statefulset-kept')).map(({ metadata }) => metadata.uid).sort();
    const another = (former: Made): Promise<Made> =>
      until('another PodGang is made', async () => {
        const found = await gang('statefulset-kept');
        return found !== undefined && found.metadata.uid !== former.metadata.uid && found;
      });
    const replacePods = async (): Promise<void> => {
      for (const name of ['kept-0', 'kept-1']) await cluster.removePod(name);
    };
    await create(SETS, set);
    await untilBound('statefulset-kept', 2);
    const [first, pods] = [await made('statefulset-kept'), await uids()];
    // The PodGang alone.
    await cluster.removeGang('statefulset-kept');
    const second = await another(first);
    if (HAS_POD_GROUPS) {
      await until('it says what keeps its PodGroup', async () => {
        // At first it may be the Workload that it waits for.
        const { message } = await cluster.untilCondition('statefulset-kept', 'Initialized', {
          status: 'False',
        });
        return /PodGroup \S+ is of an earlier PodGang of that name.*Pods that name it keep it/.test(message);
      });
    } else await cluster.untilCondition('statefulset-kept', 'Initialized', { status: 'True' });
    expect(await uids()).toEqual(pods);
    // The StatefulSet without its Pods, and then one that takes them.
    await cluster.client.ok('DELETE', `${SETS}/kept`, undefined, { query: { propagationPolicy: 'Orphan' } });
    await until('the StatefulSet is gone', async () => {
      const { status } = await cluster.client.request('GET', `${SETS}/kept`);
      return status === 404;
    });
    await untilGone('statefulset-kept');
    await create(SETS, set);
    await another(second);
    expect(await uids()).toEqual(pods);
    // Its Pods, of which the new ones are a gang once the former are gone.
    await replacePods();
    await untilBound('statefulset-kept', 2);
    expect(await uids()).not.toEqual(pods);
    await cluster.untilCondition('statefulset-kept', 'Initialized', { status: 'True' });
    // The label, and then the Pods that have it.
    await patch(`${SETS}/kept`, {
      spec: { template: { metadata: { labels: { 'muster.dev/gang': null } } } },
    });
    await cluster.life('meanwhile-kept');
    expect(await gang('statefulset-kept')).toBeDefined();
    await replacePods();
    await untilGone('statefulset-kept');
    expect(await cluster.history.ungatedEarly()).toEqual([]);
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
    // Rolled so that the next one comes as a whole, beside that which serves meanwhile.
    const ready = async (name: string): Promise<void> => {
      for (const pod of await cluster.podsOf(name)) await cluster.kubelet(pod.metadata.name, 'Running', true);
    };
    await ready(second);
    await patch(`${path}/web`, {
      spec: {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } },
        template: { metadata: { annotations: { version: '3' } } },
      },
    });
    const third = await until('the next revision has one of its own', async () =>
      (await gangs()).find((name) => name !== first && name !== second),
    );
    await untilBound(third, 2);
    expect(await groupsOf(third)).toEqual(['main 2']);
    expect((await cluster.podsOf(second)).length).toBe(2);
    await ready(third);
    await untilGone(second);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
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
    // Nobody's: the Job controller takes its owner reference off Pods that its selector does not match.
    for (const name of ['unread-leader-0', 'sized-leader-0', 'sized-worker-0'])
      await create(JOBS, job(name, 1, { managedBy: 'example.com/nobody' }));
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
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 120_000);

  test('a kind of somebody else’s: what is wrong is said, and once it is right the gang is made', async () => {
    const component = await manifestsIn('components/workloads');
    await applyAll(cluster.client, component);
    const path = `/apis/kubeflow.org/v1/namespaces/${NAMESPACE}/pytorchjobs`;
    const replicas = (count: number): object => ({ replicas: count, template: template() });
    const minimum = (minAvailable: number): object => ({ runPolicy: { schedulingPolicy: { minAvailable } } });
    const wrong = {
      ...{ apiVersion: 'kubeflow.org/v1', kind: 'PyTorchJob', metadata: { name: 'bert' } },
      spec: { pytorchReplicaSpecs: { Master: replicas(1), Worker: replicas(2) }, ...minimum(9) },
    } as unknown as KubeObject;
    // The webhook would refuse it; where Muster was away it is there.
    const configuration = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/muster';
    const { webhooks } = await cluster.client.ok<{ webhooks: { name: string }[] }>('GET', configuration);
    await patch(configuration, { webhooks: webhooks.filter(({ name }) => name !== 'workloads.muster.dev') });
    await until(
      'nobody is asked about workloads',
      async () => (await cluster.client.request('POST', path, wrong, DRY_RUN)).status === 201,
    );
    await create(path, wrong);
    await patch(configuration, { webhooks });
    await controlled(
      `${path}/bert`,
      ['master', 'worker', 'worker'].map((role, index) => [
        `bert-${index}`,
        // https://www.kubeflow.org/docs/components/trainer/legacy-v1/ (pkg/apis/kubeflow.org/v1/common_types.go)
        { 'training.kubeflow.org/job-name': 'bert', 'training.kubeflow.org/replica-type': role },
      ]),
    );
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

  test('MPIJob of the newer operator: its version, its launcher that is a Job, its workers’ label', async () => {
    const path = `/apis/kubeflow.org/v2beta1/namespaces/${NAMESPACE}/mpijobs`;
    const replicas = (count: number): object => ({ replicas: count, template: template() });
    await create(path, {
      ...{ apiVersion: 'kubeflow.org/v2beta1', kind: 'MPIJob', metadata: { name: 'hpl' } },
      spec: { mpiReplicaSpecs: { Launcher: replicas(1), Worker: replicas(2) } },
    } as unknown as KubeObject);
    // defaultLabels in pkg/controller/mpi_job_controller.go of https://github.com/kubeflow/mpi-operator
    const role = (name: string): Record<string, string> => ({
      'training.kubeflow.org/operator-name': 'mpi-operator',
      'training.kubeflow.org/job-name': 'hpl',
      'training.kubeflow.org/job-role': name,
    });
    await controlled(
      `${path}/hpl`,
      [0, 1].map((index) => [`hpl-worker-${index}`, role('worker')]),
    );
    expect(await groupsOf('mpijob-hpl')).toEqual(['launcher 1', 'worker 2']);
    const launcher = job('hpl-launcher', 1, { template: template(role('launcher')) });
    await create(JOBS, {
      ...launcher,
      metadata: { ...launcher.metadata, ownerReferences: [await controllerAt(`${path}/hpl`)] },
    } as unknown as KubeObject);
    await untilBound('mpijob-hpl', 3);
    expect((await made('mpijob-hpl')).metadata.ownerReferences).toMatchObject([
      { apiVersion: 'kubeflow.org/v2beta1', kind: 'MPIJob', name: 'hpl' },
    ]);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
    await cluster.client.ok('DELETE', `${path}/hpl`, undefined, AT_ONCE);
    await untilGone('mpijob-hpl');
  }, 180_000);

  test('JobSet: one gang of all its Jobs, with a group for each replicated job', async () => {
    const path = `/apis/jobset.x-k8s.io/v1alpha2/namespaces/${NAMESPACE}/jobsets`;
    const set = example('jobset') as unknown as { metadata: { name: string } };
    await create(path, { ...set, metadata: { name: 'mesh' } } as unknown as KubeObject);
    const controller = (await controllerAt(`${path}/mesh`)) as { uid: string };
    // What its controller writes on Jobs and Pods: https://jobset.sigs.k8s.io/docs/concepts/#jobset-labels
    const childOf = (role: string, index: number): Promise<unknown> => {
      const pods = role === 'leader' ? 1 : 2;
      const labels = {
        'jobset.sigs.k8s.io/jobset-name': 'mesh',
        'jobset.sigs.k8s.io/jobset-uid': controller.uid,
        'jobset.sigs.k8s.io/replicatedjob-name': role,
        'jobset.sigs.k8s.io/job-index': String(index),
      };
      const made = job(`mesh-${role}-${index}`, pods, {
        completionMode: 'Indexed',
        template: template(labels),
      });
      return create(JOBS, {
        ...made,
        metadata: { ...made.metadata, labels, ownerReferences: [controller] },
      } as unknown as KubeObject);
    };
    await childOf('leader', 0);
    await childOf('worker', 0);
    // Its kind could not be read before, and nobody asks for it again at once.
    await until('its PodGang is made', () => gang('jobset-mesh'), { withinMs: 90_000 });
    expect(await groupsOf('jobset-mesh')).toEqual(['leader 1', 'worker 4']);
    await cluster.untilCondition('jobset-mesh', 'Initialized', { status: 'False' });
    expect((await cluster.podsOf('jobset-mesh')).every((pod) => gatesOf(pod).length === 1)).toBe(true);
    await childOf('worker', 1);
    await untilBound('jobset-mesh', 5);
    expect((await made('jobset-mesh')).metadata.ownerReferences).toMatchObject([
      { kind: 'JobSet', name: 'mesh' },
    ]);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
    await cluster.client.ok('DELETE', `${path}/mesh`, undefined, AT_ONCE);
    await untilGone('jobset-mesh');
  }, 180_000);

  test('LeaderWorkerSet: a label that its webhook writes after Muster was asked is waited for', async () => {
    const path = `/apis/leaderworkerset.x-k8s.io/v1/namespaces/${NAMESPACE}/leaderworkersets`;
    const set = example('leaderworkerset');
    await create(path, set as unknown as KubeObject);
    // https://lws.sigs.k8s.io/docs/reference/labels-annotations-and-environment-variables/
    const NAME = 'leaderworkerset.sigs.k8s.io/name';
    const INDEX = 'leaderworkerset.sigs.k8s.io/group-index';
    const statefulSet = (
      name: string,
      replicas: number,
      labels: object,
      controller: object,
      spec: object = {},
    ): KubeObject => {
      const pods = template({ ...labels, set: name, 'zz-lws': 'yes' }) as { spec: object };
      return {
        ...{ apiVersion: 'apps/v1', kind: 'StatefulSet' },
        metadata: { name, labels, ownerReferences: [controller] },
        spec: {
          ...{ replicas, serviceName: name, podManagementPolicy: 'Parallel' },
          selector: { matchLabels: { set: name } },
          template: { ...pods, spec: { ...pods.spec, restartPolicy: 'Always' } },
          ...spec,
        },
      } as unknown as KubeObject;
    };
    // Its webhook takes the group of a leader from the Pod's name (pkg/webhooks/pod_webhook.go); workers have it already.
    const labels = await secondWebhook(cluster.client, 'zz-lws', cluster.certificates, {
      answer: ({ object }) => {
        const { name, labels: given } = (object as Labelled).metadata;
        const value = /-(\d+)$/.exec(name)?.[1] ?? '';
        const at = `/metadata/labels/${INDEX.replace('/', '~1')}`;
        return given[INDEX] === undefined ? { patch: [{ op: 'add', path: at, value }] } : {};
      },
    });
    // Nobody guesses where nobody says it: such a Pod is refused, and named where it is said.
    await create(SETS, statefulSet('vllm', 1, { [NAME]: 'vllm' }, await controllerAt(`${path}/vllm`)));
    // A leader controls the set of its workers, which its operator makes once the leader is stored.
    await until('the leader is stored', async () => {
      const { status } = await cluster.client.request('GET', `${PODS}/vllm-0`);
      return status === 200;
    });
    const leader = await controllerAt(`${PODS}/vllm-0`);
    await create(
      SETS,
      statefulSet('vllm-0', 3, { [NAME]: 'vllm', [INDEX]: '0' }, leader, { ordinals: { start: 1 } }),
    );
    await until('its PodGang is made', () => gang('lws-vllm--0'), { withinMs: 90_000 });
    await untilBound('lws-vllm--0', 4);
    expect(await groupsOf('lws-vllm--0')).toEqual(['leader 1', 'worker 3']);
    const pods = (await cluster.podsOf('lws-vllm--0')) as readonly Labelled[];
    expect(
      pods.map(({ metadata }) => `${metadata.name} ${metadata.labels['grove.io/podclique']}`).sort(),
    ).toEqual(['vllm-0 leader', 'vllm-0-1 worker', 'vllm-0-2 worker', 'vllm-0-3 worker']);
    expect(await cluster.history.ungatedEarly()).toEqual([]);
    await labels.close();
    const { metadata, spec } = template({ [NAME]: 'vllm' }) as Labelled;
    const owner = await controllerAt(`${SETS}/vllm`);
    const refused = await until('the webhook is not asked any more', async () => {
      const { status, body } = await cluster.client.request<{ message: string }>('POST', PODS, {
        ...{ apiVersion: 'v1', kind: 'Pod', spec },
        metadata: {
          ...metadata,
          name: 'vllm-1',
          labels: { ...metadata.labels, 'zz-lws': 'yes' },
          ownerReferences: [owner],
        },
      });
      return status === 403 && body.message;
    });
    expect(refused).toContain(`${INDEX} is missing`);
  }, 180_000);

  test.each([
    ['ray', 'RayCluster'],
    ['tune-x7k2p', 'RayCluster of a RayJob'],
  ])(
    '%s, a %s: head and workers start together',
    async (name, kind) => {
      const path = (plural: string): string => `/apis/ray.io/v1/namespaces/${NAMESPACE}/${plural}`;
      const run = example('rayjob') as unknown as { spec: { rayClusterSpec: object } };
      if (kind === 'RayCluster') await create(path('rayclusters'), example('raycluster') as never);
      else {
        await create(path('rayjobs'), run as never);
        // constructRayClusterForRayJob in ray-operator/controllers/ray/rayjob_controller.go of kuberay
        await create(path('rayclusters'), {
          ...{ apiVersion: 'ray.io/v1', kind: 'RayCluster', spec: run.spec.rayClusterSpec },
          metadata: { name, ownerReferences: [await controllerAt(`${path('rayjobs')}/tune`)] },
        } as unknown as KubeObject);
      }
      // labelPod in ray-operator/controllers/ray/common/pod.go of https://github.com/ray-project/kuberay
      const ray = (type: string, group: string): Record<string, string> => ({
        'ray.io/cluster': name,
        'ray.io/node-type': type,
        'ray.io/group': group,
      });
      const workers = ['a', 'b', 'c'].map((end) => [`${name}-gpu-${end}`, ray('worker', 'gpu')] as const);
      const gangOf = `raycluster-${name}`;
      await controlled(`${path('rayclusters')}/${name}`, [[`${name}-head`, ray('head', 'headgroup')]]);
      expect(await groupsOf(gangOf)).toEqual(['ray-head 1', 'gpu 3']);
      await cluster.untilCondition(gangOf, 'Initialized', { status: 'False' });
      await controlled(`${path('rayclusters')}/${name}`, workers);
      await untilBound(gangOf, 4);
      expect(await cluster.history.ungatedEarly()).toEqual([]);
      if (kind === 'RayCluster') return;
      await cluster.client.ok('DELETE', `${path('rayjobs')}/tune`, undefined, AT_ONCE);
      await untilGone(gangOf);
    },
    180_000,
  );

  test('a kind that the configuration tells of: without the right it says so, and with it all is as with any', async () => {
    const path = `/apis/example.com/v1/namespaces/${NAMESPACE}/trainers`;
    await create(path, example('trainer') as unknown as KubeObject);
    const trainer = (role: string): Record<string, string> => ({
      'example.com/trainer': 'bert',
      'example.com/role': role,
    });
    await controlled(`${path}/bert`, [['bert-driver', trainer('driver')]]);
    const event = await cluster.untilEvent('Pod', 'bert-driver', 'WorkloadUnreadable');
    expect(event.note).toContain('trainers cannot be read (Muster may not list them)');
    const rights = examples('rights');
    await applyAll(cluster.client, rights as never);
    await until('its PodGang is made', () => gang('trainer-bert'), { withinMs: 90_000 });
    expect(await groupsOf('trainer-bert')).toEqual(['driver 1', 'worker 3']);
    await controlled(
      `${path}/bert`,
      [0, 1, 2, 3].map((index) => [`bert-worker-${index}`, trainer('worker')]),
    );
    await untilBound('trainer-bert', 5);
    expect((await cluster.status('trainer-bert')).pods.map(({ state }) => state)).not.toContain('gated');
    const { metadata } = await made('trainer-bert');
    expect(metadata.annotations).toMatchObject({
      'muster.dev/workload': 'trainer/bert',
      'muster.dev/expected-pods': 'worker=4',
    });
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'Trainer', name: 'bert' }]);
    // Taken out of the configuration and put back: what runs goes on, what is incomplete waits, and who comes is told why.
    await create(path, { ...example('trainer'), metadata: { name: 'half' } } as unknown as KubeObject);
    const ofHalf = (role: string): Record<string, string> => ({
      'example.com/trainer': 'half',
      'example.com/role': role,
    });
    await controlled(`${path}/half`, [['half-driver', ofHalf('driver')]]);
    await made('trainer-half');
    const before = await cluster.gang('trainer-bert');
    await cluster.restart({ workloads: [] });
    await create(JOBS, job('meanwhile-told', 1));
    await untilBound('job-meanwhile-told', 1);
    const later = controlled(`${path}/half`, [['half-worker-0', ofHalf('worker')]]);
    await expect(later).rejects.toThrow(/example\.com\/v1 Trainer half controls this Pod.*workloads\[\]/);
    expect((await cluster.gang('trainer-bert')).spec).toEqual(before.spec);
    await cluster.untilCondition('trainer-bert', 'Unhealthy', { status: 'False' });
    expect((await cluster.podsOf('trainer-half')).every((pod) => gatesOf(pod).length === 1)).toBe(true);
    await cluster.restart({ workloads: example('configuration')['workloads'] });
    await controlled(
      `${path}/half`,
      [0, 1, 2, 3].map((index) => [`half-worker-${index}`, ofHalf('worker')]),
    );
    await untilBound('trainer-half', 5);
    // Nobody asked for it over and over while that was of no use.
    const asked = (await requestsOf(cluster.plane, MUSTER_USER)).filter(
      ({ resource, status }) => resource === 'trainers.example.com' && status === 403,
    );
    expect(asked.length).toBeLessThan(12);
    await patch(`${path}/bert/status`, { status: { phase: 'Succeeded' } });
    await untilPhase('trainer-bert', 'Succeeded');
    expect(await cluster.history.ungatedEarly()).toEqual([]);
  }, 180_000);

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

  test('a workload that cannot be a gang is refused itself, while Muster is there to say so', async () => {
    const pods = { ...template({ app: 'x' }) } as { spec: object };
    const always = { ...pods, spec: { ...pods.spec, restartPolicy: 'Always' } };
    const selector = { matchLabels: { app: 'x' } };
    const set = (name: string, spec: object = {}): object => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name },
      spec: { replicas: 2, serviceName: name, selector, template: always, ...spec },
    });
    const refused = await until('Muster is asked about StatefulSets', async () => {
      const answer = await cluster.client.request('POST', SETS, set('ordered'), DRY_RUN);
      return answer.status !== 201 && answer;
    });
    expect([refused.status, (refused.body as { message?: string }).message]).toEqual([
      422,
      expect.stringMatching(
        /workloads\.muster\.dev.*StatefulSet ordered: spec\.podManagementPolicy: .*"OrderedReady".*podManagementPolicy: Parallel/,
      ),
    ]);
    const daemons = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
    const each = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'each' } };
    await expectRefused(daemons, { ...each, spec: { selector, template: always } }, 'GangWorkloadUnknown');
    // Without the label it is nobody's business, until the label comes.
    const plain = { ...always, metadata: { labels: { app: 'x' } } };
    const unlabelled = await cluster.client.request('POST', SETS, set('plain', { template: plain }));
    expect([unlabelled.status, unlabelled.warnings]).toEqual([201, []]);
    const labels = { template: { metadata: { labels: { 'muster.dev/gang': 'true' } } } };
    const late = await cluster.client.request('PATCH', `${SETS}/plain`, { spec: labels }, MERGE);
    expect([late.status, JSON.stringify(late.body)]).toEqual([422, expect.stringContaining('PodsOneByOne')]);
    const flat = { podManagementPolicy: 'Parallel', template: plain };
    await cluster.client.ok('POST', SETS, set('flat', flat));
    const rolled = await cluster.client.request('PATCH', `${SETS}/flat`, { spec: labels }, MERGE);
    expect([rolled.status, JSON.stringify(rolled.body)]).toEqual([
      422,
      expect.stringContaining('spec.updateStrategy: '),
    ]);
    const byHand = { spec: { ...labels, updateStrategy: { type: 'OnDelete', rollingUpdate: null } } };
    const told = await cluster.client.request('PATCH', `${SETS}/flat`, byHand, { ...MERGE, ...DRY_RUN });
    expect([told.status, told.warnings]).toEqual([
      200,
      [expect.stringContaining('the gang waits for as many new ones')],
    ]);
    // A list and a map of templates, in the terms of the condition.
    const cron = await cluster.client.request(
      'POST',
      `/apis/batch/v1/namespaces/${NAMESPACE}/cronjobs`,
      {
        ...{ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'nightly' } },
        spec: {
          schedule: '0 3 * * *',
          jobTemplate: { spec: { parallelism: 3, completions: 2, template: template() } },
        },
      },
      DRY_RUN,
    );
    expect([cron.status, cron.warnings]).toEqual([
      201,
      [expect.stringContaining('spec.jobTemplate.spec.parallelism: 3 is above completions')],
    ]);
    // What was to be a gang and is none: on the workload, in a list, as an annotation, misspelt.
    const onSet = {
      ...set('flat-too', flat),
      metadata: { name: 'flat-too', labels: { 'muster.dev/gang': 'true' } },
    };
    expect((await cluster.client.request('POST', SETS, onSet, DRY_RUN)).warnings).toEqual([
      expect.stringContaining('metadata.labels[muster.dev/gang]: muster.dev/gang: the workload has it'),
    ]);
    const labelled = { metadata: { labels: { 'muster.dev/gang': 'true' } } };
    const relabelled = await cluster.client.request('PATCH', `${SETS}/flat`, labelled, {
      ...MERGE,
      ...DRY_RUN,
    });
    expect([relabelled.status, relabelled.warnings]).toEqual([
      200,
      [expect.stringContaining('[LabelOnWorkload]')],
    ]);
    const role = {
      replicas: 1,
      template: { ...plain, metadata: { annotations: { 'muster.dev/gnag': 'true' } } },
    };
    const roles = { apiVersion: 'kubeflow.org/v1', kind: 'PyTorchJob', metadata: { name: 'slip' } };
    const slip = await cluster.client.request(
      'POST',
      `/apis/kubeflow.org/v1/namespaces/${NAMESPACE}/pytorchjobs`,
      { ...roles, spec: { pytorchReplicaSpecs: { Worker: role } } },
      DRY_RUN,
    );
    expect([slip.status, slip.warnings]).toEqual([
      201,
      [expect.stringContaining('did you mean "muster.dev/gang"?')],
    ]);
    await expectRefused(
      `/apis/kubeflow.org/v1/namespaces/${NAMESPACE}/pytorchjobs`,
      {
        ...{ apiVersion: 'kubeflow.org/v1', kind: 'PyTorchJob', metadata: { name: 'elastic' } },
        spec: {
          elasticPolicy: { minReplicas: 3 },
          pytorchReplicaSpecs: { Worker: { replicas: 2, template: template() } },
        },
      },
      'GangNumbersInvalid',
    );
    await expectRefused(
      `/apis/ray.io/v1/namespaces/${NAMESPACE}/rayjobs`,
      {
        ...{ apiVersion: 'ray.io/v1', kind: 'RayJob', metadata: { name: 'odd' } },
        spec: {
          rayClusterSpec: {
            headGroupSpec: {},
            workerGroupSpecs: [{ groupName: 'gpu', replicas: -1, template: template() }],
          },
        },
      },
      'spec.rayClusterSpec.workerGroupSpecs[0].replicas',
    );
    await expectRefused(
      `/apis/ray.io/v1/namespaces/${NAMESPACE}/rayservices`,
      {
        ...{ apiVersion: 'ray.io/v1', kind: 'RayService', metadata: { name: 'odd' } },
        spec: {
          rayClusterConfig: {
            headGroupSpec: {},
            workerGroupSpecs: [{ groupName: 'gpu', replicas: -1, template: template() }],
          },
        },
      },
      'spec.rayClusterConfig.workerGroupSpecs[0].replicas',
    );
    const runtime = example('runtime') as { spec: { template: { spec: object } } };
    const { spec: jobs } = runtime.spec.template;
    const inOrder = { ...jobs, startupPolicy: { startupPolicyOrder: 'InOrder' } };
    await expectRefused(
      '/apis/trainer.kubeflow.org/v1alpha1/clustertrainingruntimes',
      {
        ...runtime,
        spec: { template: { spec: { ...inOrder, replicatedJobs: twice(inOrder) } } },
      },
      'spec.template.spec.startupPolicy',
    );
    const placed = { 'leaderworkerset.sigs.k8s.io/exclusive-topology': 'rack' };
    const { metadata: named, ...vllm } = example('leaderworkerset') as { metadata: object };
    await expectRefused(
      `/apis/leaderworkerset.x-k8s.io/v1/namespaces/${NAMESPACE}/leaderworkersets`,
      { ...vllm, metadata: { ...named, name: 'placed', annotations: placed } },
      'PodsOneByOne',
    );
    const N = 8;
    const usual = await cluster.client.request('POST', JOBS, job('usual', N));
    expect([usual.status, usual.warnings]).toEqual([201, []]);
    await untilBound('job-usual', N);
    // A gang of N costs N + 3 writes until its last gate is off; one status more where Muster looks before all Pods are there.
    const written = (await requestsOf(cluster.plane, MUSTER_USER)).flatMap(({ verb, resource, name }) => {
      const what = `${verb} ${resource.replace('.scheduler.grove.io', '')}`;
      const own = resource === 'pods' ? name.startsWith('usual-') : name === 'job-usual';
      return own && /^(create|update|patch) po(ds|dgangs)/.test(what) ? [what] : [];
    });
    const before = written.slice(0, written.lastIndexOf('patch pods') + 1);
    expect(before.filter((what) => what !== 'patch podgangs/status').toSorted()).toEqual([
      'create podgangs',
      'patch podgangs',
      ...Array.from({ length: N }, () => 'patch pods'),
    ]);
    expect([N + 3, N + 4]).toContain(before.length);
    // It only helps: nobody waits for it.
    await cluster.muster.kill();
    for (const [path, object] of [
      [JOBS, job('meanwhile', 2)],
      [SETS, set('ordered')],
    ] as const) {
      expect((await cluster.client.request('POST', path, object)).status).toBe(201);
    }
  }, 120_000);

  test('each right of its component is used, of the kinds that the cluster has', async () => {
    await cluster.muster.terminate();
    const there = DEFINITIONS.map(({ metadata }) => metadata.name);
    await untilEachIsUsed(
      cluster.plane,
      'components/workloads',
      (right) => !there.some((name) => right.endsWith(` ${name}`)),
    );
  }, 90_000);
});
