import type { JsonObject } from '../../json/json.ts';
import type { PatchOperation } from '../../json/patch.ts';
import type { UnreadList } from '../../json/unread-lists.ts';
import type { Message } from '../../protobuf/message.ts';
import type { KubeObject, Resource, Target } from './resources.ts';

export interface KubeCallOptions {
  /** Aborting rejects the call with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Default 15 s, including retries but not the wait for the rate limit. */
  readonly timeoutMs?: number;
  /** Exempt from the rate limit: for calls that must not be delayed by others, such as the renewal of a Lease. */
  readonly unlimited?: boolean;
  /** Comes before other calls of its namespace that wait for their turn: what somebody waits for most. */
  readonly first?: boolean;
}

export interface WriteOptions extends KubeCallOptions {
  readonly dryRun?: boolean;
  /** The manager's name in `managedFields`. Default `muster`. */
  readonly fieldManager?: string;
  /**
   * `metadata`: the answer contains metadata only (PartialObjectMetadata), which saves work on both sides. `nothing`:
   * the same, and the answer is not parsed; the call resolves with undefined. Default `object`.
   */
  readonly answer?: 'object' | 'metadata' | 'nothing';
}

export interface DeleteOptions extends KubeCallOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  /** Deletes only the object that was read: another uid or resourceVersion is a conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface PodToEvict {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Selection {
  /** For a namespaced resource; absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** What of listed and watched objects is not parsed. */
export interface Unread {
  /** Lists that are emptied; default: those of `managedFields`. */
  readonly unread?: readonly UnreadList[] | undefined;
  /**
   * The only fields of watched objects where the API server serves the kind in protobuf, which it writes in a third of
   * the time of JSON. Absent: all fields, in JSON.
   */
  readonly fields?: Message | undefined;
}

export interface ListOptions extends Selection, Unread, KubeCallOptions {
  /** The largest answer in bytes. @throws AnswerTooLarge when the answer is larger */
  readonly maxBytes?: number | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** The version that a watch may start from. */
  readonly resourceVersion: string;
  /** Token of the next page; undefined on the last page. */
  readonly continue: string | undefined;
}

export interface WatchOptions extends Selection, Unread {
  readonly resourceVersion: string;
  /**
   * Begins with an ADDED event for each object, and a bookmark with the annotation `k8s.io/initial-events-end`
   * (WatchList). Without a resourceVersion their state is the newest.
   */
  readonly initialEvents?: boolean;
  /** Time after which the server ends the watch normally. */
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal;
  /** Called once the server has accepted the watch, which may be long before the first event. */
  readonly accepted?: () => void;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** A bookmark's object has only `metadata.resourceVersion` and annotations. */
  readonly object: T;
}

/**
 * Calls of the API server with raw JSON in and out. All methods reject with `ApiError` when the server answers with an
 * error, and with `MusterError` CLUSTER_UNREACHABLE when it does not answer.
 */
export interface KubeClient {
  readonly server: string;
  /** Reads any path, such as `/version` or `/apis/scheduling.k8s.io`. */
  read<T = JsonObject>(path: string, options?: KubeCallOptions): Promise<T>;
  get<T = KubeObject>(target: Target, options?: KubeCallOptions): Promise<T>;
  /** Lists one page. */
  list<T = KubeObject>(resource: Resource, options?: ListOptions): Promise<Page<T>>;
  /** Yields events in batches as they arrive. Ends when the server ends the watch; throws an ERROR event. */
  watch<T = KubeObject>(resource: Resource, options: WatchOptions): AsyncIterable<readonly WatchEvent<T>[]>;
  /** Fills in `apiVersion` and `kind`. */
  create<T = KubeObject>(resource: Resource, object: KubeObject, options?: WriteOptions): Promise<T>;
  jsonPatch<T = KubeObject>(
    target: Target,
    operations: readonly PatchOperation[],
    options?: WriteOptions,
  ): Promise<T>;
  /** A `metadata.resourceVersion` in the patch makes it conditional on that version (409 otherwise). */
  mergePatch<T = KubeObject>(target: Target, patch: object, options?: WriteOptions): Promise<T>;
  patchStatus<T = KubeObject>(target: Target, patch: object, options?: WriteOptions): Promise<T>;
  /** Conditional on `metadata.resourceVersion`, if the object has one. */
  replace<T = KubeObject>(resource: Resource, object: KubeObject, options?: WriteOptions): Promise<T>;
  delete(target: Target, options?: DeleteOptions): Promise<void>;
  /**
   * Requests the eviction (policy/v1) of the Pod with this uid. The API server answers 429 when a PodDisruptionBudget
   * does not allow it, and 409 when the Pod of that name has another uid.
   */
  evict(pod: PodToEvict, options?: Pick<WriteOptions, 'dryRun' | keyof KubeCallOptions>): Promise<void>;
  /** Aborts calls in progress and closes all connections. */
  close(): Promise<void>;
}
