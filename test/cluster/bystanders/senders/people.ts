import { account, apply, JOB, pod, selector, SET, template, workload, type Row } from '../row.ts';

const KUBECTL = 'https://kubernetes.io/docs/reference/kubectl/generated/';
const ALICE = { as: 'alice' };
const HELM = 'https://kubernetes.io/docs/reference/using-api/server-side-apply/';
const jobsOf = (field: string) => ({
  replicatedJobs: [{ name: 'a', template: { spec: { [field]: 1, template } } }],
});

/** Whoever uses kubectl, and what continuous delivery sends for them. */
export const PEOPLE: readonly Row[] = [
  {
    ...ALICE,
    does: 'creates a Pod, labels it, resizes it, debugs it, and has it evicted',
    source: KUBECTL,
    sends: ({ core }) => [
      ['POST', core('pods'), pod()],
      ['PATCH', core('pods/x'), { metadata: { labels: { team: 'a' }, annotations: { note: 'b' } } }],
      [
        'PATCH',
        core('pods/x/resize'),
        {
          spec: { containers: [{ name: 'main', image: 'example/a', resources: { requests: { cpu: '2' } } }] },
        },
      ],
      [
        'PATCH',
        core('pods/x/ephemeralcontainers'),
        { spec: { ephemeralContainers: [{ name: 'd', image: 'example/d' }] } },
      ],
      [
        'POST',
        core('pods/x/eviction'),
        { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'x' } },
      ],
    ],
  },
  {
    ...ALICE,
    does: 'creates a Pod with gates of somebody else’s, and takes them off',
    source: 'https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness/',
    sends: ({ core }) => [
      ['POST', core('pods'), pod({}, { schedulingGates: [{ name: 'example.com/a' }] })],
      ['PATCH', core('pods/x'), [{ op: 'remove', path: '/spec/schedulingGates/0' }]],
      ['DELETE', core('pods/x')],
    ],
  },
  {
    ...ALICE,
    does: 'tries a Pod for a dry run',
    source: KUBECTL,
    sends: ({ core }) => [['POST', core('pods'), pod(), { query: { dryRun: 'All' } }]],
  },
  {
    as: account('argocd', 'argocd-application-controller'),
    does: 'applies a Pod with finalizers, and takes those off',
    source: HELM,
    sends: ({ core }) => [
      ['PATCH', core('pods/x'), pod({ finalizers: ['example.com/a'] }), apply('argocd')],
      ['DELETE', core('pods/x')],
      ['PATCH', core('pods/x'), { metadata: { finalizers: null } }],
    ],
  },
  ...(
    [
      ['apps/v1', 'statefulsets', SET, { spec: { replicas: 2 } }],
      [
        'apps/v1',
        'deployments',
        workload('apps/v1', 'Deployment', { selector, template }),
        { spec: { replicas: 2 } },
      ],
      [
        'apps/v1',
        'replicasets',
        workload('apps/v1', 'ReplicaSet', { selector, template }),
        { spec: { replicas: 2 } },
      ],
      [
        'apps/v1',
        'daemonsets',
        workload('apps/v1', 'DaemonSet', { selector, template }),
        { spec: { minReadySeconds: 2 } },
      ],
      ['batch/v1', 'jobs', JOB, { spec: { suspend: true } }],
      [
        'batch/v1',
        'cronjobs',
        workload('batch/v1', 'CronJob', {
          schedule: '@daily',
          jobTemplate: { spec: (JOB as { spec: object }).spec },
        }),
        { spec: { suspend: true } },
      ],
      [
        'jobset.x-k8s.io/v1alpha2',
        'jobsets',
        workload('jobset.x-k8s.io/v1alpha2', 'JobSet', jobsOf('parallelism')),
        { spec: { suspend: true } },
      ],
      [
        'leaderworkerset.x-k8s.io/v1',
        'leaderworkersets',
        workload('leaderworkerset.x-k8s.io/v1', 'LeaderWorkerSet', {
          leaderWorkerTemplate: { size: 2, workerTemplate: template },
        }),
        { spec: { replicas: 2 } },
      ],
    ] as const
  ).map(([version, plural, object, change]): Row => ({
    ...ALICE,
    does: `applies, edits and deletes ${plural}`,
    source: KUBECTL,
    sends: ({ of }) => [
      ['PATCH', of(version, `${plural}/x`), object, apply('kubectl')],
      ['PATCH', of(version, `${plural}/x`), change],
      ['DELETE', of(version, `${plural}/x`)],
    ],
  })),
  {
    ...ALICE,
    does: 'creates a ReplicationController and scales it',
    source: KUBECTL,
    sends: ({ core }) => [
      [
        'POST',
        core('replicationcontrollers'),
        workload('v1', 'ReplicationController', { selector: { app: 'x' }, template }),
      ],
      ['PATCH', core('replicationcontrollers/x'), { spec: { replicas: 2 } }],
    ],
  },
  {
    as: account('flux-system', 'helm-controller'),
    does: 'keeps ConfigMaps, Secrets and Services',
    source: HELM,
    sends: ({ core }) =>
      (
        [
          ['configmaps', 'ConfigMap', { data: { a: 'b' } }, { data: { a: 'c' } }],
          ['secrets', 'Secret', { stringData: { a: 'b' } }, { stringData: { a: 'c' } }],
          ['services', 'Service', { spec: { ports: [{ port: 1 }] } }, { spec: { ports: [{ port: 2 }] } }],
        ] as const
      ).flatMap(([plural, kind, body, change]) => [
        [
          'PATCH',
          core(`${plural}/x`),
          { apiVersion: 'v1', kind, metadata: { name: 'x' }, ...body },
          apply('helm'),
        ] as const,
        ['PATCH', core(`${plural}/x`), change] as const,
        ['DELETE', core(`${plural}/x`)] as const,
      ]),
  },
  {
    ...ALICE,
    does: 'deletes a Lease, and a namespace',
    source: KUBECTL,
    given: ({ of }) => [['POST', of('coordination.k8s.io/v1', 'leases'), { metadata: { name: 'x' } }]],
    sends: ({ of, namespace }) => [
      ['DELETE', of('coordination.k8s.io/v1', 'leases/x')],
      ['DELETE', `/api/v1/namespaces/${namespace}`],
    ],
  },
];
