import type { Member } from './member.ts';

/** Capacity of a cluster by its estimator. The smaller of this and the capacity by the Cluster's own status is used. */
export interface Estimate {
  /** Replicas or sets of all templates, in the unit in which the strategy counts the workload. */
  readonly room: number;
  /** Whether the cluster holds all replicas of a gang with several templates, not only the minimum. */
  readonly whole?: boolean;
}

/** Estimates by cluster. A cluster that was not queried or whose estimator had no answer is missing. */
export type Estimates = ReadonlyMap<string, Estimate>;

/** A cluster that the workload may go to, with its capacity and preference. */
export interface Candidate {
  readonly name: string;
  readonly member: Member;
  /** 100 when the workload is in the cluster already, else 0. */
  readonly score: number;
  /** 0, or the number of the overflow affinity that matches the cluster. */
  readonly tier: number;
  /** Capacity in replicas, or in sets of all components. */
  readonly allocatable: number;
  /** `allocatable` plus the replicas that the workload has in the cluster. */
  readonly available: number;
  /** The estimator's answer, when there is one; it already limits `allocatable` and `available`. */
  readonly estimate?: Estimate | undefined;
}

/** Karmada's order: by tier, score, capacity, name. */
export const byPreference = (a: Candidate, b: Candidate): number =>
  a.tier - b.tier || b.score - a.score || b.available - a.available || (a.name < b.name ? -1 : 1);

export const sumOfAvailable = (candidates: readonly Candidate[]): number =>
  candidates.reduce((sum, { available }) => sum + available, 0);

/** Thrown when a workload cannot be placed, with the reason of condition `Scheduled`. */
export class Unplaced extends Error {
  override readonly name = 'Unplaced';
  readonly reason: 'NoClusterFit' | 'Unschedulable' | 'SchedulerError';

  constructor(reason: Unplaced['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** An entry in `spec.clusters` of a binding. */
export interface TargetCluster {
  readonly name: string;
  readonly replicas: number;
  readonly components?: readonly ComponentReplicas[];
}

/** Number of replicas of one template in a cluster. */
export interface ComponentReplicas {
  readonly name: string;
  readonly replicas: number;
}
