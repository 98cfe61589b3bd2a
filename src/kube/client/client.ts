import type { JsonObject } from '../../json/json.ts';
import type { PatchOperation } from '../../json/patch.ts';
import type { UnreadList } from '../../json/unread-lists.ts';
import type { KubeObject, Resource, Target } from './resources.ts';

export interface KubeCallOptions {
  /** Aborting rejects the call with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Default 15 s, retries included; waiting for the rate limit is not. */
  readonly timeoutMs?: number;
  /** Not held back by the rate limit: for what must not come late behind the rest, as the renewal of a Lease. */
  readonly unlimited?: boolean;
}

export interface WriteOptions extends KubeCallOptions {
  readonly dryRun?: boolean;
  /** Who shows up in `managedFields`. Default `muster`. */
  readonly fieldManager?: string;
  /**
   * `metadata`: the answer holds nothing else (PartialObjectMetadata), which spares both sides work. `nothing`: the same,
   * and it is not even read; what comes is undefined. Default `object`.
   */
  readonly answer?: 'object' | 'metadata' | 'nothing';
}

export interface DeleteOptions extends KubeCallOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  /** Deletes only what was read: another uid or resourceVersion is a conflict. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

export interface PodToEvict {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface Selection {
  /** Of a namespaced resource; absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** What is left out of objects that are listed or watched, unparsed. */
export interface Unread {
  /** Lists that come empty; default: those of `managedFields`. */
  readonly unread?: readonly UnreadList[] | undefined;
}

export interface ListOptions extends Selection, Unread, KubeCallOptions {
  /** Of the answer. @throws AnswerTooLarge where there are more */
  readonly maxBytes?: number | undefined;
  readonly limit?: number | undefined;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Where a watch may start. */
  readonly resourceVersion: string;
  /** For the next page; undefined on the last. */
  readonly continue: string | undefined;
}

export interface WatchOptions extends Selection, Unread {
  readonly resourceVersion: string;
  /** After which the server ends the watch in good order. */
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal;
  /** Called once the server has accepted the watch, which may be long before the first event. */
  readonly accepted?: () => void;
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /** Of a bookmark only `metadata.resourceVersion`. */
  readonly object: T;
}

/**
 * The API server: raw JSON in and out. All methods reject with `ApiError` when it says no and with
 * `MusterError` CLUSTER_UNREACHABLE when it says nothing.
 */
export interface KubeClient {
  readonly server: string;
  /** Any path, such as `/version` or `/apis/scheduling.k8s.io`. */
  read<T = JsonObject>(path: string, options?: KubeCallOptions): Promise<T>;
  get<T = KubeObject>(target: Target, options?: KubeCallOptions): Promise<T>;
  /** One page. */
  list<T = KubeObject>(resource: Resource, options?: ListOptions): Promise<Page<T>>;
  /** Events in batches, as they arrive together. Ends when the server ends it; an ERROR event is thrown. */
  watch<T = KubeObject>(resource: Resource, options: WatchOptions): AsyncIterable<readonly WatchEvent<T>[]>;
  /** `apiVersion` and `kind` are filled in. */
  create<T = KubeObject>(resource: Resource, object: KubeObject, options?: WriteOptions): Promise<T>;
  jsonPatch<T = KubeObject>(
    target: Target,
    operations: readonly PatchOperation[],
    options?: WriteOptions,
  ): Promise<T>;
  /** With `metadata.resourceVersion` in the patch it applies only to what was read (409 otherwise). */
  mergePatch<T = KubeObject>(target: Target, patch: object, options?: WriteOptions): Promise<T>;
  patchStatus<T = KubeObject>(target: Target, patch: object, options?: WriteOptions): Promise<T>;
  /** Conditional on `metadata.resourceVersion`, where the object has one. */
  replace<T = KubeObject>(resource: Resource, object: KubeObject, options?: WriteOptions): Promise<T>;
  delete(target: Target, options?: DeleteOptions): Promise<void>;
  /**
   * Asks for the eviction (policy/v1) of the Pod with this uid. What a PodDisruptionBudget does not allow is answered with
   * 429, another Pod of the name with 409.
   */
  evict(pod: PodToEvict, options?: Pick<WriteOptions, 'dryRun' | keyof KubeCallOptions>): Promise<void>;
  /** Ends what is under way and all connections. */
  close(): Promise<void>;
}
