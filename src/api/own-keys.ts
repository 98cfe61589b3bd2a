import {
  ANNOTATION_EXPECTED_PODS,
  ANNOTATION_FLEET_QUEUE,
  ANNOTATION_FLEET_TERMS,
  ANNOTATION_GANG_SIZE,
  ANNOTATION_HPC_POLICY,
  ANNOTATION_PREEMPTION_PLAN,
  ANNOTATION_PREPARED,
  ANNOTATION_WORKLOAD,
  ANNOTATION_WORKLOAD_RESULT,
  ANNOTATION_WORKLOAD_UID,
  LABEL_GANG,
  MARK_GANG_PER,
  MUSTER_PREFIX,
} from './names.ts';
import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
  ANNOTATION_PREEMPTION_PRIORITY_FOR,
} from './preemption-terms.ts';

/**
 * Every key with the prefix `muster.dev/`, and where it is read: whatever else has that prefix is a slip. A test holds this list
 * against the source and the manifests.
 */
export const ownKeys: Readonly<Record<string, 'label' | 'annotation' | 'both'>> = {
  [LABEL_GANG]: 'label',
  [MARK_GANG_PER]: 'both',
  [ANNOTATION_GANG_SIZE]: 'annotation',
  [ANNOTATION_EXPECTED_PODS]: 'annotation',
  [ANNOTATION_WORKLOAD]: 'annotation',
  [ANNOTATION_WORKLOAD_UID]: 'annotation',
  [ANNOTATION_WORKLOAD_RESULT]: 'annotation',
  [ANNOTATION_HPC_POLICY]: 'annotation',
  [ANNOTATION_PREPARED]: 'annotation',
  [ANNOTATION_DISRUPTION_MODE]: 'annotation',
  [ANNOTATION_PREEMPTION_POLICY]: 'annotation',
  [ANNOTATION_PREEMPTION_PRIORITY_CLASS]: 'annotation',
  [ANNOTATION_PREEMPTION_PRIORITY_FOR]: 'annotation',
  [ANNOTATION_PREEMPTION_PLAN]: 'annotation',
  [ANNOTATION_FLEET_QUEUE]: 'annotation',
  [ANNOTATION_FLEET_TERMS]: 'annotation',
  // Those of one room each.
  [`${MUSTER_PREFIX}min-resources`]: 'annotation',
  [`${MUSTER_PREFIX}applied`]: 'annotation',
  [`${MUSTER_PREFIX}custom-scheduling-strategy`]: 'annotation',
  [`${MUSTER_PREFIX}min-available`]: 'annotation',
  [`${MUSTER_PREFIX}placed-components`]: 'annotation',
  // Those of the manifests alone.
  [`${MUSTER_PREFIX}names-group`]: 'label',
  [`${MUSTER_PREFIX}metrics`]: 'label',
};
