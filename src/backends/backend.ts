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

/** Version of this contract. It grows by optional members; a change that breaks a backend raises it. */
export const BACKEND_CONTRACT_VERSION = 1;

export const CONTRACT_RANGE: ContractRange = { oldest: 1, current: BACKEND_CONTRACT_VERSION };

// What a backend says and hears of a Pod is what every preparer does.
export { isPodRefused, PodRefused } from '../preparers/preparer.ts';
export type {
  PatchSurface,
  PodGangVerdict,
  PodPatch,
  PodReader,
  WorkloadRef,
} from '../preparers/preparer.ts';

/** What a backend is made from: all that is known without a cluster. */
export interface BackendSettings {
  /** `scheduler.profiles[].config` of the configuration, `{}` where there is none. */
  readonly config: JsonObject;
  /** `topologyAwareScheduling` of the configuration: node label keys from the widest level to the narrowest. */
  readonly topology: TopologyLevels;
}

/** One scheduler, as Muster speaks to it: the five operations of the scheduler backend framework, and a verdict. */
export interface Backend {
  /** {@link BACKEND_CONTRACT_VERSION} as it was when the backend was written. */
  readonly contractVersion: number;
  /** The profile's name in the configuration, and the value of `grove.io/scheduler-name`. */
  readonly name: string;
  /** What `spec.schedulerName` of its Pods must be. */
  readonly schedulerName: string;
  readonly patchSurface: PatchSurface;
  /**
   * Whether `preparePod` looks at volumes, environment, mounts or initContainers of Pods. They are most of a large Pod, and
   * parsed for nobody else: who neither says so nor declares to add there is given a Pod without them.
   */
  readonly readsWholePods?: boolean;
  /**
   * Looks at the cluster: called at start, and again and again after that, since a cluster changes. What it finds it
   * may keep, for `preparePod` and `validatePodGang` to go by. Throws with the reason where the backend cannot work
   * here now; its gangs wait then, and nobody else's.
   */
  init(context: InitContext): Promise<BackendFacts>;
  /**
   * Prepares one Pod: synchronous, pure, no clock and no I/O, the same Pod gives the same patch, and the prepared
   * Pod gives none.
   * @throws {PodRefused} where this Pod cannot be prepared
   */
  preparePod(pod: PodReader, gang: Membership, patch: PodPatch): void;
  validatePodGang(gang: PodGang): PodGangVerdict;
  /** What a change of a PodGang, of its labels and annotations too, will not do: told to its author, and let in. */
  warnOfUpdate?(before: PodGang, after: PodGang): readonly string[];
  /** Creates or updates the scheduler's own objects. Called again and again: it must be idempotent. */
  syncPodGang(context: SyncContext, gang: PodGang): Promise<void>;
  /** Cleans up what owner references do not, also where the gang is another backend's now. The gang may be gone. */
  onPodGangDelete(context: SyncContext, gang: PodGang): Promise<void>;
  /**
   * Whether {@link onPodGangDelete} must not be missed, since the backend keeps what no owner reference takes away. Its
   * PodGangs get a finalizer then, so that one that is deleted while Muster is down stays until Muster is back. Without
   * it the call is made only where the replica that leads sees the deletion.
   */
  readonly cleansUp?: boolean;
  /** The kinds of its objects, for Muster to watch; asked after each `init`. None where this is absent. */
  owns?(): readonly Resource[];
  /** Keeps objects that belong to the cluster, after each `init`, on the replica that leads. */
  syncCluster?(context: ClusterSyncContext): Promise<void>;
  /** Whether the gang's objects depend on its Pods being bound: it is synced again when the first is, and when none is any more. */
  followsBinding?(gang: PodGang): boolean;
  /**
   * Whether the gang's objects depend on which of its Pods there are and are referred to: it is synced again before those are let
   * go, and when one comes, ends or goes.
   */
  followsReferences?(gang: PodGang): boolean;
  /** In which order gates come off; all at once where this is absent. */
  releaseOrder?(gang: PodGang): ReleaseOrder;
  /**
   * Whether its scheduler counts a Pod for its gang until it is gone, though it is being deleted: the next Pods of a gang that
   * is replaced whole wait for those then. Not so where this is absent.
   */
  countsEnding?(gang: PodGang): boolean;
  /**
   * Whether its scheduler itself evicts others to make room for a whole gang, in the cluster as it was last looked at;
   * undefined while that is not known. Where this is absent nobody knows, and Muster makes no room for its gangs.
   */
  preemptsGangs?(): boolean | undefined;
  /** What the scheduler says, in the gang's objects, about why it does not place the gang; one line. */
  explain?(objects: readonly JsonObject[]): string | undefined;
}

/** What Muster's account must be allowed to do, and what for: one rule of its ClusterRole. */
export interface AccountRight {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Of these objects alone; absent: of all. */
  readonly names?: readonly string[];
  /** Fields of `spec`, in objects that Muster keeps, which the scheduler writes: the policies let everybody write them. */
  readonly schedulersFields?: readonly string[];
  /** For people: one clause. */
  readonly why: string;
}

/** What it takes to look at the definition of a kind of the scheduler's: which fields it has tells its version. */
export const definitionRight = (crd: string): AccountRight => ({
  group: 'apiextensions.k8s.io',
  resources: ['customresourcedefinitions'],
  verbs: ['get'],
  names: [crd],
  why: 'whether the definition is there, and which fields it has',
});

/** Keys of a Pod by which a scheduler knows the group that it counts the Pod for. */
export interface CountedBy {
  readonly labels?: readonly string[];
  readonly annotations?: readonly string[];
  /** Those of both whose value is the name of the group: the gang's, or `<namespace>.<gang>`. */
  readonly groupNamedBy?: readonly string[];
}

/** By what somebody who looks at a cluster knows that a scheduler runs there. */
export interface SchedulerTraces {
  /** `namespace/name` of its Deployment, as its own charts call it. */
  readonly deployment: RegExp;
  /** What its leader renews, where it elects one. */
  readonly lease?: { readonly namespace: string; readonly name: string };
}

/** What the conformance kit is told about a backend; everything may be left out. */
export interface ConformanceSettings {
  /** `scheduler.profiles[].config`, where the backend needs one. */
  readonly config?: JsonObject;
  readonly topology?: TopologyLevels;
  /** Labels and annotations without which the backend takes no gang. */
  readonly gang?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  /** What `init` finds. Absent: no cluster, as in `muster review`. */
  readonly cluster?: ClusterProbe;
}

/**
 * A backend before it is configured: what the registry holds, and all that is known of its scheduler. Manifests, pages
 * and `muster doctor` go by this, so that a further backend is nowhere else.
 */
export interface BackendFactory {
  readonly name: string;
  /** Former names that still work, each with what people should write instead. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The keys of `settings.config`. */
  readonly settings?: ProfileSettings;
  /** What Muster's account needs for it. */
  readonly rights?: readonly AccountRight[];
  /** The API server keeps these on a gang's Pod: once there, nobody changes them, and no Binding brings them. */
  readonly countedBy?: CountedBy;
  /** Its scheduler may be one that preempts no gangs, so that Muster can make room: see {@link Backend.preemptsGangs}. */
  readonly leavesPreemption?: true;
  /** Absent: `muster doctor` cannot say whether the scheduler runs. */
  readonly traces?: SchedulerTraces;
  /** Under which settings it is tried out, by a title; where there are none, with no settings at all. */
  readonly conformance?: Readonly<Record<string, ConformanceSettings>>;
  /** Throws with the reason where `settings.config` is wrong: Muster does not start then, or, of a module, waits for better. */
  create(settings: BackendSettings): Backend;
}
