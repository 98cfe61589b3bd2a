import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/json/json.ts';
import { podFromTemplate } from '../../../src/workloads/pod-from-template.ts';
import { podTemplatesOf } from '../../../src/workloads/pod-templates.ts';

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c' }] } };
const other = { spec: { containers: [] } };

const workloads: [string, string, JsonObject, string[]][] = [
  ['v1', 'PodTemplate', { template }, ['template']],
  ['v1', 'ReplicationController', { spec: { template } }, ['spec.template']],
  ['apps/v1', 'Deployment', { spec: { template } }, ['spec.template']],
  [
    'apps/v1',
    'StatefulSet',
    { spec: { template, volumeClaimTemplates: [{ spec: { containers: [] } }] } },
    ['spec.template'],
  ],
  ['apps/v1', 'ReplicaSet', { spec: { template } }, ['spec.template']],
  ['apps/v1', 'DaemonSet', { spec: { template } }, ['spec.template']],
  ['batch/v1', 'Job', { spec: { template } }, ['spec.template']],
  [
    'batch/v1',
    'CronJob',
    { spec: { jobTemplate: { spec: { template } } } },
    ['spec.jobTemplate.spec.template'],
  ],
  [
    'jobset.x-k8s.io/v1alpha2',
    'JobSet',
    {
      spec: {
        replicatedJobs: [{ template: { spec: { template } } }, {}, { template: { spec: { template } } }],
      },
    },
    ['spec.replicatedJobs[0].template.spec.template', 'spec.replicatedJobs[2].template.spec.template'],
  ],
  [
    'leaderworkerset.x-k8s.io/v1',
    'LeaderWorkerSet',
    { spec: { leaderWorkerTemplate: { leaderTemplate: template, workerTemplate: template } } },
    ['spec.leaderWorkerTemplate.leaderTemplate', 'spec.leaderWorkerTemplate.workerTemplate'],
  ],
  [
    'leaderworkerset.x-k8s.io/v1',
    'LeaderWorkerSet',
    { spec: { leaderWorkerTemplate: { workerTemplate: template } } },
    ['spec.leaderWorkerTemplate.workerTemplate'],
  ],
  [
    'kubeflow.org/v1',
    'PyTorchJob',
    { spec: { pytorchReplicaSpecs: { Master: { template }, Worker: { template } } } },
    ['spec.pytorchReplicaSpecs.Master.template', 'spec.pytorchReplicaSpecs.Worker.template'],
  ],
  [
    'ray.io/v1',
    'RayCluster',
    { spec: { headGroupSpec: { template }, workerGroupSpecs: [{ template }] } },
    ['spec.headGroupSpec.template', 'spec.workerGroupSpecs[0].template'],
  ],
  ['serving.knative.dev/v1', 'Service', { spec: { template } }, ['spec.template']],
  [
    'example.com/v1',
    'Odd',
    { spec: { podTemplate: other, 'a.b': { template } } },
    ['spec.podTemplate', 'spec[a.b].template'],
  ],
];

describe('the Pod templates', () => {
  test.each(workloads)('of %s %s', (apiVersion, kind, fields, paths) => {
    expect(podTemplatesOf({ apiVersion, kind, ...fields }).map(({ path }) => path)).toEqual(paths);
  });

  test.each([
    ['a Service', { apiVersion: 'v1', kind: 'Service', spec: { ports: [] } }],
    ['a Deployment without one', { apiVersion: 'apps/v1', kind: 'Deployment', spec: {} }],
    [
      'a Deployment with a text in its place',
      { apiVersion: 'apps/v1', kind: 'Deployment', spec: { template: 'x' } },
    ],
    ['a template without containers', { kind: 'X', spec: { template: { spec: { text: 'x' } } } }],
    ['what is called otherwise', { kind: 'X', spec: { templates: template } }],
    ['keys of the language', { kind: 'constructor', ['__proto__']: null, spec: { constructor: 1 } }],
  ])('none in %s', (_, object) => {
    expect(podTemplatesOf(object as unknown as JsonObject)).toEqual([]);
  });

  const rayCluster = { headGroupSpec: { template }, workerGroupSpecs: [{ template, replicas: 3 }] };
  const pods: [string, string, JsonObject, [string, number | undefined][]][] = [
    ['apps/v1', 'Deployment', { spec: { template } }, [['spec.template', 1]]],
    // Without containers it is no template yet, but it stands where one does.
    ['apps/v1', 'ReplicaSet', { spec: { replicas: 4, template: {} } }, [['spec.template', 4]]],
    ['apps/v1', 'Deployment', { spec: { replicas: 'x', template } }, [['spec.template', undefined]]],
    ['apps/v1', 'DaemonSet', { spec: { template } }, [['spec.template', undefined]]],
    ['batch/v1', 'Job', { spec: { parallelism: 9, completions: 7, template } }, [['spec.template', 7]]],
    [
      'leaderworkerset.x-k8s.io/v1',
      'LeaderWorkerSet',
      { spec: { replicas: 2, leaderWorkerTemplate: { size: 4, workerTemplate: template } } },
      [['spec.leaderWorkerTemplate.workerTemplate', 8]],
    ],
    [
      'kubeflow.org/v1',
      'PyTorchJob',
      { spec: { pytorchReplicaSpecs: { Worker: { replicas: 2, template }, 'a.b': { template } } } },
      [
        ['spec.pytorchReplicaSpecs.Worker.template', 2],
        ['spec.pytorchReplicaSpecs[a.b].template', 1],
      ],
    ],
    // What the table leaves out of a kind is found as in one that it does not know.
    [
      'ray.io/v1',
      'RayJob',
      { spec: { submitterPodTemplate: template, rayClusterSpec: rayCluster } },
      [
        ['spec.submitterPodTemplate', undefined],
        ['spec.rayClusterSpec.headGroupSpec.template', 1],
        ['spec.rayClusterSpec.workerGroupSpecs[0].template', 3],
      ],
    ],
  ];

  test.each(pods)('of %s %s stand for Pods', (apiVersion, kind, fields, counts) => {
    const found = podTemplatesOf({ apiVersion, kind, ...fields });
    expect(found.map(({ path, pods: count }) => [path, count])).toEqual(counts);
  });

  test.each([
    ['apps/v1', 'StatefulSet', { spec: { template } }, 'spec.podManagementPolicy'],
    ['apps/v1', 'StatefulSet', { spec: { template, podManagementPolicy: 'Parallel' } }, undefined],
    [
      'leaderworkerset.x-k8s.io/v1',
      'LeaderWorkerSet',
      {
        spec: {
          startupPolicy: 'LeaderReady',
          leaderWorkerTemplate: { size: 2, workerTemplate: template },
        },
      },
      'spec.startupPolicy',
    ],
  ])('of %s %s are made one by one, or not', (apiVersion, kind, fields, field) => {
    expect(podTemplatesOf({ apiVersion, kind, ...fields }).map(({ oneByOne }) => oneByOne?.field)).toEqual([
      field,
    ]);
  });

  test('are not looked for inside another', () => {
    const nested = { spec: { template: { spec: { containers: [{ template: other }] } } } };
    expect(podTemplatesOf({ kind: 'X', ...nested }).map(({ path }) => path)).toEqual(['spec.template']);
  });

  test('are found in bounded time, however deep and wide the object', () => {
    let deep: JsonObject = { template: other };
    for (let level = 0; level < 200_000; level += 1) deep = { a: deep };
    expect(podTemplatesOf({ kind: 'X', deep })).toEqual([]);
    const wide = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`k${index}`, { template: other }]),
    );
    expect(podTemplatesOf({ kind: 'X', wide })).toHaveLength(1000);
  });
});

describe('the Pod of a template', () => {
  const owner = { name: 'web', namespace: 'shop' };

  test('has what a controller copies, the owner’s namespace, and the default scheduler', () => {
    const given = {
      metadata: {
        name: 'dropped',
        labels: { a: 'b' },
        annotations: { c: 'd' },
        finalizers: ['f'],
        uid: 'dropped',
      },
      spec: { containers: [] },
    };
    expect(podFromTemplate(given, owner)).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        generateName: 'web-',
        namespace: 'shop',
        labels: { a: 'b' },
        annotations: { c: 'd' },
        finalizers: ['f'],
      },
      spec: { containers: [], schedulerName: 'default-scheduler' },
    });
    expect(given.spec).toEqual({ containers: [] });
  });

  test('keeps a scheduler that it names, and what is no spec at all', () => {
    expect(podFromTemplate({ spec: { schedulerName: 'x' } }, owner)['spec']).toEqual({ schedulerName: 'x' });
    expect(podFromTemplate({ spec: 'text' }, owner)['spec']).toBe('text');
    expect(podFromTemplate({}, { name: '', namespace: 'n' })).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'n' },
      spec: null,
    });
  });
});
