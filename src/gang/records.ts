import type { PodGang } from '../api/pod-gang.ts';
import type { PodOrigin } from '../api/pod-origin.ts';

/**
 * The state that the loop judges: plain data, so that a test can build any moment of any history. It is never read again
 * from the API server; `synced` says whether it is complete.
 */
export interface GangState {
  /** False until every cache behind this state has been listed once: nothing is written before. */
  readonly synced: boolean;
  /** The moment of judgement, in milliseconds since 1970; the only clock there is. */
  readonly now: number;
  /** The gang's key, also where the gang does not exist. */
  readonly namespace: string;
  readonly name: string;
  readonly gang: GangRecord | 'missing';
  /** Every Pod of the namespace with the gang's label, terminating ones too. */
  readonly pods: readonly PodRecord[];
  /** By the value of `grove.io/base-podgang`; a name that is not here counts as missing. */
  readonly baseGangs: ReadonlyMap<string, BaseGang | 'missing'>;
  readonly backend: BackendState;
  /** Why Muster writes nothing to this gang; undefined where the gang is Muster's. */
  readonly notOurs: NotOurs | undefined;
  /** Whether the minimum of the gang's workload leaves out Pods that have finished, as a Job's does. */
  readonly countsWhatIsLeft: boolean;
  /**
   * Why not all objects of this namespace are known, in plain words: they exceed the memory. Nothing is changed then.
   * undefined where all are known.
   */
  readonly memoryExceeded?: string | undefined;
  /**
   * Milliseconds since 1970 at which this process last wrote the gang's status; undefined before its first write. It only
   * delays rewrites of messages, so that each Pod that comes does not cost a write.
   */
  readonly lastStatusWrite: number | undefined;
}

/**
 * A gang that another operator manages, such as Grove, or that is not managed, since the configuration does not select it.
 */
export interface NotOurs {
  readonly movedBy: 'another operator' | 'nobody';
  /** In plain words, for `muster status`. */
  readonly message: string;
}

/** A PodGang with what is needed to write to it conditionally. */
export interface GangRecord extends PodGang {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string | undefined;
  readonly deletionTimestamp: string | undefined;
  /** Absent where there are none. */
  readonly finalizers?: readonly string[];
  /** The uids of its owners; absent where there are none. */
  readonly owners?: readonly string[];
  /** `status.phase`; undefined while there is no status. */
  readonly phase: string | undefined;
}

/** A Pod, trimmed to the fields that the loop reads. */
export interface PodRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string | undefined;
  readonly deletionTimestamp: string | undefined;
  /** Value of `grove.io/podgang`. */
  readonly gang: string;
  /** Value of `grove.io/podclique`, `''` where it is missing. */
  readonly group: string;
  /** Value of `grove.io/base-podgang`. */
  readonly baseGang: string | undefined;
  /** `spec.schedulerName`; absent where it was not read. */
  readonly schedulerName?: string | undefined;
  /** Names in `spec.schedulingGates`, in order, since a JSON patch names a gate by its index. */
  readonly gates: readonly string[];
  /** `''` while unbound. */
  readonly nodeName: string;
  /** The native gang that the spec names: a PodGroup, or `<Workload>/<group>` of Kubernetes 1.35; `''` for none. */
  readonly nativeGang?: string | undefined;
  /** `spec.priorityClassName`; `''` where the Pod names none; absent where it was not read. */
  readonly priorityClassName?: string | undefined;
  /** `spec.priority`, the value of the class when the Pod was created; absent where it was not read. */
  readonly priority?: number | undefined;
  /** The annotation `muster.dev/prepared`; absent where no HPCPolicy prepared the Pod. */
  readonly prepared?: string | undefined;
  /** `spec.subdomain` of a Pod that an HPCPolicy prepared. */
  readonly subdomain?: string | undefined;
  /** Cores and GPUs of the program's container, such as `4 2`, of a Pod that runs under Flux. */
  readonly asks?: string | undefined;
  /** GPUs that the Pod asks for; absent where they were not read. */
  readonly gpus?: number | undefined;
  /** Host name of a Pod that an HPCPolicy prepared: `spec.hostname`, or its name. */
  readonly hostname?: string | undefined;
  /**
   * Revision of the Pod's template, for kinds of workloads whose Pods of two revisions are never in one gang; absent for
   * others.
   */
  readonly revision?: string | undefined;
  /** Set for a leader whose workers are created after it and deleted with it. */
  readonly leads?: true;
  /** How often the workload had been restarted before the Pod was created; absent where the workload does not count that. */
  readonly attempt?: string | undefined;
  readonly phase: string;
  readonly ready: boolean;
  readonly podScheduled: PodScheduled | undefined;
  /** The workload that puts the Pod into its gang; absent where the Pod names the gang itself, or this was not read. */
  readonly origin?: PodOrigin | undefined;
}

/** A Namespace, trimmed to the fields that decide about its gangs. */
export interface NamespaceRecord {
  /** Always empty: a Namespace is in none. */
  readonly namespace: '';
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  readonly deletionTimestamp: string | undefined;
}

/** The condition PodScheduled: the scheduler's report about this Pod. */
export interface PodScheduled {
  readonly status: string;
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

/** The gang that has to be scheduled first: its groups, and all Pods with its label. */
export interface BaseGang {
  readonly gang: Pick<PodGang, 'namespace' | 'name' | 'spec'>;
  readonly pods: readonly PodRecord[];
  /** The scheduler of its backend; absent where it is not known. */
  readonly schedulerName?: string | undefined;
}

/** The orders in which gates are removed, by how the scheduler counts Pods. */
export const RELEASE_ORDERS = ['all-at-once', 'minimum-first', 'optional-groups-last'] as const;
export type ReleaseOrder = (typeof RELEASE_ORDERS)[number];

export interface BackendState {
  readonly name: string;
  /** `spec.schedulerName` of its Pods; absent where it is not known. */
  readonly schedulerName?: string | undefined;
  readonly ready: boolean;
  /** Why the backend is not ready, in plain words. */
  readonly reason?: string | undefined;
  /** Whether the scheduler's objects for this gang exist and match its spec; true for a backend without such objects. */
  readonly objectsExist: boolean;
  /** Why the objects do not exist, where more is known than that they are not created yet. */
  readonly objectsWait?: string | undefined;
  /** Why the scheduler does not place the gang, as it reports in those objects. */
  readonly schedulerMessage?: string | undefined;
  readonly releaseOrder: ReleaseOrder;
  /**
   * Whether the scheduler counts a Pod for its gang until the Pod is gone, even while it is being deleted; absent: false.
   */
  readonly countsEnding?: boolean;
}
