import type { Controller } from '../../kube/loop/manager.ts';
import type { Shared } from './shared.ts';

/** Muster as a scheduler of Karmada's bindings. */
export interface AssignerSettings {
  /** Those bindings are its own whose policy names this scheduler. */
  readonly schedulerName: string;
}

/** The part of the configuration that controllers of a fleet read. */
export interface FleetSettings {
  /** Absent: no binding is placed. */
  readonly assigner?: AssignerSettings | undefined;
}

/** What every controller of a fleet is made from. Its client is one of Karmada's API server. */
export interface FleetShared extends Pick<
  Shared,
  'client' | 'recorder' | 'log' | 'metrics' | 'observe' | 'now'
> {
  readonly settings: FleetSettings;
}

/** An entry of the list of a fleet's controllers. undefined: the configuration does not ask for it. */
export type FleetControllerFactory = (shared: FleetShared) => Controller | undefined;
