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
import type { Concurrency } from '../../kube/loop/keyed-controller.ts';
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

/** Settings of Muster's preemption. Durations in milliseconds. */
export interface PreemptionSettings {
  /** Backends whose gangs Muster preempts for; empty: all backends whose scheduler does not preempt for gangs itself. */
  readonly profiles: readonly string[];
  readonly afterMs: number;
  readonly overridePodDisruptionBudgets: boolean;
  readonly limits: { readonly victimsPerPlan: number; readonly plansPerMinute: number };
  readonly exemptNamespaces: readonly string[];
}

/** The part of the configuration that controllers read. */
export interface ControllerSettings {
  /** Whether HPCPolicies are watched and the objects of gangs with an HPCPolicy are kept. */
  readonly hpc?: boolean | undefined;
  /** Preparers that an HPCPolicy may name in addition to the built-in ones. */
  readonly preparations?: readonly PreparerFactory[] | undefined;
  /** Absent: Muster does not preempt. */
  readonly preemption?: PreemptionSettings | undefined;
  /** PodGangs of one namespace that are reconciled concurrently. */
  readonly concurrentSyncs: Concurrency;
  /** Kinds of workload whose Pods may ask for a gang. Absent: the built-in kinds. */
  readonly gangKinds?: readonly GangKind[] | undefined;
  readonly selectors: GangSelectors;
}

/** The state of gangs' scheduler objects, as the controller that keeps them knows it. */
export interface BackendsView {
  stateOf(gang: GangRecord, backend: Backend): BackendState;
}

/** The objects of gangs whose Pods are prepared by an HPCPolicy. */
export interface GangPreparation {
  /** Returns why the gang's preparation keeps it waiting; undefined when it does not. */
  waitOf(gang: GangRecord): string | undefined;
  /** Creates and updates the objects that the Pods mount. @throws Error with the reason when they cannot be created */
  sync(context: SyncContext, gang: GangRecord): Promise<void>;
  /** Called with the key of a gang when {@link sync} may have to write something else for it. */
  onChange(handler: (key: string) => void): void;
}

/** What every controller is constructed from; all controllers share the same instances. */
export interface Shared {
  readonly client: KubeClient;
  readonly registry: BackendRegistry;
  readonly settings: ControllerSettings;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly log: Logger;
  readonly metrics: LoopMetrics;
  readonly backendMetrics: Pick<BackendMetrics, 'initialized' | 'operated'>;
  readonly now: () => Date;
  /** The namespace that Muster runs in. */
  readonly ownNamespace: string;
  readonly watch: GangWatch;
  /** Keeps the objects of gangs with an HPCPolicy; absent when HPCPolicies are not enabled. */
  readonly hpc?: GangPreparation | undefined;
  /** The PriorityClasses of the cluster. */
  readonly classes: PriorityClasses;
  /** The memory limits that all caches share. */
  readonly room: CacheMemory;
  /** Returns the observer that reports a watch of one more kind to log and metrics. */
  readonly observe: (resource: Resource) => ReflectorObserver;
  /** Set by the controller that keeps the scheduler objects, read by the controller of gangs. */
  readonly backends: BackendsBoard;
}

/** Creates a controller; returns undefined when the configuration does not enable it. */
export type ControllerFactory = (shared: Shared) => Controller | undefined;

/** Where the controller of scheduler objects publishes their state for the other controllers. */
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

/** Thrown when an object's predecessor of the same name is still being deleted. */
export class StillThere extends Error {
  override readonly name = 'StillThere';
}

/** Settings of Muster as a scheduler of Karmada's bindings. */
export interface AssignerSettings {
  /** Muster places the bindings whose policy has this `schedulerName`. */
  readonly schedulerName: string;
  /** Estimators that are asked for capacity in addition to the Cluster status; absent: none. */
  readonly estimators?: EstimatorSettings | undefined;
  /** All strategies, including those of the configuration; absent: the built-in strategies. */
  readonly strategies?: Strategies | undefined;
}

/** Settings of the FleetQueues, which decide when Karmada's schedulers may place a binding. */
export interface QueueSettings {
  /** Age (ms) from which capacity is reserved for a gang that does not fit into the free capacity. */
  readonly reserveAfterMs: number;
  /** Kinds of workload whose minimum number of Pods is known. */
  readonly kinds: readonly WorkloadKind[];
}

/** The part of the configuration that a fleet's controllers read. */
export interface FleetSettings {
  /** Absent: Muster places no bindings. */
  readonly assigner?: AssignerSettings | undefined;
  /** Absent: bindings are neither suspended nor released by FleetQueues. */
  readonly queues?: QueueSettings | undefined;
}

/** What every controller of a fleet is constructed from. Its client talks to Karmada's API server. */
export interface FleetShared extends Pick<
  Shared,
  'client' | 'recorder' | 'log' | 'metrics' | 'observe' | 'now' | 'room'
> {
  readonly settings: FleetSettings;
}

/** Creates a controller of a fleet; returns undefined when the configuration does not enable it. */
export type FleetControllerFactory = (shared: FleetShared) => Controller | undefined;
