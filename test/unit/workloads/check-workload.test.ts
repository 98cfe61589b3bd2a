/** What is said of a workload whose Pod template has the label muster.dev/gang, at its own creation. */
import { describe, expect, test } from '@jest/globals';
import { gangKindsWith } from '../../../src/workloads/configured-gangs.ts';
import { checkWorkload } from '../../../src/workloads/check-workload.ts';
import { askingWorkload } from '../../support/asking-workloads.ts';
import { own, type JsonObject } from '../../../src/json/json.ts';

const JOBSET = 'jobset.x-k8s.io/v1alpha2 JobSet train';
const LWS = 'leaderworkerset.x-k8s.io/v1 LeaderWorkerSet vllm';
const STATEFUL = 'apps/v1 StatefulSet db';
const PYTORCH = 'kubeflow.org/v1 PyTorchJob bert';
const MPI = 'kubeflow.org/v2beta1 MPIJob hpl';
const RAYJOB = 'ray.io/v1 RayJob ray';
const LWS_PLACE = 'leaderworkerset.sigs.k8s.io/exclusive-topology';
const JOBSET_PLACE = 'alpha.jobset.sigs.k8s.io/exclusive-topology';
const VOLCANO = 'batch.volcano.sh/v1alpha1 Job train';

const ONE_BY_ONE = 'the next Pod is made once the one before is placed or ready, and a gated Pod never is';
const AT_ONCE = 'let all Pods be made at once [PodsOneByOne]';
const NO_GANG = 'Invalid value: the numbers of this workload make no gang';
const CORRECT = 'correct them, or take muster.dev/gang off its Pod templates [GangNumbersInvalid]';
const labelled = (more: string, annotations = ''): string =>
  `{metadata: {labels: {muster.dev/gang: "true"${more}}, annotations: {${annotations}}}, spec: {containers: []}}`;

type Titled = string | { readonly title: string; readonly annotations: JsonObject };
const workload = (given: Titled, spec: string): JsonObject =>
  typeof given === 'string'
    ? askingWorkload(given, spec)
    : askingWorkload(given.title, spec, { annotations: given.annotations });

const told = (object: JsonObject): string[] => {
  const { faults, warnings } = checkWorkload(object);
  return [
    ...faults.map(({ field, message }) => `refused: ${field}: ${message}`),
    ...warnings.map((text) => `warned: ${text}`),
  ];
};

test('a RoleBasedGroup that asks its own controller for a PodGroup is told of it', () => {
  const annotations = { 'rbg.workloads.x-k8s.io/group-gang-scheduling': 'true' };
  const title = 'workloads.x-k8s.io/v1alpha2 RoleBasedGroup llm';
  expect(
    told(workload({ title, annotations }, 'roles: [{name: a, standalonePattern: {template: T}}]')),
  ).toEqual([
    'warned: metadata.annotations[rbg.workloads.x-k8s.io/group-gang-scheduling]: its controller makes a PodGroup of its own besides: leave out one of the two',
  ]);
});

describe('is refused', () => {
  test.each<[string, Titled, string, string[]]>([
    [
      'a StatefulSet that makes one Pod after the other, as it does where nothing else is asked',
      STATEFUL,
      'replicas: 3, template: T',
      [
        `spec.podManagementPolicy: Invalid value: ${ONE_BY_ONE} (write podManagementPolicy: Parallel); ${AT_ONCE}`,
      ],
    ],
    [
      'the same, written out',
      STATEFUL,
      'replicas: 2, podManagementPolicy: OrderedReady, template: T',
      [
        `spec.podManagementPolicy: Invalid value: "OrderedReady": ${ONE_BY_ONE} (write podManagementPolicy: Parallel); ${AT_ONCE}`,
      ],
    ],
    [
      'a LeaderWorkerSet that waits for its leader',
      LWS,
      'startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 2, workerTemplate: T}',
      [
        `spec.startupPolicy: Invalid value: "LeaderReady": ${ONE_BY_ONE} (write startupPolicy: LeaderCreated); ${AT_ONCE}`,
      ],
    ],
    [
      'the same with one leader and one worker, each of its own template',
      LWS,
      'startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 2, leaderTemplate: T, workerTemplate: T}',
      [
        `spec.startupPolicy: Invalid value: "LeaderReady": ${ONE_BY_ONE} (write startupPolicy: LeaderCreated); ${AT_ONCE}`,
      ],
    ],
    [
      'a RoleBasedGroup with a role that waits for another of the gang',
      'workloads.x-k8s.io/v1alpha2 RoleBasedGroup llm',
      'roles: [{name: a, standalonePattern: {template: T}}, {name: b, dependencies: [a], standalonePattern: {template: T}}, {name: c, dependencies: [d], standalonePattern: {template: T}}]',
      [`spec.roles[1].dependencies: Invalid value: ${ONE_BY_ONE} (leave dependencies out); ${AT_ONCE}`],
    ],
    [
      'a RoleBasedGroup with a role whose instances come one after the other, of a shared template',
      'workloads.x-k8s.io/v1alpha2 RoleBasedGroup llm',
      'roleTemplates: [{name: t, template: T}], roles: [{name: a, replicas: 2, podManagementPolicy: OrderedReady, standalonePattern: {templateRef: {name: t}}}, {name: b, podManagementPolicy: OrderedReady, standalonePattern: {templateRef: {name: t}}}]',
      [
        `spec.roles[0].podManagementPolicy: Invalid value: ${ONE_BY_ONE} (write podManagementPolicy: Parallel); ${AT_ONCE}`,
      ],
    ],
    [
      'a JobSet whose jobs come in order',
      JOBSET,
      'startupPolicy: {startupPolicyOrder: InOrder}, replicatedJobs: [{name: a, template: {spec: {template: T}}}, {name: b, template: {spec: {template: T}}}]',
      [
        `spec.startupPolicy.startupPolicyOrder: Invalid value: "InOrder": ${ONE_BY_ONE} (write startupPolicyOrder: AnyOrder); ${AT_ONCE}`,
      ],
    ],
    [
      'a JobSet of which one job depends on another',
      JOBSET,
      'replicatedJobs: [{name: a, template: {spec: {template: T}}}, {name: b, dependsOn: [{name: a, status: Ready}], template: {spec: {template: T}}}]',
      [`spec.replicatedJobs[1].dependsOn: Invalid value: ${ONE_BY_ONE} (leave dependsOn out); ${AT_ONCE}`],
    ],
    [
      'an MPIJob whose launcher waits',
      MPI,
      'launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {Launcher: {template: T}, Worker: {replicas: 2, template: T}}',
      [
        `spec.launcherCreationPolicy: Invalid value: "WaitForWorkersReady": ${ONE_BY_ONE} (write launcherCreationPolicy: AtStartup); ${AT_ONCE}`,
      ],
    ],
    [
      'a Volcano Job of which one task depends on another',
      VOLCANO,
      'tasks: [{name: a, replicas: 1, template: T}, {name: b, replicas: 2, dependsOn: {name: [a]}, template: T}]',
      [`spec.tasks[1].dependsOn: Invalid value: ${ONE_BY_ONE} (leave dependsOn out); ${AT_ONCE}`],
    ],
    [
      'a LeaderWorkerSet that has its workers follow the leader to a place',
      { title: LWS, annotations: { [LWS_PLACE]: 'rack' } },
      'startupPolicy: LeaderCreated, leaderWorkerTemplate: {size: 2, workerTemplate: T}',
      [
        `metadata.annotations[${LWS_PLACE}]: Invalid value: "rack": ${ONE_BY_ONE} (leave it out, and say the topology in a PodGang that you write); ${AT_ONCE}`,
      ],
    ],
    [
      'a JobSet that has the Pods of a Job follow the first to a place, also where each job is a gang',
      { title: JOBSET, annotations: { [JOBSET_PLACE]: 'rack' } },
      `replicatedJobs: [{name: a, template: {spec: {parallelism: 2, template: ${labelled(', muster.dev/gang-per: replicatedjob')}}}}, {name: b, template: {spec: {parallelism: 3, template: ${labelled(', muster.dev/gang-per: replicatedjob')}}}}]`,
      [
        `metadata.annotations[${JOBSET_PLACE}]: Invalid value: "rack": ${ONE_BY_ONE} (leave it out, and say the topology in a PodGang that you write); ${AT_ONCE}`,
      ],
    ],
    [
      'the same of one replicated job, and of its Pods',
      JOBSET,
      `replicatedJobs: [{name: a, template: {metadata: {annotations: {${JOBSET_PLACE}: rack}}, spec: {parallelism: 2, template: T}}}, {name: b, template: {spec: {parallelism: 2, template: ${labelled('', `${JOBSET_PLACE}: rack`)}}}}]`,
      [
        `spec.replicatedJobs[0].template.metadata.annotations[${JOBSET_PLACE}]: Invalid value: "rack": ${ONE_BY_ONE} (leave it out, and say the topology in a PodGang that you write); ${AT_ONCE}`,
        `spec.replicatedJobs[1].template.spec.template.metadata.annotations[${JOBSET_PLACE}]: Invalid value: "rack": ${ONE_BY_ONE} (leave it out, and say the topology in a PodGang that you write); ${AT_ONCE}`,
      ],
    ],
    [
      'jobs in order, in the runtime of TrainJobs',
      'trainer.kubeflow.org/v1alpha1 TrainingRuntime torch',
      'template: {spec: {startupPolicy: {startupPolicyOrder: InOrder}, replicatedJobs: [{name: a, template: {spec: {template: T}}}, {name: b, template: {spec: {template: T}}}]}}',
      [
        `spec.template.spec.startupPolicy.startupPolicyOrder: Invalid value: "InOrder": ${ONE_BY_ONE} (write startupPolicyOrder: AnyOrder); ${AT_ONCE}`,
      ],
    ],
    [
      'a number of a RayService that is none, at its own place',
      'ray.io/v1 RayService ray',
      'rayClusterConfig: {headGroupSpec: {template: T}, workerGroupSpecs: [{groupName: gpu, replicas: -1, template: T}]}',
      [
        `spec.rayClusterConfig.workerGroupSpecs[0].replicas: ${NO_GANG} (-1 is no number of Pods; give a whole number from 0 to 2147483647); ${CORRECT}`,
      ],
    ],
    [
      'a number of a RayJob that is none, at its own place',
      RAYJOB,
      'rayClusterSpec: {enableInTreeAutoscaling: true, headGroupSpec: {template: T}, workerGroupSpecs: [{groupName: gpu, minReplicas: none, replicas: 2, template: T}]}',
      [
        `spec.rayClusterSpec.workerGroupSpecs[0].minReplicas: ${NO_GANG} ("none" is no number of Pods; give a whole number from 0 to 2147483647); ${CORRECT}`,
      ],
    ],
    [
      'a minimum above the number of Pods',
      PYTORCH,
      'runPolicy: {schedulingPolicy: {minAvailable: 9}}, pytorchReplicaSpecs: {Master: {replicas: 1, template: T}, Worker: {replicas: 2, template: T}}',
      [
        `spec.runPolicy.schedulingPolicy.minAvailable: ${NO_GANG} (a minimum of 9 is more than there are Pods (3); lower it); ${CORRECT}`,
      ],
    ],
    [
      'a minimum of one role above its number',
      PYTORCH,
      'elasticPolicy: {minReplicas: 5}, pytorchReplicaSpecs: {Worker: {replicas: 2, template: T}}',
      [
        `spec.elasticPolicy.minReplicas: ${NO_GANG} (a minimum of 5 is more than there are Pods (2); lower it, or raise their number); ${CORRECT}`,
      ],
    ],
    [
      'a minAvailable of a task above its replicas',
      VOLCANO,
      'tasks: [{name: a, replicas: 2, minAvailable: 3, template: T}]',
      [
        `spec.tasks[0].minAvailable: ${NO_GANG} (a minimum of 3 is more than there are Pods (2); lower it, or raise their number); ${CORRECT}`,
      ],
    ],
    [
      'a number that is none, of a CronJob at its own place',
      'batch/v1 CronJob nightly',
      'jobTemplate: {spec: {parallelism: many, template: T}}',
      [
        `spec.jobTemplate.spec.parallelism: ${NO_GANG} ("many" is no number of Pods; give a whole number from 0 to 2147483647); ${CORRECT}`,
      ],
    ],
    [
      'a DaemonSet',
      'apps/v1 DaemonSet each',
      'template: T',
      [
        'spec.template.metadata.labels[muster.dev/gang]: Invalid value: the gang of a Pod with this label is that of its workload (apps/v1 DaemonSet each controls this Pod); use a kind of docs/workloads.md or workloads[], or grove.io/podgang and grove.io/podclique [GangWorkloadUnknown]',
      ],
    ],
    [
      'a ReplicationController',
      'v1 ReplicationController old',
      'replicas: 2, template: T',
      [
        'spec.template.metadata.labels[muster.dev/gang]: Invalid value: the gang of a Pod with this label is that of its workload (v1 ReplicationController old controls this Pod); use a kind of docs/workloads.md or workloads[], or grove.io/podgang and grove.io/podclique [GangWorkloadUnknown]',
      ],
    ],
    [
      'another value of the label',
      'batch/v1 Job train',
      'template: {metadata: {labels: {muster.dev/gang: "yes"}}, spec: {containers: []}}',
      [
        'spec.template.metadata.labels[muster.dev/gang]: Unsupported value: "yes": the label muster.dev/gang is "true", or not there; write "true", in quotes; leave the label out of Pods that are no gang [GangLabelValue]',
      ],
    ],
    [
      'a gang named besides',
      'batch/v1 Job train',
      `template: ${labelled(', grove.io/podgang: other')}`,
      [
        'spec.template.metadata.labels[grove.io/podgang]: Forbidden: "other": the gang of a Pod with muster.dev/gang is that of its workload (that is job-train); leave grove.io/podgang and grove.io/podclique to Muster, or muster.dev/gang out [GangNameForeign]',
      ],
    ],
    [
      'parts that nobody knows',
      JOBSET,
      `replicatedJobs: [{name: a, template: {spec: {template: ${labelled(', muster.dev/gang-per: pod')}}}}]`,
      [
        'spec.replicatedJobs[0].template.spec.template.metadata.labels[muster.dev/gang-per]: Forbidden: this label of the workload is not what the owner reference of the Pod says (batch/v1 Job train-a-0 controls this Pod); leave the label to the controller that writes it [GangWorkloadMismatch]',
      ],
    ],
  ])('%s', (_, given, spec, says) => {
    expect(told(workload(given, spec))).toEqual(says.map((text) => `refused: ${text}`));
  });

  test('all at once', () => {
    const object = askingWorkload(
      STATEFUL,
      `replicas: 2, template: ${labelled(', grove.io/podgang: other')}`,
    );
    expect(checkWorkload(object).faults.map(({ rule }) => rule)).toEqual(['GangNameForeign', 'PodsOneByOne']);
  });
});

describe('is let in with a warning', () => {
  test.each<[string, string, string, string[]]>([
    [
      'a Job with more Pods at a time than are to complete',
      'batch/v1 Job train',
      'parallelism: 5, completions: 3, template: T',
      [
        'spec.parallelism: 5 is above completions: no more than 3 Pods of it are ever made, and as many are its gang',
      ],
    ],
    [
      'each run of such a CronJob',
      'batch/v1 CronJob nightly',
      'jobTemplate: {spec: {parallelism: 5, completions: 3, template: T}}',
      [
        'spec.jobTemplate.spec.parallelism: 5 is above completions: no more than 3 Pods of it are ever made, and as many are its gang',
      ],
    ],
    [
      'a Job that asks for a gang of Kubernetes besides',
      'batch/v1 Job train',
      'scheduling: {schedulingPolicy: {gang: {minCount: 2}}}, template: T',
      [
        'spec.scheduling: its Pods are the gang that muster.dev/gang makes of them, whatever is said here: leave out one of the two',
      ],
    ],
    [
      'each run of a CronJob whose template names one',
      'batch/v1 CronJob nightly',
      `jobTemplate: {spec: {template: ${labelled('').replace('spec: {', 'spec: {schedulingGroup: {podGroupName: mine}, ')}}}`,
      [
        'spec.jobTemplate.spec.template.spec.schedulingGroup: its Pods are the gang that muster.dev/gang makes of them, whatever is said here: leave out one of the two',
      ],
    ],
    [
      'such a Job of the runtime of TrainJobs, at its own place',
      'trainer.kubeflow.org/v1alpha1 TrainingRuntime torch',
      'template: {spec: {replicatedJobs: [{name: node, template: {spec: {parallelism: 2, completions: 1, template: T}}}]}}',
      [
        'spec.template.spec.replicatedJobs[0].template.spec.parallelism: 2 is above completions: no more than 1 Pods of it are ever made, and as many are its gang',
      ],
    ],
    [
      'such a Job of a JobSet',
      JOBSET,
      'replicatedJobs: [{name: a, template: {spec: {parallelism: 2, completions: 1, template: T}}}]',
      [
        'spec.replicatedJobs[0].template.spec.parallelism: 2 is above completions: no more than 1 Pods of it are ever made, and as many are its gang',
      ],
    ],
    [
      'a group without the label, for which the others would wait',
      MPI,
      'mpiReplicaSpecs: {Launcher: {template: U}, Worker: {replicas: 2, template: T}}',
      [
        'spec.mpiReplicaSpecs.Launcher.template.metadata.labels[muster.dev/gang]: the gang waits for Pods of "launcher": give these the label as well',
      ],
    ],
    [
      'a launcher that waits for the workers, and is no member',
      MPI,
      'launcherCreationPolicy: WaitForWorkersReady, mpiReplicaSpecs: {Launcher: {template: U}, Worker: {replicas: 2, template: T}}',
      [
        'spec.mpiReplicaSpecs.Launcher.template.metadata.labels[muster.dev/gang]: the gang waits for Pods of "launcher": give these the label as well',
      ],
    ],
    [
      'a replicated job without it',
      JOBSET,
      'replicatedJobs: [{name: a, template: {spec: {template: U}}}, {name: b, template: {spec: {template: T}}}]',
      [
        'spec.replicatedJobs[0].template.spec.template.metadata.labels[muster.dev/gang]: the gang waits for Pods of "a": give these the label as well, or the others muster.dev/gang-per: replicatedjob besides',
      ],
    ],
    [
      'a group of a RayJob without it',
      RAYJOB,
      'rayClusterSpec: {headGroupSpec: {template: U}, workerGroupSpecs: [{groupName: gpu, replicas: 2, template: T}]}',
      [
        'spec.rayClusterSpec.headGroupSpec.template.metadata.labels[muster.dev/gang]: the gang waits for Pods of "ray-head": give these the label as well',
      ],
    ],
    [
      'a size that cannot be read',
      'batch/v1 Job train',
      `template: ${labelled('', 'muster.dev/gang-size: four')}`,
      [
        'spec.template.metadata.annotations[muster.dev/gang-size]: "four" says no numbers: write them as leader=1,worker=7',
      ],
    ],
    [
      'a group of the runs of a RayCronJob without it',
      'ray.io/v1 RayCronJob nightly',
      'jobTemplate: {submitterPodTemplate: T, rayClusterSpec: {headGroupSpec: {template: U}, workerGroupSpecs: [{groupName: gpu, replicas: 2, template: T}]}}',
      [
        'spec.jobTemplate.rayClusterSpec.headGroupSpec.template.metadata.labels[muster.dev/gang]: the gang waits for Pods of "ray-head": give these the label as well',
      ],
    ],
    [
      'a ModelServing that names no scheduler',
      'workload.serving.volcano.sh/v1alpha1 ModelServing llm',
      'template: {roles: [{name: a, entryTemplate: T}]}',
      [
        'spec.schedulerName: Kthena writes it on every Pod, volcano where nothing is said, and makes PodGroups of its own for volcano: name the scheduler of the gang’s backend',
      ],
    ],
    [
      'a role of a RoleBasedGroup that is a workload of another kind',
      'workloads.x-k8s.io/v1alpha2 RoleBasedGroup llm',
      'roles: [{name: a, standalonePattern: {template: T}}, {name: b, annotations: {rbg.workloads.x-k8s.io/role-workload-type: apps/v1/StatefulSet}, standalonePattern: {template: T}}]',
      [
        'spec.roles[1].annotations[rbg.workloads.x-k8s.io/role-workload-type]: its Pods are a gang of that workload, and the gang of the others waits for them',
      ],
    ],
    [
      'a kind that may make workloads of another',
      'example.com/v1 RayFarm ray',
      'rayClusterConfig: {headGroupSpec: {template: T}}',
      [
        'spec.rayClusterConfig.headGroupSpec.template.metadata.labels[muster.dev/gang]: Muster knows no gangs of this kind: Pods that such an object makes itself are refused, those of a workload of a known kind that it makes are not',
      ],
    ],
  ])('%s', (_, title, spec, says) => {
    expect(told(askingWorkload(title, spec))).toEqual(says.map((text) => `warned: ${text}`));
  });
});

test('a kind that the configuration tells of is checked like the others', () => {
  const kinds = gangKindsWith([
    {
      ...{ group: 'example.com', version: 'v1', kind: 'Renderer', plural: 'renderers', short: 'render' },
      labels: { gang: 'example.com/renderer' },
      templates: [],
      single: { template: 'spec.template', replicas: 'spec.size', minAvailable: 'spec.least' },
    },
  ]);
  const renderer = (spec: string): JsonObject => askingWorkload('example.com/v1 Renderer film', spec);
  const { faults } = checkWorkload(renderer('size: 2, least: 3, template: T'), kinds);
  expect(faults.map(({ rule, field }) => [rule, field])).toEqual([['GangNumbersInvalid', 'spec.least']]);
  expect(checkWorkload(renderer('size: 2, template: T'), kinds)).toEqual({ faults: [], warnings: [] });
  expect(checkWorkload(renderer('size: 2, template: T')).warnings).toHaveLength(1);
});

describe('nothing is said of', () => {
  test.each<[string, Titled, string]>([
    ['a Job', 'batch/v1 Job train', 'parallelism: 3, completions: 3, template: T'],
    [
      'a Job that completes more than it runs at a time',
      'batch/v1 Job train',
      'parallelism: 2, completions: 9, template: T',
    ],
    ['a Job of one Pod', 'batch/v1 Job train', 'template: T'],
    [
      'a StatefulSet that makes all at once',
      STATEFUL,
      'replicas: 3, podManagementPolicy: Parallel, template: T',
    ],
    ['a StatefulSet of one Pod', STATEFUL, 'template: T'],
    ['a Deployment', 'apps/v1 Deployment web', 'replicas: 3, template: T'],
    ['a ReplicaSet', 'apps/v1 ReplicaSet web-1', 'replicas: 3, template: T'],
    [
      'a LeaderWorkerSet that does not wait',
      LWS,
      'startupPolicy: LeaderCreated, leaderWorkerTemplate: {size: 4, workerTemplate: T}',
    ],
    [
      'a LeaderWorkerSet without workers',
      LWS,
      'startupPolicy: LeaderReady, leaderWorkerTemplate: {size: 1, workerTemplate: T}',
    ],
    [
      'a JobSet of which each part is a gang, one after the other',
      JOBSET,
      `startupPolicy: {startupPolicyOrder: InOrder}, replicatedJobs: [{name: a, template: {spec: {template: ${labelled(', muster.dev/gang-per: replicatedjob')}}}}, {name: b, template: {spec: {template: ${labelled('', 'muster.dev/gang-per: replicatedjob')}}}}]`,
    ],
    [
      'a job that depends on one which is no member',
      JOBSET,
      `replicatedJobs: [{name: a, replicas: 0, template: {spec: {template: U}}}, {name: b, template: {spec: {template: T}}}, {name: c, dependsOn: [{name: a}], template: {spec: {template: T}}}]`,
    ],
    [
      'a RayCluster',
      'ray.io/v1 RayCluster ray',
      'headGroupSpec: {template: T}, workerGroupSpecs: [{groupName: gpu, replicas: 3, template: T}]',
    ],
    [
      'a RayJob, with or without a template for what submits it',
      RAYJOB,
      'submitterPodTemplate: T, rayClusterSpec: {headGroupSpec: {template: T}, workerGroupSpecs: [{groupName: gpu, replicas: 3, template: T}]}',
    ],
    [
      'a RayService, of which each RayCluster is a gang',
      'ray.io/v1 RayService ray',
      'rayClusterConfig: {headGroupSpec: {template: T}, workerGroupSpecs: [{groupName: gpu, replicas: 3, template: T}]}',
    ],
    [
      'a RayCronJob, with or without a template for what submits its jobs',
      'ray.io/v1 RayCronJob nightly',
      'jobTemplate: {submitterPodTemplate: T, rayClusterSpec: {headGroupSpec: {template: T}}}',
    ],
    [
      'a RayJob in a cluster that is there',
      RAYJOB,
      'clusterSelector: {ray.io/cluster: mine}, submitterPodTemplate: T',
    ],
    [
      'a LeaderWorkerSet whose subgroups have a place each',
      { title: LWS, annotations: { 'leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology': 'rack' } },
      'leaderWorkerTemplate: {size: 4, workerTemplate: T}',
    ],
    [
      'workers of a leader that is no member, and may be placed first',
      { title: LWS, annotations: { [LWS_PLACE]: 'rack' } },
      'leaderWorkerTemplate: {size: 1, leaderTemplate: U, workerTemplate: T}',
    ],
    [
      'a JobSet that has nodes of its own, and one with a Pod for each Job',
      {
        title: JOBSET,
        annotations: { [JOBSET_PLACE]: 'rack', 'alpha.jobset.sigs.k8s.io/node-selector': 'true' },
      },
      'replicatedJobs: [{name: a, template: {spec: {parallelism: 2, template: T}}}]',
    ],
    [
      'a JobSet of Jobs of one Pod each, each at a place',
      { title: JOBSET, annotations: { [JOBSET_PLACE]: 'rack' } },
      'replicatedJobs: [{name: a, replicas: 4, template: {spec: {template: T}}}]',
    ],
    [
      'a RayCluster that scales by itself, with fewer Pods than its least',
      'ray.io/v1 RayCluster ray',
      'enableInTreeAutoscaling: true, headGroupSpec: {template: T}, workerGroupSpecs: [{groupName: gpu, replicas: 0, minReplicas: 2, template: T}]',
    ],
    ['a workload without the label', STATEFUL, 'replicas: 3, template: U'],
    ['a DaemonSet without the label', 'apps/v1 DaemonSet each', 'template: U'],
    [
      'a label that is no text',
      'apps/v1 DaemonSet each',
      'template: {metadata: {labels: {muster.dev/gang: true}}, spec: {containers: []}}',
    ],
    ['what is no workload', 'v1 ConfigMap settings', 'x: 1'],
  ])('%s', (_, given, spec) => expect(told(workload(given, spec))).toEqual([]));

  test('a PodTemplate, of which nothing is made', () => {
    const { spec } = askingWorkload('apps/v1 DaemonSet each', 'template: T');
    expect(told({ apiVersion: 'v1', kind: 'PodTemplate', template: own(spec, 'template') ?? null })).toEqual(
      [],
    );
  });

  test('more templates than people write: it is asked in the path of an admission', () => {
    const job = '{name: a, template: {spec: {parallelism: 2, completions: 1, template: T}}}';
    const of = (count: number): number =>
      told(askingWorkload(JOBSET, `replicatedJobs: [${Array.from({ length: count }, () => job).join()}]`))
        .length;
    expect([of(256), of(257)]).toEqual([256, 0]);
    const empty = Array.from({ length: 11_000 }, () => ({}));
    const large = askingWorkload(STATEFUL, 'replicas: 3, template: T');
    expect(told({ ...large, more: empty })).toEqual([]);
  });
});

describe('as the template gets the label, Pods that are there are thought of', () => {
  const says = (title: string, spec: string, before = spec): string[] => {
    const [now, then] = [spec.replaceAll('X', 'T'), before.replaceAll('X', 'U')];
    const { faults, warnings } = checkWorkload(
      askingWorkload(title, now),
      undefined,
      askingWorkload(title, then),
    );
    return [
      ...faults.map(({ field, message }) => `refused: ${field}: ${message}`),
      ...warnings.map((text) => `warned: ${text}`),
    ];
  };
  const ROLLED = `refused: spec.updateStrategy: Invalid value: ${ONE_BY_ONE} (scale it to 0 before, or write type: OnDelete and delete all of its Pods together); ${AT_ONCE}`;
  const there = (field: string): string =>
    `warned: ${field}.metadata.labels[muster.dev/gang]: Pods that are there already do not get the label, and the gang waits for as many new ones: delete them together, or make the workload anew`;
  const SET = 'podManagementPolicy: Parallel, template: X';

  test.each<[string, string, string, string | undefined, string[]]>([
    ['a StatefulSet that replaces one after the other', STATEFUL, `replicas: 3, ${SET}`, undefined, [ROLLED]],
    ['one that grows meanwhile', STATEFUL, `replicas: 3, ${SET}`, SET, [ROLLED]],
    [
      'one that replaces a part, and later the rest',
      STATEFUL,
      `replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 2}}, ${SET}`,
      undefined,
      [ROLLED],
    ],
    [
      'two of three at a time',
      STATEFUL,
      `replicas: 3, updateStrategy: {rollingUpdate: {maxUnavailable: 2}}, ${SET}`,
      undefined,
      [ROLLED],
    ],
    [
      'all at once',
      STATEFUL,
      `replicas: 3, updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}, ${SET}`,
      undefined,
      [],
    ],
    [
      'three of three',
      STATEFUL,
      `replicas: 3, updateStrategy: {rollingUpdate: {maxUnavailable: 3}}, ${SET}`,
      undefined,
      [],
    ],
    [
      'by hand',
      STATEFUL,
      `replicas: 3, updateStrategy: {type: OnDelete}, ${SET}`,
      undefined,
      [there('spec.template')],
    ],
    ['one without Pods', STATEFUL, `replicas: 3, ${SET}`, `replicas: 0, ${SET}`, []],
    ['one that is to have none', STATEFUL, `replicas: 0, ${SET}`, `replicas: 3, ${SET}`, []],
    ['one of a single Pod', STATEFUL, `replicas: 1, ${SET}`, undefined, []],
    [
      'a ReplicaSet by itself',
      'apps/v1 ReplicaSet web',
      'replicas: 2, template: X',
      undefined,
      [there('spec.template')],
    ],
    [
      'a RayCluster',
      'ray.io/v1 RayCluster ray',
      'headGroupSpec: {template: X}',
      undefined,
      [there('spec.headGroupSpec.template')],
    ],
    [
      'one that is suspended',
      'ray.io/v1 RayCluster ray',
      'suspend: true, headGroupSpec: {template: X}',
      undefined,
      [],
    ],
    [
      'a Deployment, which makes another ReplicaSet',
      'apps/v1 Deployment web',
      'replicas: 3, template: X',
      undefined,
      [],
    ],
    [
      'a LeaderWorkerSet, which makes each group anew',
      LWS,
      'leaderWorkerTemplate: {size: 2, workerTemplate: X}',
      undefined,
      [],
    ],
    [
      'a Job, which is suspended then',
      'batch/v1 Job train',
      'parallelism: 2, completions: 2, template: X',
      undefined,
      [],
    ],
  ])('%s', (_, title, spec, before, said) => {
    expect(says(title, spec, before ?? spec)).toEqual(said);
  });
});
