import type { ClusterProbe, Resource } from '../k8s/resource.ts';
import type { JsonObject } from '../json/json.ts';

export type { ClusterProbe };

export interface InitContext {
  /** undefined where there is none: `muster serve --no-controller`, `muster review`, `muster validate`. */
  readonly cluster: ClusterProbe | undefined;
  /** Aborted when Muster gives up on the call. */
  readonly signal: AbortSignal;
}

/** What a backend found, once it is ready. */
export interface BackendFacts {
  /** The API that it will speak, such as `scheduling.run.ai/v2alpha2`, or what else tells its version. */
  readonly version: string;
  /** What the cluster lacks and what follows from that, a sentence each: shown, and no reason to wait. */
  readonly notices?: readonly string[];
}

/** An object of the scheduler's, as a backend wants it to be. */
export interface OwnedObject {
  readonly resource: Resource;
  readonly name: string;
  /** Added to what the object has; taken off again once the backend no longer names them. Others stay. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Only what is named here is ever written; what the backend named before and no longer names is removed. */
  readonly spec: JsonObject;
  /** The same for what stands beside `spec`, or in place of one that is `{}`: `{ data: … }` of a ConfigMap. */
  readonly body?: JsonObject;
  /**
   * Whether it is only ever made: what is there stays as it is and is not read, whosever it is, and no record is kept of
   * what it says.
   */
  readonly once?: true;
  /** Finalizers that shall not keep what an earlier gang of that name has left: those that wait for Pods which do not count. */
  readonly despite?: readonly string[];
  /** Top-level fields of `spec` that are written at creation and are the scheduler's from then on. */
  readonly writtenOnce?: readonly string[];
}

/** The verbs that keeping an object through {@link SyncContext} takes; `delete` also where a gang becomes another backend's. */
export const KEEP_OBJECTS: readonly string[] = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

export type Applied = 'created' | 'updated' | 'unchanged';

/** What of a gang's Pods a backend may want to know before it changes an object. */
export interface GangPod {
  readonly name: string;
  readonly group: string;
  /** Names in `spec.schedulingGates`. */
  readonly gates: readonly string[];
  /** `''` while unbound. */
  readonly nodeName: string;
  /**
   * The native gang of Kubernetes that the Pod's spec names: a PodGroup, or of 1.35 `<Workload>/<group>`. `''` where it
   * names none; absent where nobody looked.
   */
  readonly nativeGang?: string | undefined;
}

/** What `syncPodGang` and `onPodGangDelete` may do: read and write the objects of one gang, in its namespace. */
export interface SyncContext {
  /** Aborted when Muster gives up on the call. */
  readonly signal: AbortSignal;
  /** The gang's Pods that have not ended and are not terminating, as last seen. */
  readonly pods: readonly GangPod[];
  /** The gang's objects of one kind in `owns()`, as last seen; terminating ones too. */
  owned(resource: Resource): readonly JsonObject[];
  /**
   * Makes an object what the backend wants: created with a controller reference to the PodGang, else patched where it
   * differs, on the condition that it is what was seen. Nothing is written where nothing differs.
   * @throws MusterError BACKEND_OBJECT_FOREIGN where an object of that name is not this gang's; ApiError
   */
  apply(object: OwnedObject): Promise<Applied>;
  /** GET of any path, for what a gang depends on and no watch of its objects tells; undefined for 404. */
  read?(path: string): Promise<JsonObject | undefined>;
  /**
   * Deletes one of the gang's own objects; no such object is no error.
   * @param despite finalizers that are taken off then, by name: those that wait for Pods which do not count
   */
  remove(resource: Resource, name: string, despite?: readonly string[]): Promise<void>;
  /** Tells the gang's owner something that is worth knowing and stops nothing: an Event, once. */
  warn(message: string): void;
}

/** The same for objects of the cluster, which belong to no gang. Only the replica that leads is given one. */
export type ClusterSyncContext = Pick<SyncContext, 'signal' | 'apply' | 'remove'>;

/** What is known of a backend: nothing yet, that it works here, or why it does not. */
export type Readiness =
  | { readonly state: 'unknown' }
  | { readonly state: 'ready'; readonly facts: BackendFacts }
  | { readonly state: 'failed'; readonly reason: string };

export const NOT_ASKED: Readiness = { state: 'unknown' };
