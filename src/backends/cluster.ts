import type { ClusterProbe, Resource } from '../k8s/resource.ts';
import type { JsonObject } from '../json/json.ts';

export type { ClusterProbe };

export interface InitContext {
  /** undefined when there is no cluster: `muster serve --no-controller`, `muster review`, `muster validate`. */
  readonly cluster: ClusterProbe | undefined;
  /** Aborted when Muster stops waiting for the call. */
  readonly signal: AbortSignal;
}

/** Findings of a backend that is ready. */
export interface BackendFacts {
  /**
   * The API version that the backend uses, such as `scheduling.run.ai/v2alpha2`, or another sign of the scheduler's version.
   */
  readonly version: string;
  /** Features that the cluster lacks and the consequences, a sentence each: shown, but not blocking. */
  readonly notices?: readonly string[];
}

/** Desired state of one of the scheduler's objects. */
export interface OwnedObject {
  readonly resource: Resource;
  readonly name: string;
  /** Merged into the object's own; removed again once the backend no longer lists them. Keys of others stay. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Only these fields are written; a field that the backend listed before and no longer lists is removed. */
  readonly spec: JsonObject;
  /** Fields beside `spec`, or instead of an empty `spec`, by the same rules: `{ data: … }` of a ConfigMap. */
  readonly body?: JsonObject;
  /**
   * Whether the object is only created: an existing one, whoever owns it, is neither read nor changed, and its content is
   * not recorded.
   */
  readonly once?: true;
  /**
   * Finalizers to remove from a terminating object of an earlier gang with this name: finalizers that wait for Pods that do
   * not count.
   */
  readonly despite?: readonly string[];
  /** Top-level fields of `spec` that are written at creation and belong to the scheduler from then on. */
  readonly writtenOnce?: readonly string[];
}

/**
 * Verbs that keeping an object through {@link SyncContext} needs. `delete` is also needed when a gang moves to another
 * backend.
 */
export const KEEP_OBJECTS: readonly string[] = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

export type Applied = 'created' | 'updated' | 'unchanged';

/** Fields of a gang's Pod that a backend may need before it changes an object. */
export interface GangPod {
  readonly name: string;
  readonly group: string;
  /** Names in `spec.schedulingGates`. */
  readonly gates: readonly string[];
  /** `''` while unbound. */
  readonly nodeName: string;
  /**
   * The native gang of Kubernetes that the Pod's spec names: a PodGroup, or in 1.35 `<Workload>/<group>`. `''` when the Pod
   * names none; absent when it was not read.
   */
  readonly nativeGang?: string | undefined;
}

/** Operations of `syncPodGang` and `onPodGangDelete`: read and write the objects of one gang, in its namespace. */
export interface SyncContext {
  /** Aborted when Muster stops waiting for the call. */
  readonly signal: AbortSignal;
  /** The gang's Pods that have not ended and are not terminating, as last seen. */
  readonly pods: readonly GangPod[];
  /** The gang's objects of one kind in `owns()`, as last seen, terminating ones included. */
  owned(resource: Resource): readonly JsonObject[];
  /**
   * Brings an object to the desired state: creates it with a controller reference to the PodGang, or patches the fields that
   * differ, provided that the object has not changed since it was read. Nothing is written when nothing differs.
   * @throws MusterError BACKEND_OBJECT_FOREIGN when an object of that name belongs to something else; ApiError
   */
  apply(object: OwnedObject): Promise<Applied>;
  /** GETs any path, for dependencies of a gang that Muster does not watch; undefined for 404. */
  read?(path: string): Promise<JsonObject | undefined>;
  /**
   * Deletes one of the gang's own objects; a missing object is no error.
   * @param despite names of finalizers to remove: finalizers that wait for Pods that do not count
   */
  remove(resource: Resource, name: string, despite?: readonly string[]): Promise<void>;
  /** Tells the gang's owner about a problem that stops nothing: an Event, once. */
  warn(message: string): void;
}

/** SyncContext for objects of the cluster, which belong to no gang. Only the leader replica has one. */
export type ClusterSyncContext = Pick<SyncContext, 'signal' | 'apply' | 'remove'>;

/** State of a backend: not inspected yet, ready, or not ready with the reason. */
export type Readiness =
  | { readonly state: 'unknown' }
  | { readonly state: 'ready'; readonly facts: BackendFacts }
  | { readonly state: 'failed'; readonly reason: string };

export const NOT_ASKED: Readiness = { state: 'unknown' };
