import type { PodGang } from '../api/pod-gang.ts';
import type { PodOrigin } from '../api/pod-origin.ts';

/**
 * What the loop has read before it judges: plain data, so that a test can make up any moment of any history.
 * Nothing here is asked of the API server again; whoever fills it says how fresh it is (`synced`).
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
  /** Why Muster does not move this gang: it writes nothing to it then. undefined where it is Muster's. */
  readonly notOurs: NotOurs | undefined;
  /** Whether the minimum of the gang's workload leaves out what its Pods have done already. */
  readonly countsWhatIsLeft: boolean;
  /**
   * Why nothing is known for certain in this namespace, in plain words: its objects have no room in memory. All stays as it
   * is then. undefined where all of it is known.
   */
  readonly memoryExceeded?: string | undefined;
  /**
   * When this process last wrote the gang's status; undefined if it has not. Only slows down the rewriting of
   * messages, so that counting Pods as they come does not cost a write each.
   */
  readonly lastStatusWrite: number | undefined;
}

/** A gang that another operator moves, as Grove's does, or that nobody moves, since the configuration does not select it. */
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

/** A Pod, trimmed to what the loop looks at. */
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
  /** `spec.schedulerName`; absent where nobody looked. */
  readonly schedulerName?: string | undefined;
  /** Names in `spec.schedulingGates`, in their order: a JSON patch speaks of a gate by its position. */
  readonly gates: readonly string[];
  /** `''` while unbound. */
  readonly nodeName: string;
  /** The native gang that its spec names: a PodGroup, or of Kubernetes 1.35 `<Workload>/<group>`; `''` for none. */
  readonly nativeGang?: string | undefined;
  /** `spec.priorityClassName`, `''` where it names none; absent where nobody looked. */
  readonly priorityClassName?: string | undefined;
  /** `spec.priority`, which its class had when it was made; absent where nobody looked. */
  readonly priority?: number | undefined;
  /** By what it was prepared beside its backend, as its annotation has it; absent: by nothing. */
  readonly prepared?: string | undefined;
  /** `spec.subdomain` of a Pod that was prepared so. */
  readonly subdomain?: string | undefined;
  /** What a Pod that was prepared so calls itself: `spec.hostname`, or its name. */
  readonly hostname?: string | undefined;
  /** Of its template, where Pods of two revisions are never of one gang at a time; absent: nobody says. */
  readonly revision?: string | undefined;
  /** Of a leader whose workers are always made after it, and go with it; absent: it is none. */
  readonly leads?: true;
  /** How often its workload was restarted before it, as the workload says; absent: nobody says. */
  readonly attempt?: string | undefined;
  readonly phase: string;
  readonly ready: boolean;
  readonly podScheduled: PodScheduled | undefined;
  /** The workload by which it is of its gang; absent where it names the gang itself, or nobody looked. */
  readonly origin?: PodOrigin | undefined;
}

/** A Namespace, trimmed to what decides about the gangs in it. */
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

/** The condition PodScheduled: what the scheduler says of this Pod. */
export interface PodScheduled {
  readonly status: string;
  readonly reason: string | undefined;
  readonly message: string | undefined;
}

/** The gang that has to be scheduled first: its groups, and every Pod with its label. */
export interface BaseGang {
  readonly gang: Pick<PodGang, 'namespace' | 'name' | 'spec'>;
  readonly pods: readonly PodRecord[];
  /** The scheduler of its backend; absent where it is not known. */
  readonly schedulerName?: string | undefined;
}

/** How the scheduler counts, hence in which order gates come off. */
export const RELEASE_ORDERS = ['all-at-once', 'minimum-first', 'optional-groups-last'] as const;
export type ReleaseOrder = (typeof RELEASE_ORDERS)[number];

export interface BackendState {
  readonly name: string;
  /** `spec.schedulerName` of its Pods; absent where it is not known. */
  readonly schedulerName?: string | undefined;
  readonly ready: boolean;
  /** Why it is not ready, in plain words. */
  readonly reason?: string | undefined;
  /** Whether the scheduler's own objects for this gang exist and are as its spec asks; true where a backend has none. */
  readonly objectsExist: boolean;
  /** Why they do not, where more is known than that they are not there yet. */
  readonly objectsWait?: string | undefined;
  /** What the scheduler says, in those objects, about why it does not place the gang. */
  readonly schedulerMessage?: string | undefined;
  readonly releaseOrder: ReleaseOrder;
  /** Whether the scheduler counts a Pod for its gang until it is gone, though it is being deleted; absent: it does not. */
  readonly countsEnding?: boolean;
}
