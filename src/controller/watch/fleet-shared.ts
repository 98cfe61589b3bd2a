import type { EstimatorSettings } from '../../estimators/estimators.ts';
import type { Strategies } from '../../fleet/assign/strategies.ts';
import type { Controller } from '../../kube/loop/manager.ts';
import type { WorkloadKind } from '../../workloads/workload-kind.ts';
import type { Shared } from './shared.ts';

/** Muster as a scheduler of Karmada's bindings. */
export interface AssignerSettings {
  /** Those bindings are its own whose policy names this scheduler. */
  readonly schedulerName: string;
  /** Who is asked for room besides; absent: nobody. */
  readonly estimators?: EstimatorSettings | undefined;
  /** Those that the configuration brings along included; absent: those that come with Muster. */
  readonly strategies?: Strategies | undefined;
}

/** Muster in front of Karmada's schedulers: who may be placed, and when. */
export interface QueueSettings {
  /** From this age on (ms) room is kept for a gang that is too large for what is free. */
  readonly reserveAfterMs: number;
  /** Workloads whose least number of Pods is known. */
  readonly kinds: readonly WorkloadKind[];
}

/** The part of the configuration that controllers of a fleet read. */
export interface FleetSettings {
  /** Absent: no binding is placed. */
  readonly assigner?: AssignerSettings | undefined;
  /** Absent: no binding is held, and none let through. */
  readonly queues?: QueueSettings | undefined;
}

/** What every controller of a fleet is made from. Its client is one of Karmada's API server. */
export interface FleetShared extends Pick<
  Shared,
  'client' | 'recorder' | 'log' | 'metrics' | 'observe' | 'now' | 'room'
> {
  readonly settings: FleetSettings;
}

/** An entry of the list of a fleet's controllers. undefined: the configuration does not ask for it. */
export type FleetControllerFactory = (shared: FleetShared) => Controller | undefined;
