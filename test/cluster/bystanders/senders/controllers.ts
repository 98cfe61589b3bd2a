import { GANGS } from '../../control-plane/releases.ts';
import { HAS_POD_GROUPS } from '../../support/native-gangs.ts';
import {
  account,
  condition,
  JOB,
  KUBE,
  owner,
  placed,
  pod,
  selector,
  SET,
  STRATEGIC,
  template,
  workload,
  type Row,
} from '../row.ts';

const of = (name: string): string => account('kube-system', name);
const FINALIZER = 'batch.kubernetes.io/job-tracking';
const COLLECTOR = of('generic-garbage-collector');
const owned = (apiVersion: string, kind: string): object => ({ ownerReferences: [owner(apiVersion, kind)] });

/** kube-controller-manager, each controller under its account. */
export const CONTROLLERS: readonly Row[] = [
  ...(
    [
      ['replicaset-controller', 'apps/v1', 'ReplicaSet'],
      ['statefulset-controller', 'apps/v1', 'StatefulSet'],
      ['daemon-set-controller', 'apps/v1', 'DaemonSet'],
      ['replication-controller', 'v1', 'ReplicationController'],
    ] as const
  ).map(([name, apiVersion, kind]): Row => ({
    as: of(name),
    does: `makes a Pod of a ${kind} and deletes it`,
    source: `${KUBE} pkg/controller/controller_utils.go:592`,
    sends: ({ core }) => [
      ['POST', core('pods'), pod({ labels: { app: 'x' }, ...owned(apiVersion, kind) })],
      ['DELETE', core('pods/x')],
    ],
  })),
  {
    as: of('job-controller'),
    does: 'makes a Pod of a Job, tracks it, and lets it go',
    source: `${KUBE} pkg/controller/job/job_controller.go:1587`,
    sends: ({ core }) => [
      [
        'POST',
        core('pods'),
        pod({ finalizers: [FINALIZER], ...owned('batch/v1', 'Job') }, { restartPolicy: 'Never' }),
      ],
      ['DELETE', core('pods/x')],
      [
        'PATCH',
        core('pods/x'),
        { metadata: { [`$deleteFromPrimitiveList/finalizers`]: [FINALIZER] } },
        STRATEGIC,
      ],
    ],
  },
  // In 1.35 the Job controller makes none.
  ...(GANGS === undefined ? [] : [HAS_POD_GROUPS ? gangOfAJob(GANGS) : gangOfHerOwn(GANGS)]),
  {
    as: of('replicaset-controller'),
    does: 'adopts a Pod, and gives it up',
    source: `${KUBE} pkg/controller/controller_ref_manager.go:222`,
    given: ({ core }) => [['POST', core('pods'), pod()]],
    sends: ({ core }) => [
      ['PATCH', core('pods/x'), { metadata: owned('apps/v1', 'ReplicaSet') }, STRATEGIC],
      [
        'PATCH',
        core('pods/x'),
        {
          metadata: { ownerReferences: [{ $patch: 'delete', uid: '11111111-2222-4333-8444-555555555555' }] },
        },
        STRATEGIC,
      ],
    ],
  },
  {
    as: COLLECTOR,
    does: 'orphans a Pod, and deletes others with their owners',
    source: `${KUBE} pkg/controller/garbagecollector/patch.go:92`,
    given: ({ core }) => [
      ['POST', core('pods'), pod(owned('apps/v1', 'ReplicaSet'))],
      ['POST', core('secrets'), { metadata: { name: 'x' } }],
      ['POST', core('configmaps'), { metadata: { name: 'x' } }],
    ],
    sends: ({ core }) => [
      ['PATCH', core('pods/x'), { metadata: { ownerReferences: null } }],
      ['DELETE', core('pods/x?propagationPolicy=Background')],
      ['DELETE', core('secrets/x')],
      ['DELETE', core('configmaps/x')],
    ],
  },
  {
    as: of('node-controller'),
    does: 'evicts a Pod from a tainted node',
    source: `${KUBE} pkg/controller/tainteviction/taint_eviction.go:129`,
    given: ({ core }) => [['POST', core('pods'), placed()]],
    sends: ({ core }) => [
      [
        'PATCH',
        core('pods/x/status'),
        { status: { conditions: [condition('DisruptionTarget', 'True', 'DeletionByTaintManager')] } },
        STRATEGIC,
      ],
      ['DELETE', core('pods/x')],
    ],
  },
  {
    as: of('pod-garbage-collector'),
    does: 'ends a Pod whose node is gone',
    source: `${KUBE} pkg/controller/podgc/gc_controller.go:346`,
    given: ({ core }) => [['POST', core('pods'), placed()]],
    sends: ({ core }) => [
      ['PATCH', core('pods/x/status'), { status: { phase: 'Failed' } }, STRATEGIC],
      ['DELETE', core('pods/x?gracePeriodSeconds=0')],
    ],
  },
  {
    as: of('deployment-controller'),
    does: 'makes a ReplicaSet, scales it and writes how the Deployment does',
    source: `${KUBE} pkg/controller/deployment/sync.go`,
    given: ({ of: path }) => [
      ['POST', path('apps/v1', 'deployments'), workload('apps/v1', 'Deployment', { selector, template })],
    ],
    sends: ({ of: path }) => {
      const metadata = owned('apps/v1', 'Deployment');
      return [
        [
          'POST',
          path('apps/v1', 'replicasets'),
          workload('apps/v1', 'ReplicaSet', { selector, template }, metadata),
        ],
        ['PATCH', path('apps/v1', 'replicasets/x'), { spec: { replicas: 3 } }],
        [
          'PATCH',
          path('apps/v1', 'deployments/x'),
          { metadata: { annotations: { 'deployment.kubernetes.io/revision': '1' } } },
        ],
        ['PATCH', path('apps/v1', 'deployments/x/status'), { status: { observedGeneration: 1 } }],
      ];
    },
  },
  {
    as: of('cronjob-controller'),
    does: 'makes a Job',
    source: `${KUBE} pkg/controller/cronjob/cronjob_controllerv2.go`,
    sends: ({ of: path }) => [['POST', path('batch/v1', 'jobs'), JOB]],
  },
  {
    as: of('horizontal-pod-autoscaler'),
    does: 'scales a StatefulSet',
    source: 'https://kubernetes.io/docs/concepts/workloads/autoscaling/horizontal-pod-autoscale/',
    given: ({ of: path }) => [['POST', path('apps/v1', 'statefulsets'), SET]],
    sends: ({ of: path }) => [['PATCH', path('apps/v1', 'statefulsets/x/scale'), { spec: { replicas: 2 } }]],
  },
  {
    as: of('namespace-controller'),
    does: 'empties a namespace',
    source: `${KUBE} pkg/controller/namespace/deletion/namespaced_resources_deleter.go`,
    given: ({ core }) => [
      ['POST', core('pods'), pod()],
      ['POST', core('services'), { metadata: { name: 'x' }, spec: { ports: [{ port: 1 }] } }],
    ],
    sends: ({ core, of: path }) => [
      ['DELETE', core('pods')],
      ['DELETE', core('services/x')],
      ...(GANGS === undefined
        ? []
        : [['DELETE', path(GANGS, HAS_POD_GROUPS ? 'podgroups' : 'workloads')] as const]),
      ['DELETE', path('coordination.k8s.io/v1', 'leases')],
    ],
  },
];

/** @param api of native gangs */
function gangOfAJob(api: string): Row {
  return {
    as: of('job-controller'),
    does: 'makes Kubernetes’ own gang of a Job, and its Pod',
    source: `${KUBE} pkg/controller/job/job_scheduling_manager.go:272`,
    sends: ({ core, of: path }) => {
      const group = 'x-7bf8c4d9f5-x-pgt-0-6c5b8d7f4b';
      const gang = { schedulingPolicy: { gang: { minCount: 2 } } };
      return [
        [
          'POST',
          path(api, 'workloads'),
          {
            metadata: { name: 'x-7bf8c4d9f5', ...owned('batch/v1', 'Job') },
            spec: { podGroupTemplates: [{ name: 'x-pgt-0', ...gang }] },
          },
        ],
        [
          'POST',
          path(api, 'podgroups'),
          { metadata: { name: group, ...owned('batch/v1', 'Job') }, spec: gang },
        ],
        ['POST', core('pods'), pod(owned('batch/v1', 'Job'), { schedulingGroup: { podGroupName: group } })],
        ['PATCH', path(api, `podgroups/${group}`), { metadata: { labels: { a: 'b' } } }],
        ['PATCH', path(api, 'workloads/x-7bf8c4d9f5'), { metadata: { labels: { a: 'b' } } }],
        ['DELETE', path(api, `podgroups/${group}`)],
        ['DELETE', path(api, 'workloads/x-7bf8c4d9f5')],
      ];
    },
  };
}

/** @param api of native gangs, as 1.35 has it */
function gangOfHerOwn(api: string): Row {
  return {
    as: 'alice',
    does: 'makes a Workload of Kubernetes’ own, and its Pod',
    source: 'https://github.com/kubernetes/api/blob/v0.35.4/scheduling/v1alpha1/types.go',
    sends: ({ core, of: path }) => [
      [
        'POST',
        path(api, 'workloads'),
        {
          metadata: { name: 'x' },
          spec: { podGroups: [{ name: 'all', policy: { gang: { minCount: 2 } } }] },
        },
      ],
      ['POST', core('pods'), pod({}, { workloadRef: { name: 'x', podGroup: 'all' } })],
      ['PATCH', path(api, 'workloads/x'), { metadata: { labels: { a: 'b' } } }],
      ['DELETE', path(api, 'workloads/x')],
    ],
  };
}
