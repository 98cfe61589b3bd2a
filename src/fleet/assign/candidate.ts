import type { Member } from './member.ts';

/** Capacity of a cluster as its estimator sees it. The smaller of this and the Cluster's own status counts. */
export interface Estimate {
  /** Replicas, or sets of all templates, as room is counted for the workload. */
  readonly room: number;
  /** Of a gang of several templates: whether all of its replicas have room, not only the least. */
  readonly whole?: boolean;
}

/** By cluster; one that is not in it was not asked, or does not know. */
export type Estimates = ReadonlyMap<string, Estimate>;

/** A cluster that the workload may go to, with what is known of it. */
export interface Candidate {
  readonly name: string;
  readonly member: Member;
  /** 100 where the workload is there already, else 0. */
  readonly score: number;
  /** 0, or the number of the overflow affinity that takes it. */
  readonly tier: number;
  /** Replicas, or sets of all components, that it has room for. */
  readonly allocatable: number;
  /** The same, with the replicas that the workload has there. */
  readonly available: number;
  /** What its estimator said, where it was asked and knew; both amounts are no larger. */
  readonly estimate?: Estimate | undefined;
}

/** As Karmada sorts them: by tier, score, room, name. */
export const byPreference = (a: Candidate, b: Candidate): number =>
  a.tier - b.tier || b.score - a.score || b.available - a.available || (a.name < b.name ? -1 : 1);

export const sumOfAvailable = (candidates: readonly Candidate[]): number =>
  candidates.reduce((sum, { available }) => sum + available, 0);

/** Why there is no result, by the reason of condition `Scheduled`. */
export class Unplaced extends Error {
  override readonly name = 'Unplaced';
  readonly reason: 'NoClusterFit' | 'Unschedulable' | 'SchedulerError';

  constructor(reason: Unplaced['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A cluster that gets the workload, as `spec.clusters` of a binding lists it. */
export interface TargetCluster {
  readonly name: string;
  readonly replicas: number;
  readonly components?: readonly ComponentReplicas[];
}

/** How many replicas of one template a cluster gets. */
export interface ComponentReplicas {
  readonly name: string;
  readonly replicas: number;
}
