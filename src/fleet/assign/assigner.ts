import type { Binding } from './binding.ts';
import type { Candidate, TargetCluster } from './candidate.ts';
import type { Unmodelled } from './estimate.ts';

/**
 * Divides the replicas of a workload among clusters. A policy names one strategy, and only that strategy's plugin decides:
 * results are never merged.
 */
export interface Assigner {
  readonly name: string;
  /** Names of strategies, none of which another plugin may have. */
  strategies(): readonly string[];
  /** How capacity is counted, and how much the selected clusters need. Absent: as Karmada does. */
  readonly room?: RoomNeeded;
  /**
   * @param clusters the clusters that filters and spread constraints left, by preference
   * @throws Unplaced when the replicas cannot be placed
   */
  assignReplica(strategy: string, clusters: readonly Candidate[], binding: Binding): readonly TargetCluster[];
  /** A remark to append to the message of a successful result; undefined: none. */
  readonly remark?: (
    clusters: readonly Candidate[],
    binding: Binding,
    targets: readonly TargetCluster[],
  ) => string | undefined;
}

export interface RoomNeeded {
  readonly unmodelled: Unmodelled;
  /**
   * Replicas that the selected clusters need to hold; for a workload with several templates, sets of the minimum of each
   * template.
   */
  least(binding: Binding): number;
}
