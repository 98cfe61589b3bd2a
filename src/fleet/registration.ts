import type { WorkloadKind } from '../workloads/workload-kind.ts';

const ASKED = [
  'InterpretComponent',
  'InterpretStatus',
  'InterpretHealth',
  'AggregateStatus',
  'InterpretDependency',
];

/** Never for a kind with several templates: Karmada asks for 0 Pods of each, in every cluster that it goes to. */
export const REVISING = 'ReviseReplica';

/** What Karmada is to ask Muster of a kind with several templates. */
export const operationsToRegister = ({ kept }: WorkloadKind): readonly string[] =>
  [kept.always, kept.filled, kept.templates].some((list) => list.length > 0) ? [...ASKED, 'Retain'] : ASKED;
