/** The operations of Karmada's interpreter protocol, through a client that checks and patches as Karmada's does. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { interpreterEndpoint } from '../../../src/fleet/interpreter-endpoint.ts';
import { operations } from '../../../src/fleet/operations.ts';
import { withoutLists } from '../../../src/json/unread-lists.ts';
import { unreadOf } from '../../../src/server/request-body.ts';
import { kindsWith } from '../../../src/workloads/configured-kinds.ts';
import { workloadKinds } from '../../../src/workloads/kinds.ts';
import { deployment, template, volcanoJob, workload } from '../workloads/made-workloads.ts';
import { handled, answerTo, contextOf, readAnswer, type Answer, type Question } from './karmada-client.ts';

const endpoint = interpreterEndpoint(workloadKinds, () => undefined);

function ask(operation: string, object: JsonObject, more: Partial<Question> = {}): Answer {
  const question = { operation, object, ...more };
  const body = contextOf('6f2c', question);
  return readAnswer('6f2c', question, answerTo(endpoint, body));
}

const job = volcanoJob({
  minAvailable: 3,
  tasks: [
    { name: 'master', replicas: 1, minAvailable: 1, template: template({ cpu: '1' }) },
    {
      name: 'worker',
      replicas: 4,
      minAvailable: 2,
      template: {
        spec: {
          containers: [
            {
              name: 'c',
              resources: { requests: { cpu: '8', 'nvidia.com/gpu': '4' } },
              envFrom: [{ configMapRef: { name: 'hp' } }],
            },
          ],
        },
      },
    },
  ],
});

describe('InterpretComponent', () => {
  test('components with their numbers, never with their minimums', () => {
    expect(ask('InterpretComponent', job).components).toEqual([
      { name: 'master', replicas: 1, replicaRequirements: { resourceRequest: { cpu: '1' } } },
      {
        name: 'worker',
        replicas: 4,
        replicaRequirements: { resourceRequest: { cpu: '8', 'nvidia.com/gpu': '4' } },
      },
    ]);
    expect(ask('InterpretComponent', volcanoJob({})).components).toEqual([]);
  });

  test('what Karmada stores: names of at most 32, unique, in the order of the workload', () => {
    const long = 'prefill-workers-of-the-very-large-model';
    const tasks = [`${long}-a`, `${long}-b`, 'x', 'x'].map((name) => ({ name }));
    const names = ask('InterpretComponent', volcanoJob({ tasks })).components?.map(({ name }) => name) ?? [];
    expect(new Set(names).size).toBe(4);
    expect(Math.max(...names.map((name) => name.length))).toBeLessThanOrEqual(32);
    expect(ask('InterpretComponent', volcanoJob({ tasks })).components?.map(({ name }) => name)).toEqual(
      names,
    );
  });
});

describe('InterpretReplica', () => {
  test('of one template: its number and requirement, with the namespace', () => {
    const { replicas, replicaRequirements } = ask(
      'InterpretReplica',
      deployment({ replicas: 5, template: template({ cpu: '1' }) }),
    );
    expect([replicas, replicaRequirements]).toEqual([5, { resourceRequest: { cpu: '1' }, namespace: 'ml' }]);
    expect(ask('InterpretReplica', deployment({ replicas: 0 }))).not.toHaveProperty('replicaRequirements');
  });

  test('of several: all Pods, each with the most that any needs; where they may go only if they agree', () => {
    expect(ask('InterpretReplica', job)).toMatchObject({
      replicas: 5,
      replicaRequirements: { resourceRequest: { cpu: '8', 'nvidia.com/gpu': '4' } },
    });
    const on = (name: string, zone: string, replicas = 1) => ({
      name,
      replicas,
      template: template({ memory: '1Gi' }, { nodeSelector: { zone } }),
    });
    const claimOf = (...tasks: JsonObject[]) =>
      ask('InterpretReplica', volcanoJob({ tasks })).replicaRequirements?.['nodeClaim'];
    expect(claimOf(on('a', 'z1'), on('b', 'z1'))).toEqual({ nodeSelector: { zone: 'z1' } });
    expect(claimOf(on('a', 'z1'), on('b', 'z2'))).toBeUndefined();
    expect(claimOf(on('a', 'z1'), on('b', 'z2', 0))).toEqual({ nodeSelector: { zone: 'z1' } });
  });
});

describe('ReviseReplica', () => {
  test('0 of a kind with several templates changes nothing: Karmada asks so for every cluster', () => {
    const one = volcanoJob({ tasks: [{ name: 'w', replicas: 4 }] });
    for (const object of [job, one, volcanoJob({})])
      expect(ask('ReviseReplica', object, { replicas: 0 }).object).toEqual(object);
    expect(ask('ReviseReplica', job, { replicas: 5 }).object).toEqual(job);
  });

  test('of several templates one number does not say of which: refused, with the way out', () => {
    expect(ask('ReviseReplica', job, { replicas: 3 })).toMatchObject({
      successful: false,
      status: {
        code: 422,
        message: expect.stringMatching(
          /2 templates cannot be cut to 3 Pods.*minGroups 1.*\[WORKLOAD_SCALE\]/,
        ) as unknown,
      },
    });
  });

  test('of one template: its number, and a minimum no larger; missing parents are made', () => {
    const revised = (object: JsonObject, replicas: number): unknown =>
      ask('ReviseReplica', object, { replicas }).object?.['spec'];
    expect(revised(deployment({ replicas: 4, template: {} }), 2)).toEqual({ replicas: 2, template: {} });
    expect(revised(deployment({ replicas: 4 }), 0)).toEqual({ replicas: 0 });
    expect(revised({ apiVersion: 'apps/v1', kind: 'Deployment' }, 7)).toEqual({ replicas: 7 });
    const shard = volcanoJob({ minAvailable: 6, tasks: [{ name: 'w', replicas: 8, minAvailable: 6 }] });
    expect(revised(shard, 3)).toEqual({
      minAvailable: 3,
      tasks: [{ name: 'w', replicas: 3, minAvailable: 3 }],
    });
  });

  test('a number in any other operation means nothing', () => {
    for (const operation of ['InterpretReplica', 'InterpretComponent', 'Retain', 'InterpretHealth'])
      expect(ask(operation, job, { replicas: 99 })).toEqual(ask(operation, job));
  });
});

describe('InterpretHealth', () => {
  const state = (phase: string) => volcanoJob({ tasks: [] }, { status: { state: { phase } } });
  const condition = (type: string, status: string) => ({ conditions: [{ type, status }] });
  test.each<readonly [string, JsonObject, boolean]>([
    ['a job that nobody has run yet', job, true],
    ['one that waits', state('Pending'), true],
    ['one that failed', state('Failed'), false],
    [
      'a training job that failed',
      workload('kubeflow.org/v1', 'PyTorchJob', {}, { status: condition('Failed', 'True') }),
      false,
    ],
    [
      'one that did not',
      workload('kubeflow.org/v1', 'PyTorchJob', {}, { status: condition('Failed', 'False') }),
      true,
    ],
    [
      'a gang that lost Pods',
      workload('scheduler.grove.io/v1alpha1', 'PodGang', {}, { status: condition('Unhealthy', 'True') }),
      false,
    ],
    [
      'a Ray job that failed',
      workload('ray.io/v1', 'RayJob', {}, { status: { jobStatus: 'FAILED' } }),
      false,
    ],
    ['a Deployment without status', deployment({ replicas: 1 }), false],
    ['one that wants nothing', deployment({ replicas: 0 }), true],
    [
      'one whose Pods are there',
      deployment({ replicas: 2 }, { status: { updatedReplicas: 2, availableReplicas: 2 } }),
      true,
    ],
    [
      'one whose controller has not seen the change',
      deployment(
        { replicas: 2 },
        {
          metadata: { generation: 3 },
          status: { observedGeneration: 2, updatedReplicas: 2, availableReplicas: 2 },
        },
      ),
      false,
    ],
    [
      'groups that are not all ready',
      workload(
        'leaderworkerset.x-k8s.io/v1',
        'LeaderWorkerSet',
        { replicas: 2 },
        { status: { readyReplicas: 1 } },
      ),
      false,
    ],
  ])('%s: %#', (_, object, healthy) => {
    expect(ask('InterpretHealth', object).healthy).toBe(healthy);
  });
});

describe('InterpretDependency', () => {
  test('what the Pods name and cannot start without, once, sorted', () => {
    const pod = {
      serviceAccountName: 'trainer',
      imagePullSecrets: [{ name: 'registry' }],
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpus' }],
      volumes: [
        { name: 'a', configMap: { name: 'cm-a' } },
        { name: 'b', secret: { secretName: 's-b' } },
        { name: 'c', persistentVolumeClaim: { claimName: 'data' } },
        {
          name: 'd',
          projected: { sources: [{ configMap: { name: 'kube-root-ca.crt' } }, { secret: { name: 's-d' } }] },
        },
        { name: 'e', csi: { driver: 'x', nodePublishSecretRef: { name: 's-e' } } },
        { name: 'f', configMap: { name: 'can-do-without', optional: true } },
      ],
      initContainers: [{ env: [{ name: 'X', valueFrom: { secretKeyRef: { name: 's-env', key: 'k' } } }] }],
      containers: [
        { envFrom: [{ configMapRef: { name: 'cm-a' } }, { secretRef: { name: 's-b' } }] },
        { env: [{ name: 'Y', valueFrom: { configMapKeyRef: { name: 'cm-env', key: 'k' } } }] },
      ],
    };
    const { dependencies } = ask(
      'InterpretDependency',
      volcanoJob({ tasks: [{ template: { spec: pod } }, {}], volumes: [{ volumeClaimName: 'shared' }] }),
    );
    expect(
      dependencies?.map(
        ({ apiVersion, kind, namespace, name }) => `${apiVersion} ${kind} ${namespace}/${name}`,
      ),
    ).toEqual([
      'v1 ConfigMap ml/cm-a',
      'v1 ConfigMap ml/cm-env',
      'v1 PersistentVolumeClaim ml/data',
      'v1 PersistentVolumeClaim ml/shared',
      'resource.k8s.io/v1 ResourceClaimTemplate ml/gpus',
      'v1 Secret ml/registry',
      'v1 Secret ml/s-b',
      'v1 Secret ml/s-d',
      'v1 Secret ml/s-e',
      'v1 Secret ml/s-env',
      'v1 ServiceAccount ml/trainer',
    ]);
  });

  test('not the claims that a StatefulSet makes itself, and nothing of a workload without templates', () => {
    const set = workload('apps/v1', 'StatefulSet', {
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
      template: {
        spec: { serviceAccountName: 'default', volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] },
      },
    });
    expect(ask('InterpretDependency', set).dependencies).toEqual([]);
    expect(ask('InterpretDependency', volcanoJob({})).dependencies).toEqual([]);
  });
});

describe('what is left out of a body before it is parsed', () => {
  const needs = (name: string) => ({
    volumes: [{ name, configMap: { name } }],
    containers: [{ env: [{ name: 'X', value: ']' }], resources: { requests: { cpu: '2' } } }],
  });
  const spec = { tasks: [{ name: 'w', template: { spec: needs('cm') } }] };
  const cut = (operation: string, object: JsonObject, kinds = workloadKinds, before = {}) => {
    const asked = interpreterEndpoint(kinds, () => undefined);
    const bytes = Buffer.from(JSON.stringify({ ...before, ...contextOf('u', { operation, object }) }));
    return { asked, bytes, text: withoutLists(bytes, unreadOf(asked, bytes)) };
  };

  test.each([
    ['InterpretReplica', false],
    ['InterpretComponent', false],
    ['InterpretHealth', false],
    ['InterpretDependency', true],
    ['InterpretStatus', true],
    ['ReviseReplica', true],
    ['Retain', true],
    ['AggregateStatus', true],
  ])('environment and volumes, where %s does not look for them', (operation, isWhole) => {
    const { bytes, text } = cut(operation, volcanoJob(spec));
    expect(text === bytes.toString()).toBe(isWhole);
    expect(ask(operation, volcanoJob(spec))).toMatchObject({ successful: true });
  });

  test('is there where it is needed, though the body begins as if it were not', () => {
    const before = { note: { operation: 'InterpretReplica' } };
    const { asked, bytes, text } = cut('InterpretDependency', volcanoJob(spec), undefined, before);
    expect(text).not.toContain('configMap');
    const body = handled(asked, JSON.parse(text), () => JSON.parse(bytes.toString()));
    expect(body).toContain('"kind":"ConfigMap","namespace":"ml","name":"cm"');
  });

  test('is nothing where somebody keeps his templates in a list of that name', () => {
    const templates = [{ items: 'spec.env', template: 'pod', replicas: 'count' }];
    const kinds = kindsWith([{ group: 'example.com', version: 'v1', kind: 'Trainer', templates }]);
    const trainer = workload('example.com/v1', 'Trainer', {
      env: [{ name: 'a', count: 3, pod: { spec: {} } }],
    });
    const { asked, bytes, text } = cut('InterpretReplica', trainer, kinds);
    expect(text).toBe(bytes.toString());
    const body = handled(asked, JSON.parse(text), () => undefined);
    expect(body).toContain('"replicas":3');
  });
});

describe('Retain', () => {
  const retained = (desired: JsonObject, observedObject: JsonObject): unknown =>
    ask('Retain', desired, { observedObject }).object?.['spec'];

  test('minimums as the member cluster has them, and what its webhooks filled in', () => {
    const observed = volcanoJob({
      minAvailable: 4,
      queue: 'research',
      schedulerName: 'volcano',
      maxRetry: 3,
      tasks: [
        { name: 'worker', replicas: 4, minAvailable: 3, maxRetry: 2 },
        { name: 'master', replicas: 1, minAvailable: 1 },
      ],
    });
    const desired = volcanoJob({
      minAvailable: 3,
      queue: '',
      tasks: [
        { name: 'master', replicas: 1, minAvailable: 1 },
        { name: 'worker', replicas: 4, minAvailable: 2 },
      ],
    });
    expect(retained(desired, observed)).toEqual({
      minAvailable: 4,
      queue: 'research',
      schedulerName: 'volcano',
      maxRetry: 3,
      tasks: [
        { name: 'master', replicas: 1, minAvailable: 1 },
        { name: 'worker', replicas: 4, minAvailable: 3, maxRetry: 2 },
      ],
    });
    expect(ask('Retain', observed, { observedObject: observed }).object).toEqual(observed);
    expect(ask('Retain', desired).object).toEqual(desired);
  });

  test('a minimum that was kept stays within a number that shrank', () => {
    const observed = volcanoJob({ minAvailable: 4, tasks: [{ name: 'w', replicas: 4, minAvailable: 4 }] });
    const desired = volcanoJob({ minAvailable: 1, tasks: [{ name: 'w', replicas: 2, minAvailable: 1 }] });
    expect(retained(desired, observed)).toEqual({
      minAvailable: 2,
      tasks: [{ name: 'w', replicas: 2, minAvailable: 2 }],
    });
  });

  test('the references of a PodGang are those of the cluster that has the Pods', () => {
    const gang = (podReferences: JsonObject[], minReplicas: number) =>
      workload('scheduler.grove.io/v1alpha1', 'PodGang', {
        podgroups: [{ name: 'w', minReplicas, podReferences }],
      });
    expect(retained(gang([], 2), gang([{ namespace: 'ml', name: 'w-0' }], 1))).toEqual({
      podgroups: [{ name: 'w', minReplicas: 1, podReferences: [{ namespace: 'ml', name: 'w-0' }] }],
    });
  });

  test('what a queue wrote when it let the job in', () => {
    const jobSet = (suspend: boolean, spec: JsonObject, labels: JsonObject = {}) =>
      workload('jobset.x-k8s.io/v1alpha2', 'JobSet', {
        suspend,
        replicatedJobs: [{ name: 'w', template: { spec: { template: { metadata: { labels }, spec } } } }],
      });
    const admitted = jobSet(
      false,
      { nodeSelector: { pool: 'a100', disk: 'ssd' }, tolerations: [{ key: 'gpu' }, { key: 'spot' }] },
      { 'kueue.x-k8s.io/podset': 'w', app: 'old' },
    );
    expect(
      retained(
        jobSet(true, { nodeSelector: { disk: 'hdd' }, tolerations: [{ key: 'gpu' }] }, { app: 'new' }),
        admitted,
      ),
    ).toEqual(
      jobSet(
        false,
        { nodeSelector: { disk: 'hdd', pool: 'a100' }, tolerations: [{ key: 'gpu' }, { key: 'spot' }] },
        { app: 'new', 'kueue.x-k8s.io/podset': 'w' },
      )['spec'],
    );
  });

  test('how many workers an autoscaler has asked for, and only where there is one', () => {
    const cluster = (enableInTreeAutoscaling: boolean, replicas: number) =>
      workload('ray.io/v1', 'RayCluster', {
        enableInTreeAutoscaling,
        workerGroupSpecs: [{ groupName: 'gpu', replicas, minReplicas: 1 }],
      });
    expect(retained(cluster(true, 2), cluster(true, 7))).toEqual(cluster(true, 7)['spec']);
    expect(retained(cluster(false, 2), cluster(false, 7))).toEqual(cluster(false, 2)['spec']);
  });

  test('applied to its own result it changes nothing', () => {
    const tasks = fc.array(
      fc.record({ name: fc.constantFrom('a', 'b', 'c'), replicas: fc.nat(5), minAvailable: fc.nat(5) }),
      { maxLength: 3 },
    );
    const any = fc
      .record({ tasks, minAvailable: fc.nat(9), queue: fc.constantFrom('', 'q') })
      .map((spec) => volcanoJob(spec));
    fc.assert(
      fc.property(any, any, (desired, observedObject) => {
        const once = ask('Retain', desired, { observedObject }).object ?? {};
        expect(ask('Retain', once, { observedObject }).object).toEqual(once);
      }),
    );
  });
});

describe('InterpretStatus and AggregateStatus', () => {
  const from = (clusterName: string, status: JsonObject | undefined) => ({
    clusterName,
    ...(status && { status }),
    applied: true,
  });
  const merged = (object: JsonObject, ...items: JsonObject[]): unknown =>
    ask('AggregateStatus', object, { aggregatedStatus: items }).object?.['status'];

  test('the status as it is, with the generations that it speaks of; nothing where there is none', () => {
    expect(ask('InterpretStatus', job).rawStatus).toEqual({});
    const object = deployment(
      {},
      {
        metadata: { generation: 4, annotations: { 'resourcetemplate.karmada.io/generation': '7' } },
        status: { observedGeneration: 4, replicas: 1 },
      },
    );
    expect(ask('InterpretStatus', object).rawStatus).toEqual({
      observedGeneration: 4,
      replicas: 1,
      generation: 4,
      resourceTemplateGeneration: 7,
    });
  });

  test('of a gang in one cluster: its status', () => {
    const status = { state: { phase: 'Running' }, running: 5, runningDuration: '1m' };
    expect(merged(job, from('m1', status))).toEqual(status);
    const known = volcanoJob({}, { status });
    expect(ask('AggregateStatus', known, { aggregatedStatus: [from('m1', status)] }).object).toEqual(known);
    expect(ask('AggregateStatus', known, { aggregatedStatus: [from('m1', undefined)] }).object).toEqual(
      known,
    );
    expect(ask('AggregateStatus', known).object).toEqual(known);
    // A PodGang whose cluster has not told its phase: its definition refuses a status without one.
    const gang = { apiVersion: 'scheduler.grove.io/v1alpha1', kind: 'PodGang', spec: { podgroups: [] } };
    expect(ask('AggregateStatus', gang, { aggregatedStatus: [from('m1', {})] }).object).toEqual(gang);
  });

  test('of several: sums, the worst phase, what all agree about', () => {
    const m1 = {
      state: { phase: 'Running', reason: 'a' },
      running: 3,
      taskStatusCount: { w: { phase: { Running: 3 } } },
      version: 1,
    };
    const m2 = {
      state: { phase: 'Failed', reason: 'b' },
      running: 1,
      failed: 2,
      taskStatusCount: { w: { phase: { Running: 1, Failed: 2 } } },
      version: 1,
    };
    const both = {
      state: { phase: 'Failed' },
      running: 4,
      failed: 2,
      taskStatusCount: { w: { phase: { Running: 4, Failed: 2 } } },
      version: 1,
    };
    expect(merged(job, from('m1', m1), from('m2', m2))).toEqual(both);
    expect(merged(job, from('m2', m2), from('m1', m1))).toEqual(both);
  });

  test('a cluster that says nothing yet holds the good news back', () => {
    const done = { state: { phase: 'Completed' }, succeeded: 2 };
    expect(merged(job, from('m1', done), from('m2', undefined))).toEqual({
      state: { phase: 'Pending' },
      succeeded: 2,
    });
    const strange = { state: { phase: 'Mended' } };
    expect(merged(job, from('m1', done), from('m2', strange))).toMatchObject({ state: { phase: 'Mended' } });
  });

  test('conditions: failures of any, all else of all, and who says so', () => {
    const training = workload('kubeflow.org/v1', 'PyTorchJob', {});
    const says = (type: string, status: string, message: string) => ({ type, status, message });
    const m1 = {
      conditions: [says('Running', 'True', 'runs'), says('Failed', 'False', '')],
      replicaStatuses: { Worker: { active: 2 } },
    };
    const m2 = {
      conditions: [says('Running', 'False', 'over'), says('Failed', 'True', 'broke')],
      replicaStatuses: { Worker: { active: 1 } },
    };
    expect(merged(training, from('m1', m1), from('m2', m2))).toEqual({
      conditions: [says('Running', 'False', 'm2: over'), says('Failed', 'True', 'm2: broke')],
      replicaStatuses: { Worker: { active: 3 } },
    });
    expect(merged(training, from('m1', m1), from('m2', undefined))).toMatchObject({
      conditions: [says('Failed', 'False', '')],
    });
    expect(merged(training, from('m1', m1), from('m2', {}))).toMatchObject({
      conditions: [says('Failed', 'False', '')],
    });
  });

  test('observedGeneration is that of the template, once every cluster has seen it', () => {
    const object = deployment({}, { metadata: { generation: 7 }, status: { observedGeneration: 6 } });
    const seen = (resourceTemplateGeneration: number) => ({
      replicas: 1,
      observedGeneration: 2,
      generation: 2,
      resourceTemplateGeneration,
    });
    expect(merged(object, from('m1', seen(7)), from('m2', seen(7)))).toEqual({
      replicas: 2,
      observedGeneration: 7,
    });
    expect(merged(object, from('m1', seen(7)), from('m2', seen(6)))).toEqual({
      replicas: 2,
      observedGeneration: 6,
    });
    expect(merged(object, from('m1', { ...seen(7), observedGeneration: 1 }))).toEqual({
      replicas: 1,
      observedGeneration: 6,
    });
  });

  test('clusters in any order, with any statuses: the same result', () => {
    const status = fc.option(
      fc.record({
        state: fc.record({ phase: fc.constantFrom('Running', 'Failed', 'Completed', 'New') }),
        running: fc.nat(9),
        conditions: fc.array(
          fc.record({
            type: fc.constantFrom('A', 'Failed'),
            status: fc.constantFrom('True', 'False'),
            message: fc.string(),
          }),
          { maxLength: 3 },
        ),
      }),
      { nil: undefined },
    );
    fc.assert(
      fc.property(fc.array(status, { minLength: 1, maxLength: 4 }), fc.nat(3), (statuses, turn) => {
        const items = statuses.map((one, index) => from(`m${index}`, one));
        const turned = [...items.slice(turn % items.length), ...items.slice(0, turn % items.length)];
        const told = merged(job, ...items) as { running?: number } | undefined;
        expect(merged(job, ...turned)).toEqual(told);
        if (told !== undefined)
          expect(told.running).toBe(statuses.reduce((sum, one) => sum + (one?.running ?? 0), 0));
      }),
    );
  });
});

describe('what cannot be answered', () => {
  test('is said inside of the answer, with its uid', () => {
    expect(ask('Foo', job)).toMatchObject({
      successful: false,
      status: {
        code: 400,
        message:
          'request.operation: "Foo" is none of InterpretReplica, InterpretComponent, ReviseReplica, InterpretStatus, InterpretHealth, InterpretDependency, Retain, AggregateStatus',
      },
    });
    expect(ask('InterpretComponent', workload('example.com/v1', 'Trainer', {}))).toMatchObject({
      successful: false,
      status: {
        code: 422,
        message: expect.stringMatching(
          /"example\.com\/v1 Trainer" is no workload.*fleet\.kinds.*\[WORKLOAD_UNKNOWN\]$/,
        ) as unknown,
      },
    });
    expect(ask('InterpretReplica', deployment({ replicas: -1 }))).toMatchObject({
      status: {
        code: 422,
        message: expect.stringMatching(/^spec\.replicas: -1 .*\[WORKLOAD_INVALID\]$/) as unknown,
      },
    });
    const empty = { ...contextOf('u1', { operation: 'InterpretHealth', object: {} }) };
    const request = { ...(empty['request'] as JsonObject), object: null };
    expect(JSON.parse(answerTo(endpoint, { ...empty, request }))).toMatchObject({
      response: {
        uid: 'u1',
        successful: false,
        status: { code: 400, message: 'request.object: an object is needed' },
      },
    });
  });

  test.each<readonly [unknown, RegExp]>([
    [null, /config\.karmada\.io\/v1alpha1 ResourceInterpreterContext is needed, found null null/],
    [{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }, /is needed, found "admission/],
    [
      { apiVersion: 'config.karmada.io/v1alpha1', kind: 'ResourceInterpreterContext' },
      /^request: an object is needed/,
    ],
    [
      { apiVersion: 'config.karmada.io/v1alpha1', kind: 'ResourceInterpreterContext', request: { uid: '' } },
      /request\.uid/,
    ],
  ])('is refused as a request where nobody asks: %#', (body, says) => {
    expect(() => handled(endpoint, body, () => body)).toThrow(says);
  });

  test('whatever the object is: every operation answers what Karmada takes, or says what is wrong', () => {
    const kind = fc.constantFrom(...workloadKinds);
    const operation = fc.constantFrom(...operations.keys());
    const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(
        operation,
        kind,
        json,
        json,
        json,
        (name, { group, version, kind: title }, spec, status, observed) => {
          const apiVersion = group === '' ? version : `${group}/${version}`;
          const object = workload(apiVersion, title, spec, { status });
          const answer = ask(name, object, {
            observedObject: workload(apiVersion, title, observed),
            replicas: 3,
            aggregatedStatus: [
              { clusterName: 'm1', status },
              { clusterName: 'm2', status: observed },
            ],
          });
          if (!answer.successful) expect(answer.status?.code).toBe(422);
        },
      ),
      { numRuns: 300 },
    );
  });
});
