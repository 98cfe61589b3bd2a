import type { ContractRange } from '../api/contract-range.ts';
import type { JsonObject } from '../json/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Resource } from '../k8s/resource.ts';
import type { TopologyLevels } from '../gang/rules/check-topology.ts';
import type { ReleaseOrder } from '../gang/records.ts';
import type { Membership } from '../gang/membership.ts';
import type { PatchSurface, PodGangVerdict, PodPatch, PodReader } from '../preparers/preparer.ts';
import type { BackendFacts, ClusterProbe, ClusterSyncContext, InitContext, SyncContext } from './cluster.ts';
import type { ProfileSettings } from './profile-config.ts';

/** Version of this contract. New optional members do not raise it; a change that breaks a backend does. */
export const BACKEND_CONTRACT_VERSION = 1;

export const CONTRACT_RANGE: ContractRange = { oldest: 1, current: BACKEND_CONTRACT_VERSION };

// A backend prepares Pods by the same interfaces as every preparer.
export { isPodRefused, PodRefused } from '../preparers/preparer.ts';
export type {
  PatchSurface,
  PodGangVerdict,
  PodPatch,
  PodReader,
  WorkloadRef,
} from '../preparers/preparer.ts';

/** Settings of one profile, without anything read from a cluster. */
export interface BackendSettings {
  /** `scheduler.profiles[].config` of the configuration; `{}` when absent. */
  readonly config: JsonObject;
  /** `topologyAwareScheduling` of the configuration: node label keys from the widest level to the narrowest. */
  readonly topology: TopologyLevels;
}

/** One scheduler: the five operations of the scheduler backend framework, and a verdict on PodGangs. */
export interface Backend {
  /** {@link BACKEND_CONTRACT_VERSION} at the time when the backend was written. */
  readonly contractVersion: number;
  /** The profile's name in the configuration, and the value of `grove.io/scheduler-name`. */
  readonly name: string;
  /** Required value of `spec.schedulerName` of its Pods. */
  readonly schedulerName: string;
  readonly patchSurface: PatchSurface;
  /**
   * Whether `preparePod` reads volumes, environment, mounts or initContainers of Pods. These lists are most of a large Pod
   * and are parsed only for a backend that sets this or declares in `patchSurface` that it adds to them.
   */
  readonly readsWholePods?: boolean;
  /**
   * Inspects the cluster: called at start and then repeatedly, since a cluster changes. The backend may store the findings
   * for `preparePod` and `validatePodGang`. Throws an Error with the reason when the backend cannot work in this cluster
   * now; only its own gangs wait then.
   */
  init(context: InitContext): Promise<BackendFacts>;
  /**
   * Prepares one Pod: synchronous, pure, no clock and no I/O. The same Pod gives the same patch, and a prepared Pod gives an
   * empty one.
   * @throws {PodRefused} when this Pod cannot be prepared
   */
  preparePod(pod: PodReader, gang: Membership, patch: PodPatch): void;
  validatePodGang(gang: PodGang): PodGangVerdict;
  /**
   * Warnings about parts of a PodGang update, of labels and annotations too, that will have no effect. The update is
   * admitted.
   */
  warnOfUpdate?(before: PodGang, after: PodGang): readonly string[];
  /** Creates or updates the scheduler's own objects. Called repeatedly, so it must be idempotent. */
  syncPodGang(context: SyncContext, gang: PodGang): Promise<void>;
  /** Deletes objects that owner references do not, also when the gang has moved to another backend. The gang may be gone. */
  onPodGangDelete(context: SyncContext, gang: PodGang): Promise<void>;
  /**
   * Whether {@link onPodGangDelete} must not be missed, because the backend keeps objects that no owner reference deletes.
   * Its PodGangs get a finalizer then, so that a PodGang deleted while Muster is down stays until Muster is back. Without
   * this, the call is made only when the leader replica sees the deletion.
   */
  readonly cleansUp?: boolean;
  /** Kinds of the backend's objects, which Muster watches; read after each `init`. Absent: none. */
  owns?(): readonly Resource[];
  /** Keeps cluster-wide objects; called after each `init` on the leader replica. */
  syncCluster?(context: ClusterSyncContext): Promise<void>;
  /**
   * Whether the gang's objects depend on bound Pods: the gang is synced again when its first Pod is bound, and when none is
   * any more.
   */
  followsBinding?(gang: PodGang): boolean;
  /**
   * Whether the gang's objects depend on which Pods exist and are referenced: the gang is synced again before these Pods are
   * released, and when one appears, ends or is deleted.
   */
  followsReferences?(gang: PodGang): boolean;
  /** Order in which gates come off. Absent: all at once. */
  releaseOrder?(gang: PodGang): ReleaseOrder;
  /**
   * Whether the scheduler counts a terminating Pod for its gang until the Pod is gone. When a gang is replaced as a whole,
   * its new Pods wait for the terminating ones then. Absent: false.
   */
  countsEnding?(gang: PodGang): boolean;
  /**
   * Whether the scheduler itself preempts Pods for a whole gang, by the last inspection of the cluster; undefined while
   * unknown. Absent: unknown for ever, and Muster does not preempt for its gangs.
   */
  preemptsGangs?(): boolean | undefined;
  /** The scheduler's reason for not placing the gang, on one line, read from the gang's objects. */
  explain?(objects: readonly JsonObject[]): string | undefined;
}

/** A permission that Muster's account needs: one rule of its ClusterRole, with the reason. */
export interface AccountRight {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Names of the objects that the rule covers. Absent: all. */
  readonly names?: readonly string[];
  /** Fields of `spec` that the scheduler writes in objects kept by Muster: the policies let everybody write them. */
  readonly schedulersFields?: readonly string[];
  /** One clause, for people. */
  readonly why: string;
}

/** The right to read a CRD of the scheduler, whose fields show the scheduler's version. */
export const definitionRight = (crd: string): AccountRight => ({
  group: 'apiextensions.k8s.io',
  resources: ['customresourcedefinitions'],
  verbs: ['get'],
  names: [crd],
  why: 'whether the definition is there, and which fields it has',
});

/** Keys of a Pod by which a scheduler finds the group that the Pod counts for. */
export interface CountedBy {
  readonly labels?: readonly string[];
  readonly annotations?: readonly string[];
  /** Keys of both kinds whose value is the name of the scheduler's group: the gang's name, or `<namespace>.<gang>`. */
  readonly groupNamedBy?: readonly string[];
}

/** Signs that a scheduler runs in a cluster. */
export interface SchedulerTraces {
  /** Matches `namespace/name` of its Deployment, as its own charts name it. */
  readonly deployment: RegExp;
  /** Lease that its leader renews. Absent: it elects no leader. */
  readonly lease?: { readonly namespace: string; readonly name: string };
}

/** Input of the conformance kit for a backend; every field is optional. */
export interface ConformanceSettings {
  /** `scheduler.profiles[].config`, for a backend that needs one. */
  readonly config?: JsonObject;
  readonly topology?: TopologyLevels;
  /** Labels and annotations that a gang needs to be accepted by the backend. */
  readonly gang?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** The cluster that `init` inspects. Absent: no cluster, as in `muster review`. */
  readonly cluster?: ClusterProbe;
}

/**
 * A backend before it is configured, as the registry holds it, with all static facts about its scheduler. Manifests, pages
 * and `muster doctor` are made from these facts, so a new backend needs no entry anywhere else.
 */
export interface BackendFactory {
  readonly name: string;
  /** Former names that still work, each with the replacement to tell people. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Keys of `settings.config`. */
  readonly settings?: ProfileSettings;
  /** Rights that Muster's account needs for this backend. */
  readonly rights?: readonly AccountRight[];
  /** Keys that the API server protects on a gang's Pod: once set, nobody changes them, and no Binding sets them. */
  readonly countedBy?: CountedBy;
  /** Whether the scheduler may lack preemption for gangs, so that Muster can preempt: see {@link Backend.preemptsGangs}. */
  readonly leavesPreemption?: true;
  /** Absent: `muster doctor` cannot say whether the scheduler runs. */
  readonly traces?: SchedulerTraces;
  /** Settings of conformance runs, by title. Absent: one run with empty settings. */
  readonly conformance?: Readonly<Record<string, ConformanceSettings>>;
  /**
   * Throws an Error with the reason when `settings.config` is wrong. Muster does not start then; the gangs of a module's
   * backend wait.
   */
  create(settings: BackendSettings): Backend;
}
