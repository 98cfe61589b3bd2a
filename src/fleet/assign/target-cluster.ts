/** A cluster that gets the workload. */
export interface TargetCluster {
  readonly name: string;
  readonly replicas: number;
  readonly components?: readonly ComponentReplicas[];
}

export interface ComponentReplicas {
  readonly name: string;
  readonly replicas: number;
}
