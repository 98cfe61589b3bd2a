/** The table of workloads: for each kind which templates it has, how many Pods, and how many must start together. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/json/json.ts';
import { componentNames } from '../../../src/workloads/component-names.ts';
import { multiGetReplicas } from '../../../src/fleet/multi-replicas.ts';
import { kindOf, workloadKinds } from '../../../src/workloads/kinds.ts';
import { deployment, template, volcanoJob, workload } from './made-workloads.ts';

/** `name replicas/minimum {requests}`, one after the other. */
const shapeOf = (object: JsonObject): string[] =>
  multiGetReplicas(object).map(({ name, replicas, minAvailable, requirements }) => {
    const requests = Object.entries(requirements?.resourceRequest ?? {}).map(
      ([key, amount]) => `${key}=${amount}`,
    );
    return [`${name} ${replicas}/${minAvailable}`, ...requests].join(' ');
  });

const cpu = (amount: string): JsonObject => template({ cpu: amount });
const role = (replicas: number | string | undefined, amount: string): JsonObject => ({
  ...(replicas === undefined ? {} : { replicas }),
  template: cpu(amount),
});

const CASES: readonly (readonly [says: string, object: JsonObject, components: readonly string[]])[] = [
  [
    'a PodGang: as many as it refers to, at least its minimum, and no requirements',
    workload('scheduler.grove.io/v1alpha1', 'PodGang', {
      podgroups: [
        { name: 'leader', minReplicas: 1, podReferences: [] },
        { name: 'worker', minReplicas: 2, podReferences: [{}, {}, {}] },
      ],
    }),
    ['leader 1/1', 'worker 3/2'],
  ],
  [
    'a PodCliqueSet: clique × scaling group × set',
    workload('grove.io/v1alpha1', 'PodCliqueSet', {
      replicas: 2,
      template: {
        cliques: [
          { name: 'router', spec: { replicas: 1, podSpec: { containers: [] } } },
          {
            name: 'decode',
            spec: {
              replicas: 4,
              minAvailable: 3,
              podSpec: { containers: [{ name: 'c', resources: { limits: { 'nvidia.com/gpu': 1 } } }] },
            },
          },
        ],
        podCliqueScalingGroups: [{ name: 'sg', cliqueNames: ['decode'], replicas: 3, minAvailable: 2 }],
      },
    }),
    ['router 2/2', 'decode 24/12 nvidia.com/gpu=1'],
  ],
  [
    'a Volcano Job: what each task says of itself',
    volcanoJob({
      minAvailable: 3,
      tasks: [
        { name: 'master', replicas: 1, minAvailable: 1, template: cpu('1') },
        {
          name: 'worker',
          replicas: 4,
          minAvailable: 2,
          template: template({ cpu: 8, 'nvidia.com/gpu': '4' }),
        },
      ],
    }),
    ['master 1/1 cpu=1', 'worker 4/2 cpu=8 nvidia.com/gpu=4'],
  ],
  [
    'a Volcano Job: tasks without a name are called by their position',
    volcanoJob({ tasks: [{ name: 'a' }, { name: '', replicas: 2 }, { name: 'b' }] }),
    ['a 1/1', 'task-1 2/2', 'b 1/1'],
  ],
  [
    'a Volcano Job: a minimum of the whole spares the last tasks first',
    volcanoJob({
      minAvailable: 4,
      tasks: [
        { name: 'a', replicas: 2 },
        { name: 'b', replicas: 4 },
        { name: 'c', replicas: 1 },
      ],
    }),
    ['a 2/2', 'b 4/2', 'c 1/0'],
  ],
  [
    'a Volcano Job: a minimum of the whole above the sum of its tasks raises the first first',
    volcanoJob({
      minAvailable: 5,
      tasks: [
        { name: 'a', replicas: 2, minAvailable: 1 },
        { name: 'b', replicas: 4, minAvailable: 1 },
      ],
    }),
    ['a 2/2', 'b 4/3'],
  ],
  ['a Volcano Job without tasks has no components', volcanoJob({}), []],
  [
    'a PyTorchJob: master before worker, whatever the order of the keys; numbers in quotes',
    workload('kubeflow.org/v1', 'PyTorchJob', {
      pytorchReplicaSpecs: { Worker: role('2', '4'), Master: role(undefined, '1') },
    }),
    ['master 1/1 cpu=1', 'worker 2/2 cpu=4'],
  ],
  [
    'a PyTorchJob: elastic, so fewer workers will do',
    workload('kubeflow.org/v1', 'PyTorchJob', {
      elasticPolicy: { minReplicas: 2, maxReplicas: 8 },
      pytorchReplicaSpecs: { Worker: role(6, '4') },
    }),
    ['worker 6/2 cpu=4'],
  ],
  [
    'a TFJob: a minimum of the whole',
    workload('kubeflow.org/v1', 'TFJob', {
      runPolicy: { schedulingPolicy: { minAvailable: 4 } },
      tfReplicaSpecs: { Worker: role(4, '4'), PS: role(2, '2'), Chief: role('', '1') },
    }),
    ['chief 1/1 cpu=1', 'ps 2/2 cpu=2', 'worker 4/1 cpu=4'],
  ],
  [
    'an MPIJob of the second version: no workers unless it says so',
    workload('kubeflow.org/v2beta1', 'MPIJob', {
      mpiReplicaSpecs: { Worker: role(undefined, '8'), Launcher: role(undefined, '1') },
    }),
    ['launcher 1/1 cpu=1', 'worker 0/0 cpu=8'],
  ],
  [
    'an XGBoostJob',
    workload('kubeflow.org/v1', 'XGBoostJob', {
      xgbReplicaSpecs: { Worker: role(2, '2'), Master: role(1, '1') },
    }),
    ['master 1/1 cpu=1', 'worker 2/2 cpu=2'],
  ],
  [
    'a PaddleJob, elastic',
    workload('kubeflow.org/v1', 'PaddleJob', {
      elasticPolicy: { minReplicas: 1 },
      paddleReplicaSpecs: { Worker: role(3, '2') },
    }),
    ['worker 3/1 cpu=2'],
  ],
  [
    'a JAXJob',
    workload('kubeflow.org/v1', 'JAXJob', { jaxReplicaSpecs: { Worker: role(4, '2') } }),
    ['worker 4/4 cpu=2'],
  ],
  [
    'a TrainJob: its nodes and what each needs',
    workload('trainer.kubeflow.org/v1alpha1', 'TrainJob', {
      trainer: { numNodes: 4, resourcesPerNode: { requests: { 'nvidia.com/gpu': 8, memory: '64Gi' } } },
    }),
    ['node 4/4 memory=64Gi nvidia.com/gpu=8'],
  ],
  [
    'a JobSet: jobs × the Pods of each',
    workload('jobset.x-k8s.io/v1alpha2', 'JobSet', {
      replicatedJobs: [
        { name: 'driver', template: { spec: { template: cpu('1') } } },
        {
          name: 'workers',
          replicas: 3,
          template: { spec: { parallelism: 4, completions: 2, template: cpu('2') } },
        },
      ],
    }),
    ['driver 1/1 cpu=1', 'workers 6/6 cpu=2'],
  ],
  [
    'a LeaderWorkerSet: those of all groups; a leader without a template of its own is made as a worker',
    workload('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', {
      replicas: 3,
      leaderWorkerTemplate: { size: 4, workerTemplate: cpu('2') },
    }),
    ['leader 3/3 cpu=2', 'worker 9/9 cpu=2'],
  ],
  [
    'a RayCluster: head, groups, hosts; without its autoscaler all of them',
    workload('ray.io/v1', 'RayCluster', {
      headGroupSpec: { template: cpu('2') },
      workerGroupSpecs: [
        {
          groupName: 'gpu',
          replicas: 2,
          minReplicas: 1,
          numOfHosts: 4,
          template: template({ 'nvidia.com/gpu': 1 }),
        },
        { groupName: 'off', replicas: 5, suspend: true, template: cpu('1') },
      ],
    }),
    ['ray-head 1/1 cpu=2', 'gpu 8/8 nvidia.com/gpu=1', 'off 0/0 cpu=1'],
  ],
  [
    'a RayJob whose cluster scales by itself begins with the least',
    workload('ray.io/v1', 'RayJob', {
      rayClusterSpec: {
        enableInTreeAutoscaling: true,
        headGroupSpec: { template: cpu('2') },
        workerGroupSpecs: [
          { groupName: 'a', replicas: 4, minReplicas: 1, template: cpu('1') },
          { groupName: 'b', minReplicas: 2, template: cpu('1') },
        ],
      },
    }),
    ['ray-head 1/1 cpu=2', 'a 4/1 cpu=1', 'b 2/2 cpu=1'],
  ],
  [
    'a RayCluster: a number below the least or above the most is not the one that counts',
    workload('ray.io/v1', 'RayCluster', {
      headGroupSpec: { template: cpu('2') },
      workerGroupSpecs: [
        { groupName: 'few', replicas: 0, minReplicas: 2, maxReplicas: 5, template: cpu('1') },
        { groupName: 'many', replicas: 9, minReplicas: 0, maxReplicas: 3, numOfHosts: 2, template: cpu('1') },
      ],
    }),
    ['ray-head 1/1 cpu=2', 'few 2/2 cpu=1', 'many 6/6 cpu=1'],
  ],
  ['a RayJob in a cluster that is there already has none', workload('ray.io/v1', 'RayJob', {}), []],
  [
    'a FlinkDeployment: memory in the words of Flink, task managers by their slots',
    workload('flink.apache.org/v1beta1', 'FlinkDeployment', {
      flinkConfiguration: { 'taskmanager.numberOfTaskSlots': '2' },
      job: { parallelism: 7 },
      podTemplate: { spec: { containers: [{ name: 'log', resources: { requests: { cpu: '100m' } } }] } },
      jobManager: { resource: { cpu: 0.5, memory: '2048m' } },
      taskManager: { resource: { cpu: 1, memory: '4g' } },
    }),
    ['jobmanager 1/1 cpu=600m memory=2Gi', 'taskmanager 4/4 cpu=1100m memory=4Gi'],
  ],
  [
    'a RoleBasedGroup: roles by themselves, with leaders and workers, and of components; shared templates',
    workload('workloads.x-k8s.io/v1alpha2', 'RoleBasedGroup', {
      roleTemplates: [{ name: 'server', template: cpu('8') }],
      roles: [
        { name: 'router', standalonePattern: { template: cpu('1') } },
        { name: 'prefill', replicas: 2, standalonePattern: { templateRef: { name: 'server' } } },
        { name: 'decode', replicas: 2, leaderWorkerPattern: { size: 3, templateRef: { name: 'server' } } },
        { name: 'single', leaderWorkerPattern: { template: cpu('2') } },
        {
          name: 'mixed',
          replicas: 2,
          customComponentsPattern: {
            components: [{ name: 'a', size: 2, template: cpu('3') }, { name: 'b' }],
          },
        },
        { name: 'lost', standalonePattern: { templateRef: { name: 'nobody' } } },
      ],
    }),
    [
      'router 1/1 cpu=1',
      'prefill 2/2 cpu=8',
      'decode-leader 2/2 cpu=8',
      'decode-worker 4/4 cpu=8',
      'single-leader 1/1 cpu=2',
      'mixed-a 4/4 cpu=3',
      'mixed-b 2/2',
      'lost 1/1',
    ],
  ],
  [
    'a ModelServing: entries and workers of each role, as often as there are serving groups; the least that is said',
    workload('workload.serving.volcano.sh/v1alpha1', 'ModelServing', {
      replicas: 2,
      template: {
        gangPolicy: { minRoleReplicas: { decode: 1, prefill: 9 } },
        roles: [
          { name: 'prefill', entryTemplate: cpu('1'), workerReplicas: 0 },
          {
            ...{ name: 'decode', replicas: 3, workerReplicas: 2 },
            ...{ entryTemplate: cpu('1'), workerTemplate: cpu('4') },
          },
        ],
      },
    }),
    ['prefill-entry 2/2 cpu=1', 'decode-entry 6/2 cpu=1', 'decode-worker 12/4 cpu=4'],
  ],
  [
    'a Deployment: one component, though its template has no name',
    deployment({ replicas: 5, template: cpu('250m') }),
    ['main 5/5 cpu=250m'],
  ],
  [
    'a StatefulSet: one replica where it says nothing',
    workload('apps/v1', 'StatefulSet', { template: cpu('1') }),
    ['main 1/1 cpu=1'],
  ],
  [
    'a Job: no more at a time than are left to complete',
    workload('batch/v1', 'Job', {
      parallelism: 8,
      completions: 3,
      template: { metadata: { name: 'step' }, ...cpu('1') },
    }),
    ['step 3/3 cpu=1'],
  ],
];

describe('components of', () => {
  test.each(CASES)('%s', (_, object, components) => {
    expect(shapeOf(object)).toEqual(components);
  });

  test('every kind of the table', () => {
    const seen = new Set(CASES.map(([, object]) => kindOf(object)));
    expect(workloadKinds.filter((kind) => !seen.has(kind))).toEqual([]);
    expect(new Set(workloadKinds.map(({ group, kind }) => `${group} ${kind}`)).size).toBe(
      workloadKinds.length,
    );
  });
});

describe('what a Pod needs', () => {
  const needs = (pod: JsonObject) =>
    multiGetReplicas(deployment({ template: { spec: pod } }))[0]?.requirements;

  test('the sum of its containers; a limit stands in for a request', () => {
    const container = (request: string, memory: string) => ({
      resources: { requests: { cpu: request, memory } },
    });
    expect(needs({ containers: [container('500m', '256Mi'), container('50m', '64Mi')] })).toEqual({
      resourceRequest: { cpu: '550m', memory: '320Mi' },
    });
    expect(needs({ containers: [{ resources: { limits: { cpu: '2' } } }] })).toEqual({
      resourceRequest: { cpu: '2' },
    });
  });

  test('init containers, sidecars and the overhead of its runtime', () => {
    expect(
      needs({
        overhead: { cpu: '10m' },
        initContainers: [
          { restartPolicy: 'Always', resources: { requests: { cpu: '100m' } } },
          { resources: { requests: { cpu: '3' } } },
        ],
        containers: [{ resources: { requests: { cpu: '1' } } }],
      })?.resourceRequest,
    ).toEqual({ cpu: '3110m' });
  });

  test('memory in binary units, rounded up: an amount without one would count a thousandfold', () => {
    const memory = (amount: string) =>
      needs({ containers: [{ resources: { requests: { memory: amount } } }] });
    expect(memory('1G')?.resourceRequest).toEqual({ memory: '976563Ki' });
    expect(memory('1000')?.resourceRequest).toEqual({ memory: '1Ki' });
    expect(memory('2Gi')?.resourceRequest).toEqual({ memory: '2Gi' });
  });

  test('where it may go, and its class; nothing where it says nothing', () => {
    const terms = { nodeSelectorTerms: [] };
    expect(
      needs({
        containers: [],
        nodeSelector: { gpu: 'h100' },
        tolerations: [{ key: 'gpu' }],
        priorityClassName: 'high',
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
      }),
    ).toEqual({
      nodeClaim: { hardNodeAffinity: terms, nodeSelector: { gpu: 'h100' }, tolerations: [{ key: 'gpu' }] },
      priorityClassName: 'high',
    });
    expect(needs({ containers: [{ name: 'c' }], nodeSelector: {}, tolerations: [] })).toBeUndefined();
  });
});

describe('what cannot be counted is named, all of it, and what mends it', () => {
  const refusal = (object: JsonObject): string => {
    try {
      multiGetReplicas(object);
    } catch (thrown) {
      const { code, message, fix } = thrown as { code: string; message: string; fix: string };
      return `${code}: ${message} → ${fix}`;
    }
    return '';
  };

  test.each<readonly [string, JsonObject, RegExp]>([
    [
      'a negative number',
      deployment({ replicas: -1 }),
      /^WORKLOAD_INVALID: spec\.replicas: -1 is no number of Pods; give a whole number from 0 to 2147483647 → correct/,
    ],
    ['a huge number', deployment({ replicas: 1e12 }), /spec\.replicas: 1000000000000 is no number/],
    [
      'no number',
      volcanoJob({ tasks: [{ replicas: 'many' }] }),
      /spec\.tasks\[0\]\.replicas: "many" is no number/,
    ],
    [
      'a product that is huge',
      workload('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', {
        replicas: 2e9,
        leaderWorkerTemplate: { size: 9 },
      }),
      /spec\.replicas: makes more than 2147483647 Pods in all; lower it/,
    ],
    [
      'a minimum above the number',
      volcanoJob({ tasks: [{ replicas: 2, minAvailable: 3 }] }),
      /spec\.tasks\[0\]\.minAvailable: a minimum of 3 is more than there are Pods \(2\); lower it, or raise/,
    ],
    [
      'a minimum of the whole above all',
      volcanoJob({ minAvailable: 9, tasks: [{ replicas: 2 }] }),
      /spec\.minAvailable: a minimum of 9 is more than there are Pods \(2\); lower it/,
    ],
    ['what is no list', volcanoJob({ tasks: {} }), /spec\.tasks: must be a list/],
    ['what is no object', volcanoJob({ tasks: [7] }), /spec\.tasks\[0\]: must be an object/],
    [
      'an amount that is none',
      deployment({ template: template({ cpu: 'much' }) }),
      /spec\.template\.spec\.containers\[0\]\.resources\.requests\.cpu: "much" is no amount of it; write it as 500m/,
    ],
    [
      'slots that are none',
      workload('flink.apache.org/v1beta1', 'FlinkDeployment', {
        flinkConfiguration: { 'taskmanager.numberOfTaskSlots': 0 },
      }),
      /spec\.flinkConfiguration\.taskmanager\.numberOfTaskSlots: 0 is no number of slots; give 1 or more/,
    ],
    [
      'two things at once',
      volcanoJob({ tasks: [{ replicas: -1 }, { replicas: 1.5 }] }),
      /tasks\[0\]\.replicas: -1 .*; spec\.tasks\[1\]\.replicas: 1\.5 is/,
    ],
    [
      'a kind that nobody knows',
      workload('example.com/v1', 'Trainer', {}),
      /^WORKLOAD_UNKNOWN: "example\.com\/v1 Trainer" is no workload .*batch\.volcano\.sh\/v1alpha1 Job.* → tell in the configuration, under fleet\.kinds/,
    ],
  ])('%s', (_, object, says) => {
    expect(refusal(object)).toMatch(says);
  });

  test('whatever stands in a workload, it is counted or refused by name', () => {
    const kinds = fc.constantFrom(...workloadKinds);
    fc.assert(
      fc.property(
        kinds,
        fc.jsonValue({ maxDepth: 4 }),
        fc.boolean(),
        ({ group, version, kind }, spec, inside) => {
          const at = inside
            ? { tasks: [spec], podgroups: [spec], replicatedJobs: spec, template: spec }
            : spec;
          const object = workload(`${group}/${version}`, kind, at as JsonObject);
          const said = refusal(object);
          if (said !== '') expect(said).toMatch(/^WORKLOAD_INVALID/);
        },
      ),
    );
  });
});

describe('names of components', () => {
  test('are cut to 32, unique, and keep their order', () => {
    const long = 'a-very-long-name-of-a-clique-of-prefill-workers';
    const names = componentNames([long, 'worker', 'worker', `${long}-2`, long]);
    expect(names).toEqual([
      'a-very-long-name-of-a-c-f1e432a1',
      'worker',
      'worker-2',
      'a-very-long-name-of-a-c-15c75d62',
      'a-very-long-name-of-a-clique-o-4',
    ]);
  });

  test('of any names whatever', () => {
    const name = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.constantFrom('a', 'a-0', 'a-1', 'a-1-1', 'w'.repeat(40), 'w'.repeat(41)),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 12 }), (given) => {
        const names = componentNames(given);
        expect(names).toHaveLength(given.length);
        expect(new Set(names).size).toBe(names.length);
        for (const one of names) expect(one.length).toBeLessThanOrEqual(32);
        expect(componentNames(given)).toEqual(names);
        // What is short and stands but once is never renamed for another's sake.
        given.forEach((one, index) => {
          if (one.length <= 32 && given.indexOf(one) === index) expect(names[index]).toBe(one);
        });
      }),
    );
  });
});
