import { condition, KUBE, placed, STRATEGIC, type Row } from '../row.ts';

const NODE = { as: 'system:node:n1', groups: ['system:nodes'] };

/** The kubelet of a node. */
export const KUBELET: readonly Row[] = [
  {
    ...NODE,
    does: 'shows a static Pod',
    source: `${KUBE} pkg/kubelet/pod/mirror_client.go:69`,
    sends: ({ core }) => [
      [
        'POST',
        core('pods'),
        placed({ annotations: { 'kubernetes.io/config.mirror': 'x', 'kubernetes.io/config.hash': 'x' } }),
      ],
      ['DELETE', core('pods/x?gracePeriodSeconds=0')],
    ],
  },
  {
    ...NODE,
    does: 'writes how a Pod does, and takes it away when it has ended',
    source: `${KUBE} pkg/kubelet/status/status_manager.go`,
    given: ({ core }) => [['POST', core('pods'), placed()]],
    sends: ({ core }) => [
      [
        'PATCH',
        core('pods/x/status'),
        {
          status: {
            phase: 'Running',
            podIPs: [{ ip: '10.1.0.1' }],
            conditions: [condition('Ready', 'True', 'x')],
          },
        },
        STRATEGIC,
      ],
      ['DELETE', core('pods/x?gracePeriodSeconds=0')],
    ],
  },
  {
    ...NODE,
    does: 'writes how a Pod of another scheduler’s group does',
    source: `${KUBE} pkg/util/pod/pod.go:43`,
    given: ({ core }) => [
      [
        'POST',
        core('pods'),
        placed({
          annotations: { 'scheduling.k8s.io/group-name': 'podgroup-8c6a7e0e-0b1f-4c6e-9d0b-7d2f6f0f9a10' },
        }),
      ],
    ],
    sends: ({ core }) => [['PATCH', core('pods/x/status'), { status: { phase: 'Succeeded' } }, STRATEGIC]],
  },
];
