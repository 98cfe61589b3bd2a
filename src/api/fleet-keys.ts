import type { Key } from './key.ts';
import { ANNOTATION_FLEET_QUEUE, ANNOTATION_FLEET_TERMS, LABEL_FLEET_QUEUE, MUSTER_PREFIX } from './names.ts';

const BINDING = 'ResourceBinding, ClusterResourceBinding';
const SOURCES = 'workload, PropagationPolicy';

/** Keys of objects on Karmada's API server. */
export const keysOfFleets: readonly Key[] = [
  {
    key: ANNOTATION_FLEET_QUEUE,
    as: 'annotation',
    on: `${SOURCES}; ${BINDING}`,
    writer: 'whoever wrote the workload or the policy; Muster carries it to the binding',
    says: 'The FleetQueue that lets the workload through.',
    without: 'the label of the Namespace',
    wrong:
      'a queue that does not exist: the binding waits, and says so; written on a binding `FleetQueueAnnotation`',
  },
  {
    key: LABEL_FLEET_QUEUE,
    as: 'label',
    on: 'Namespace',
    writer: 'whoever keeps the Namespace',
    says: 'Its bindings wait, in this queue where their workloads and policies name no other.',
    without: 'its bindings wait in no queue',
    wrong: 'a queue that does not exist: bindings wait, and say so',
  },
  {
    key: ANNOTATION_FLEET_TERMS,
    as: 'annotation',
    on: BINDING,
    writer: 'Muster',
    says: '`unread`: the binding is held until it is known what its workload, policy and Namespace say.',
    without: 'that is known',
    wrong: '`FleetQueueAnnotation`',
  },
  {
    key: `${MUSTER_PREFIX}custom-scheduling-strategy`,
    as: 'annotation',
    on: `${SOURCES}; ${BINDING}`,
    writer: 'whoever wrote the workload or the policy; Muster carries it to the binding',
    says: 'The strategy by which replicas are given to clusters.',
    without: '`customSchedulingStrategy` of the binding’s placement, else `default`',
    wrong: 'the binding is not placed, and its condition `Scheduled` says why',
  },
  {
    key: `${MUSTER_PREFIX}min-available`,
    as: 'annotation',
    on: `${SOURCES}; ${BINDING}`,
    writer: 'whoever wrote the workload or the policy; Muster carries it to the binding',
    says: 'Replicas without which the workload does not run: `8`, or by template `leader=1,worker=6,eval=0`.',
    without: 'what the workload says, else all',
    wrong: 'the binding is not placed, and its condition `Scheduled` says why',
  },
  {
    key: `${MUSTER_PREFIX}placed-components`,
    as: 'annotation',
    on: BINDING,
    writer: 'Muster',
    says: 'Replicas of each template that went to each cluster, as JSON.',
    without: 'the gang counts as placed whole',
    wrong: 'the binding is not placed, and its condition `Scheduled` says why',
  },
];
