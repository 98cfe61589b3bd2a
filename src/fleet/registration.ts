import type { WorkloadKind } from '../workloads/workload-kind.ts';

const ASKED = [
  'InterpretComponent',
  'InterpretStatus',
  'InterpretHealth',
  'AggregateStatus',
  'InterpretDependency',
];

/** Never registered for a kind with several templates: Karmada requests 0 Pods of such a workload in every cluster. */
export const REVISING = 'ReviseReplica';

/** The operations that Karmada should send to Muster for a kind with several templates. */
export const operationsToRegister = ({ kept }: WorkloadKind): readonly string[] =>
  [kept.always, kept.filled, kept.templates].some((list) => list.length > 0) ? [...ASKED, 'Retain'] : ASKED;
