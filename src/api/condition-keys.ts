import type { Key } from './key.ts';
import { CONDITION_INITIALIZED } from './pod-gang.ts';
import { DISRUPTION_TARGET } from './preemption-terms.ts';

const LOOP = 'the loop; of Grove’s gangs the Grove operator';

/** Conditions that Muster writes or reads. */
export const keysOfConditions: readonly Key[] = [
  {
    key: CONDITION_INITIALIZED,
    as: 'condition',
    on: 'PodGang',
    writer: LOOP,
    says: 'True: every group has its Pods and refers to them, and gates come off. It stays True.',
    without: 'the gang is not complete yet',
    wrong: '`InitializedProtected`, `InitializedDuplicate`, `InitializedFinal`, `InitializedTooEarly`',
  },
  {
    key: 'Scheduled',
    as: 'condition',
    on: 'PodGang',
    writer: LOOP,
    says: 'True: every group has its minimum of Pods on nodes.',
    without: 'the gang was not looked at yet',
    wrong: 'the loop writes it anew',
  },
  {
    key: 'Ready',
    as: 'condition',
    on: 'PodGang',
    writer: LOOP,
    says: 'True: every group has its minimum of Pods ready.',
    without: 'the gang was not looked at yet',
    wrong: 'the loop writes it anew',
  },
  {
    key: 'Unhealthy',
    as: 'condition',
    on: 'PodGang',
    writer: LOOP,
    says: 'True: a gang that had formed has fewer Pods than its minimum.',
    without: 'the gang was not looked at yet',
    wrong: 'the loop writes it anew',
  },
  {
    key: 'PodsNotMatchingPriority',
    as: 'condition',
    on: 'PodGang',
    writer: 'the loop',
    says: 'True: Pods have another PriorityClass than the gang.',
    without: 'the gang never had such Pods',
    wrong: 'the loop writes it anew',
  },
  {
    key: DISRUPTION_TARGET,
    as: 'condition',
    on: 'Pod',
    writer: 'Muster, reason `PreemptionByScheduler`; schedulers and the eviction API',
    says: 'True: the Pod is about to go.',
    without: 'it stays',
    wrong: 'whoever may write the status of Pods may write it',
  },
  {
    key: 'SchedulerBackendReady',
    as: 'condition',
    on: 'SchedulerBackend',
    writer: 'the replica that runs the loop',
    says: 'True: the backend works in this cluster. Else its message says why.',
    without: 'it was not looked at yet',
    wrong: 'the loop writes it anew',
  },
  {
    key: 'Ready',
    as: 'condition',
    on: 'FleetQueue',
    writer: 'Muster',
    says: 'True: gangs are let through in their turn. Else its reason and message say why not.',
    without: 'the queue was not looked at yet',
    wrong: 'Muster writes it anew',
  },
  {
    key: 'Scheduled',
    as: 'condition',
    on: 'ResourceBinding, ClusterResourceBinding',
    writer: 'Karmada’s scheduler; Muster where the binding names it as scheduler',
    says: 'Whether the binding has its clusters, and why not.',
    without: 'the binding was not looked at yet',
    wrong: 'whoever places the binding writes it anew',
  },
];
