import type { Binding } from './binding.ts';
import type { Candidate, TargetCluster } from './candidate.ts';
import type { Unmodelled } from './estimate.ts';

/**
 * Gives the replicas of a workload to clusters. A policy names one strategy, and its plugin alone decides; results are never
 * merged.
 */
export interface Assigner {
  readonly name: string;
  /** Names of strategies, each of which is this plugin's alone. */
  strategies(): readonly string[];
  /** How room is counted for it, and how much the clusters that are selected must have; Karmada's way where it is absent. */
  readonly room?: RoomNeeded;
  /**
   * @param clusters what filters and spread constraints left, by preference
   * @throws Unplaced where there is no result
   */
  assignReplica(strategy: string, clusters: readonly Candidate[], binding: Binding): readonly TargetCluster[];
  /** What is to be told of a result beside that there is one; undefined: nothing. */
  readonly remark?: (
    clusters: readonly Candidate[],
    binding: Binding,
    targets: readonly TargetCluster[],
  ) => string | undefined;
}

export interface RoomNeeded {
  readonly unmodelled: Unmodelled;
  /** Replicas; for a workload of several templates its sets are counted, with the least of each. */
  least(binding: Binding): number;
}
