import { account, binding, owner, placed, pod, preempts, STRATEGIC, workload, type Row } from '../row.ts';

const VOLCANO = 'volcano-sh/volcano ed72c7c815a9';
const KAI = 'NVIDIA/KAI-Scheduler 72de64fc8eca';
const PLUGINS = 'kubernetes-sigs/scheduler-plugins';
const volcano = (name: string): string => account('volcano-system', name);
const kai = (name: string): string => account('kai-scheduler', name);
const UUID = '8c6a7e0e-0b1f-4c6e-9d0b-7d2f6f0f9a10';
const OF_A_POD = { 'scheduling.k8s.io/group-name': `podgroup-${UUID}` };
const OF_A_JOB = {
  ...{
    'scheduling.k8s.io/group-name': `mpi-${UUID}`,
    'volcano.sh/job-name': 'mpi',
    'volcano.sh/queue-name': 'default',
  },
  ...{
    'volcano.sh/task-index': '0',
    'volcano.sh/task-spec': 'worker',
    'volcano.sh/template-uid': 'mpi-worker',
  },
};
const VOLCANOS = 'scheduling.volcano.sh/v1beta1';
const KAIS = 'scheduling.run.ai/v2alpha2';
const [GROUP, KAI_GROUP] = [`podgroup-${UUID}`, `pg-x-${UUID}`];
const inVolcano = { schedulerName: 'volcano' };

/** Volcano, KAI and coscheduling, with the controllers that come with them. */
export const SCHEDULERS: readonly Row[] = [
  ...[OF_A_POD, OF_A_JOB].map((annotations): Row => ({
    as: volcano('volcano-scheduler'),
    does: `binds a Pod with all its annotations (${annotations['scheduling.k8s.io/group-name']})`,
    source: `${VOLCANO} pkg/scheduler/cache/cache.go:236`,
    given: ({ core }) => [['POST', core('pods'), pod({ annotations }, inVolcano)]],
    sends: ({ core }) => [
      [
        'POST',
        core('pods/x/binding'),
        binding({ annotations: { ...annotations, 'kubectl.kubernetes.io/restartedAt': 'x' } }),
      ],
    ],
  })),
  {
    as: volcano('volcano-controllers'),
    does: 'makes a PodGroup for a Pod, and writes it onto that',
    source: `${VOLCANO} pkg/controllers/podgroup/pg_controller_handler.go:189`,
    given: ({ core }) => [['POST', core('pods'), pod({}, inVolcano)]],
    sends: ({ core, of }) => [
      ['POST', of(VOLCANOS, 'podgroups'), workload(VOLCANOS, 'PodGroup', { minMember: 1 }, { name: GROUP })],
      ['PATCH', core('pods/x'), { metadata: { annotations: OF_A_POD } }, STRATEGIC],
    ],
  },
  {
    as: volcano('volcano-controllers'),
    does: 'makes the Pod of one of its Jobs, and deletes it',
    source: `${VOLCANO} pkg/controllers/job/job_controller_util.go:113`,
    sends: ({ core }) => [
      [
        'POST',
        core('pods'),
        pod(
          { annotations: OF_A_JOB, ownerReferences: [owner('batch.volcano.sh/v1alpha1', 'Job', 'mpi')] },
          inVolcano,
        ),
      ],
      ['DELETE', core('pods/x')],
    ],
  },
  {
    as: volcano('volcano-scheduler'),
    does: 'writes how a PodGroup does, through the object itself; its controllers delete it',
    source: `${VOLCANO} pkg/scheduler/cache/cache.go:369`,
    given: ({ of }) => [
      ['POST', of(VOLCANOS, 'podgroups'), workload(VOLCANOS, 'PodGroup', { minMember: 1 }, { name: GROUP })],
    ],
    sends: ({ of }) => [
      ['PATCH', of(VOLCANOS, `podgroups/${GROUP}`), { status: { phase: 'Running', running: 1 } }],
      ['DELETE', of(VOLCANOS, `podgroups/${GROUP}`)],
    ],
  },
  {
    as: volcano('volcano-scheduler'),
    does: 'evicts a Pod',
    source: `${VOLCANO} pkg/scheduler/cache/cache.go:268`,
    given: ({ core }) => [['POST', core('pods'), placed({ annotations: OF_A_POD })]],
    sends: preempts,
  },
  {
    as: kai('podgrouper'),
    does: 'makes a PodGroup, writes it onto the Pod, and changes it',
    source: `${KAI} pkg/podgrouper/pod_controller.go:194`,
    given: ({ core }) => [['POST', core('pods'), pod({}, { schedulerName: 'kai-scheduler' })]],
    sends: ({ core, of }) => [
      [
        'POST',
        of(KAIS, 'podgroups'),
        workload(KAIS, 'PodGroup', { minMember: 1, queue: 'q' }, { name: KAI_GROUP }),
      ],
      [
        'PATCH',
        core('pods/x'),
        {
          metadata: {
            annotations: { 'pod-group-name': KAI_GROUP },
            labels: { 'kai.scheduler/subgroup-name': 'workers' },
          },
        },
      ],
      ['PATCH', of(KAIS, `podgroups/${KAI_GROUP}`), { spec: { minMember: 2 } }],
      ['DELETE', of(KAIS, `podgroups/${KAI_GROUP}`)],
    ],
  },
  {
    as: kai('binder'),
    does: 'binds a Pod, and writes what it got',
    source: `${KAI} pkg/binder/binding/binder.go:71`,
    given: ({ core }) => [
      [
        'POST',
        core('pods'),
        pod({ annotations: { 'pod-group-name': `pg-my.app-${UUID}` } }, { schedulerName: 'kai-scheduler' }),
      ],
    ],
    sends: ({ core }) => [
      ['PATCH', core('pods/x'), { metadata: { annotations: { 'received-resource-type': 'Regular' } } }],
      ['POST', core('pods/x/binding'), binding()],
    ],
  },
  {
    as: kai('kai-operator'),
    does: 'keeps a Topology',
    source: 'https://github.com/NVIDIA/KAI-Scheduler/tree/main/docs/topology',
    sends: ({ namespace }) => {
      const [path, levels] = [
        '/apis/kai.scheduler/v1alpha1/topologies',
        [{ nodeLabel: 'kubernetes.io/hostname' }],
      ];
      return [
        ['POST', path, workload('kai.scheduler/v1alpha1', 'Topology', { levels }, { name: namespace })],
        ['PATCH', `${path}/${namespace}`, { metadata: { labels: { a: 'b' } } }],
        ['DELETE', `${path}/${namespace}`],
      ];
    },
  },
  {
    as: account('scheduler-plugins', 'scheduler-plugins-controller'),
    does: 'has a PodGroup that somebody made, and writes how it does; it is changed and deleted',
    source: `${PLUGINS} pkg/controllers/podgroup_controller.go`,
    sends: ({ of }) => {
      const path = of('scheduling.x-k8s.io/v1alpha1', 'podgroups');
      return [
        ['POST', path, workload('scheduling.x-k8s.io/v1alpha1', 'PodGroup', { minMember: 2 })],
        ['PATCH', `${path}/x/status`, { status: { phase: 'Running' } }],
        ['PATCH', `${path}/x`, { spec: { minMember: 3 } }],
        ['DELETE', `${path}/x`],
      ];
    },
  },
  {
    as: 'system:kube-scheduler',
    does: 'binds a Pod of coscheduling, whose label says the group',
    source: `${PLUGINS} pkg/coscheduling/README.md`,
    named: true,
    sends: ({ core }) => [
      ['POST', core('pods'), pod({ labels: { 'scheduling.x-k8s.io/pod-group': 'nginx' } })],
      ['POST', core('pods/x/binding'), binding()],
    ],
  },
  {
    as: volcano('volcano-scheduler'),
    does: 'binds a Pod whose group has a name of somebody’s own',
    source: 'https://volcano.sh/en/docs/podgroup/',
    named: true,
    sends: ({ core }) => {
      const annotations = {
        'scheduling.k8s.io/group-name': 'by-hand',
        'scheduling.volcano.sh/group-name': 'by-hand',
      };
      return [
        ['POST', core('pods'), pod({ annotations }, inVolcano)],
        ['POST', core('pods/x/binding'), binding({ annotations })],
      ];
    },
  },
];
