import type { JsonObject } from '../json/json.ts';
import { componentsOf, type Component } from '../workloads/components.ts';
import { knownKindOf } from '../workloads/kinds.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';
import { dependenciesOf, type Dependency } from './dependencies.ts';
import { isHealthy } from './health.ts';

/** Facts about a workload for Karmada. */
export interface Interpretation {
  readonly components: readonly Component[];
  /** Number of all Pods of the workload. */
  readonly replicas: number;
  readonly healthy: boolean;
  readonly dependencies: readonly Dependency[];
}

/** @throws MusterError WORKLOAD_UNKNOWN, WORKLOAD_INVALID */
export function interpretationOf(object: JsonObject, kinds?: readonly WorkloadKind[]): Interpretation {
  const kind = knownKindOf(object, kinds);
  const components = componentsOf(object, kind);
  return {
    components,
    replicas: components.reduce((sum, { replicas }) => sum + replicas, 0),
    healthy: isHealthy(object, kind),
    dependencies: dependenciesOf(object, kind),
  };
}
