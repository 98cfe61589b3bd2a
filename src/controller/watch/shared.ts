import type { PriorityClasses } from '../../api/priority-class.ts';
import type { Backend } from '../../backends/backend.ts';
import type { SyncContext } from '../../backends/cluster.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { GangSelectors } from '../../gang/gang-selection.ts';
import type { BackendState, GangRecord } from '../../gang/records.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Resource } from '../../kube/client/resources.ts';
import type { CacheMemory } from '../../kube/loop/cache-memory.ts';
import type { EventRecorder } from '../../kube/loop/event-recorder.ts';
import type { Controller } from '../../kube/loop/manager.ts';
import type { ReflectorObserver } from '../../kube/loop/reflector-options.ts';
import type { PreparerFactory } from '../../preparers/preparer-factory.ts';
import type { BackendMetrics } from '../../telemetry/backend-metrics.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import type { GangKind } from '../../workloads/kind.ts';
import type { GangWatch } from './gang-watch.ts';
import type { EstimatorSettings } from '../../estimators/estimators.ts';
import type { Strategies } from '../../fleet/assign/strategies.ts';
import type { WorkloadKind } from '../../workloads/workload-kind.ts';

/** What Muster may do to make room for a gang. Durations in milliseconds. */
export interface PreemptionSettings {
  /** Backends whose gangs it is done for; empty: all whose scheduler preempts no gangs itself. */
  readonly profiles: readonly string[];
  readonly afterMs: number;
  readonly overridePodDisruptionBudgets: boolean;
  readonly limits: { readonly victimsPerPlan: number; readonly plansPerMinute: number };
  readonly exemptNamespaces: readonly string[];
}

/** The part of the configuration that controllers read. */
export interface ControllerSettings {
  /** Whether HPCPolicies are watched, and what gangs with one need is kept. */
  readonly hpc?: boolean | undefined;
  /** What an HPCPolicy may ask for beside what comes with Muster. */
  readonly preparations?: readonly PreparerFactory[] | undefined;
  /** Absent: no room is made for anybody. */
  readonly preemption?: PreemptionSettings | undefined;
  readonly concurrentSyncs: number;
  /** Workloads whose Pods may ask for a gang. Absent: those that Muster knows. */
  readonly gangKinds?: readonly GangKind[] | undefined;
  readonly selectors: GangSelectors;
}

/** What is known of gangs' objects by whoever keeps them. */
export interface BackendsView {
  stateOf(gang: GangRecord, backend: Backend): BackendState;
}

/** What is kept for gangs whose Pods an HPCPolicy prepares. */
export interface GangPreparation {
  /** Why a gang has to wait for how its Pods are prepared; undefined where it has not. */
  waitOf(gang: GangRecord): string | undefined;
  /** Makes and keeps what the Pods mount. @throws where they cannot be made, with the reason */
  sync(context: SyncContext, gang: GangRecord): Promise<void>;
  /** Hears of gangs, by their keys, for which {@link sync} may have something else to do. */
  onChange(handler: (key: string) => void): void;
}

/** What every controller is made from: one of everything, whoever uses it. */
export interface Shared {
  readonly client: KubeClient;
  readonly registry: BackendRegistry;
  readonly settings: ControllerSettings;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly log: Logger;
  readonly metrics: LoopMetrics;
  readonly backendMetrics: Pick<BackendMetrics, 'initialized' | 'operated'>;
  readonly now: () => Date;
  /** Where Muster itself runs. */
  readonly ownNamespace: string;
  readonly watch: GangWatch;
  /** What is done for gangs with an HPCPolicy; absent where that is not enabled. */
  readonly hpc?: GangPreparation | undefined;
  /** The PriorityClasses of the cluster. */
  readonly classes: PriorityClasses;
  /** What all caches may take in memory. */
  readonly room: CacheMemory;
  /** What a watch of a further kind tells log and metrics. */
  readonly observe: (resource: Resource) => ReflectorObserver;
  /** Filled by the controller that keeps the schedulers' objects, read by the one that judges gangs. */
  readonly backends: BackendsBoard;
}

/** An entry of the list of controllers. undefined: the configuration does not ask for it. */
export type ControllerFactory = (shared: Shared) => Controller | undefined;

/** Where one controller tells the others what it knows of the backends' objects. */
export class BackendsBoard implements BackendsView {
  #source: BackendsView | undefined;
  readonly #preparation: Pick<GangPreparation, 'waitOf'> | undefined;

  constructor(preparation?: Pick<GangPreparation, 'waitOf'>) {
    this.#preparation = preparation;
  }

  tell(source: BackendsView): void {
    this.#source = source;
  }

  stateOf(gang: GangRecord, backend: Backend): BackendState {
    if (this.#source === undefined) throw new Error('no controller keeps the objects of backends');
    const state = this.#source.stateOf(gang, backend);
    const wait = state.objectsExist ? this.#preparation?.waitOf(gang) : undefined;
    return wait === undefined ? state : { ...state, objectsExist: false, objectsWait: wait };
  }
}

/** An object that is in the way for now: a predecessor on its way out. */
export class StillThere extends Error {
  override readonly name = 'StillThere';
}

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
