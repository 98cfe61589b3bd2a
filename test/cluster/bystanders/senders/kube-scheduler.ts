import { binding, condition, KUBE, placed, pod, preempts, STRATEGIC, type Row } from '../row.ts';

const SCHEDULER = 'system:kube-scheduler';

/** kube-scheduler, with its own plugins and coscheduling's. */
export const KUBE_SCHEDULER: readonly Row[] = [
  {
    as: SCHEDULER,
    does: 'binds a Pod',
    source: `${KUBE} pkg/scheduler/framework/plugins/defaultbinder/default_binder.go:53`,
    given: ({ core }) => [['POST', core('pods'), pod()]],
    sends: ({ core }) => [['POST', core('pods/x/binding'), binding()]],
  },
  {
    as: SCHEDULER,
    does: 'binds a Pod of a native gang that the Job controller made',
    source: `${KUBE} pkg/controller/job/job_scheduling_manager.go:365`,
    given: ({ core }) => [
      [
        'POST',
        core('pods'),
        pod({}, { schedulingGroup: { podGroupName: 'x-7bf8c4d9f5-x-pgt-0-6c5b8d7f4b' } }),
      ],
    ],
    sends: ({ core }) => [['POST', core('pods/x/binding'), binding()]],
  },
  {
    as: 'scheduler of 2019',
    does: 'binds a Pod by the old way',
    source: 'https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/binding-v1/',
    given: ({ core }) => [['POST', core('pods'), pod()]],
    sends: ({ core }) => [['POST', core('bindings'), binding()]],
  },
  {
    as: SCHEDULER,
    does: 'says why a Pod waits, and which node is meant for it',
    source: `${KUBE} pkg/scheduler/util/utils.go:134`,
    given: ({ core }) => [['POST', core('pods'), pod()]],
    sends: ({ core }) => [
      [
        'PATCH',
        core('pods/x/status'),
        {
          status: {
            conditions: [condition('PodScheduled', 'False', 'Unschedulable')],
            nominatedNodeName: 'n1',
          },
        },
        STRATEGIC,
      ],
      ['PATCH', core('pods/x/status'), { status: { nominatedNodeName: null } }, STRATEGIC],
    ],
  },
  {
    as: SCHEDULER,
    does: 'preempts a Pod',
    source: `${KUBE} pkg/scheduler/framework/preemption/executor.go:126`,
    given: ({ core }) => [['POST', core('pods'), placed()]],
    sends: preempts,
  },
  {
    as: SCHEDULER,
    does: 'keeps its Lease',
    source: 'https://kubernetes.io/docs/concepts/architecture/leases/',
    sends: ({ of }) => {
      const lease = { metadata: { name: 'kube-scheduler' }, spec: { holderIdentity: 'a' } };
      const leases = of('coordination.k8s.io/v1', 'leases');
      return [
        ['POST', leases, lease],
        ['PATCH', `${leases}/kube-scheduler`, { spec: { holderIdentity: 'b' } }],
      ];
    },
  },
  {
    as: SCHEDULER,
    does: 'writes an Event of a Pod',
    source: 'https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/',
    sends: ({ of, namespace }) => [
      [
        'POST',
        of('events.k8s.io/v1', 'events'),
        {
          ...{
            metadata: { name: 'x' },
            eventTime: '2026-01-01T00:00:00.000000Z',
            action: 'Binding',
            type: 'Normal',
          },
          ...{
            reportingController: 'default-scheduler',
            reportingInstance: 'a',
            reason: 'Scheduled',
            note: 'x',
          },
          regarding: { apiVersion: 'v1', kind: 'Pod', name: 'x', namespace },
        },
      ],
    ],
  },
];
