import type { Fault } from '../api/fault.ts';
import type { JsonObject } from '../api/json.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Membership } from '../gang/membership.ts';

/** Version of this contract. It grows by optional members; a change that breaks a backend raises it. */
export const BACKEND_CONTRACT_VERSION = 1;

/** What a backend may read of the Pod at admission: the received Pod, before anything of Muster's. */
export interface PodReader {
  readonly namespace: string;
  /** Absent while `generateName` is still to be resolved. */
  readonly name: string | undefined;
  readonly schedulerName: string | undefined;
  readonly priorityClassName: string | undefined;
  label(key: string): string | undefined;
  annotation(key: string): string | undefined;
}

/**
 * What a backend will ever touch in a Pod, declared up front. A call beyond it is a defect of the backend: the
 * Pod is refused with an error that names the backend, and nothing of the call reaches the Pod.
 */
export interface PatchSurface {
  readonly schedulerName?: boolean;
  readonly annotations?: readonly string[];
  readonly labels?: readonly string[];
  /** Further scheduling gates; Muster's own is not the backend's to touch. */
  readonly gates?: readonly string[];
  readonly schedulingGroup?: boolean;
}

/**
 * How a backend speaks about a Pod. Setting what is already so costs nothing and patches nothing; `why` is shown
 * to people by `muster review`, as one clause.
 */
export interface PodPatch {
  setSchedulerName(name: string, why: string): void;
  annotate(key: string, value: string, why: string): void;
  label(key: string, value: string, why: string): void;
  addGate(name: string, why: string): void;
  /** `spec.schedulingGroup.podGroupName` of Kubernetes 1.36 and later. */
  setSchedulingGroup(podGroupName: string, why: string): void;
}

/** What a backend's scheduler cannot express (`faults`, refused) or will ignore (`warnings`, said). */
export interface PodGangVerdict {
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
}

export interface BackendContext {
  /** `scheduler.profiles[].config` of the configuration, `{}` where there is none. */
  readonly config: JsonObject;
}

export interface SyncContext {
  /** Aborted when Muster gives up on the call. */
  readonly signal: AbortSignal;
}

/** One scheduler, as Muster speaks to it: the five operations of the scheduler backend framework, and a verdict. */
export interface Backend {
  readonly contractVersion: typeof BACKEND_CONTRACT_VERSION;
  /** The profile's name in the configuration, and the value of `grove.io/scheduler-name`. */
  readonly name: string;
  /** What `spec.schedulerName` of its Pods must be. */
  readonly schedulerName: string;
  readonly patchSurface: PatchSurface;
  /** Called once at start. Throws with the reason if the backend cannot work here. */
  init(context: BackendContext): Promise<void>;
  /**
   * Prepares one Pod: synchronous, pure, no clock and no I/O, the same Pod gives the same patch, and the prepared
   * Pod gives none.
   * @throws {PodRefused} where this Pod cannot be prepared
   */
  preparePod(pod: PodReader, gang: Membership, patch: PodPatch): void;
  validatePodGang(gang: PodGang): PodGangVerdict;
  /** Creates or updates the scheduler's own objects. Called again and again: it must be idempotent. */
  syncPodGang(context: SyncContext, gang: PodGang): Promise<void>;
  /** Cleans up what owner references do not. */
  onPodGangDelete(context: SyncContext, gang: PodGang): Promise<void>;
}

/** A backend before it is configured: what the registry holds. */
export interface BackendFactory {
  readonly name: string;
  /** Former names that still work, each with what people should write instead. */
  readonly aliases?: Readonly<Record<string, string>>;
  create(): Backend;
}

/** A backend's refusal of a Pod that it cannot prepare: the user is told, with 422. */
export class PodRefused extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = 'PodRefused';
    this.field = field;
  }
}
