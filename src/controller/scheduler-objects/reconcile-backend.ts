import { CLEANUP_FINALIZER_PREFIX } from '../../api/names.ts';
import type { Backend } from '../../backends/backend.ts';
import type { SyncContext } from '../../backends/cluster.ts';
import { messageOf, MusterError } from '../../errors.ts';
import { mayRun } from '../../gang/plan/census.ts';
import type { EventReason } from '../../gang/plan/conditions.ts';
import type { GangRecord } from '../../gang/records.ts';
import { statusText } from '../../text/printable.ts';
import type { Clock } from '../../kube/client/clock.ts';
import { systemClock } from '../../kube/client/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { clusterProbe } from '../../kube/client/cluster-probe.ts';
import { isConflict, isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS, type Resource } from '../../kube/client/resources.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { EventRecorder } from '../../kube/loop/event-recorder.ts';
import { BY_GANG, type GangView } from '../watch/gang-view.ts';
import type { Reconcile } from '../../kube/loop/keyed-controller.ts';
import { StillThere } from '../watch/shared.ts';
import { GangObjects } from './gang-objects.ts';
import { controllerRefOf, type OwnedObjects } from './owned-objects.ts';
import type { SyncMemory } from './sync-memory.ts';
import { within } from '../../kube/loop/deadline.ts';

/** How long (ms) a backend may take for one gang. */
const SYNC_MS = 30_000;
/** Delay (ms) before the next attempt when a predecessor's object has to be deleted first. */
const STILL_THERE_MS = 500;

const WARNED: EventReason = 'BackendWarning';
const FAILED: EventReason = 'BackendOperationFailed';
const BLOCKED: EventReason = 'CleanupBlocked';

export type SyncOperation = 'create' | 'update' | 'delete';

export interface BackendReconcilerOptions {
  readonly backend: Backend;
  /** Whether the backend's last probe of the cluster succeeded. */
  readonly ready: () => boolean;
  /** The kinds of object that the backend reported after its last probe. */
  readonly kinds: () => readonly Resource[];
  readonly gangOf: (key: string) => GangRecord | undefined;
  /** Whether the gang is this Muster's: another one's is cleaned up after here only when it is to go. */
  readonly takes: (gang: GangRecord) => boolean;
  /** Whether this backend serves the gang and objects may be created for it. */
  readonly serves: (gang: GangRecord) => boolean;
  /** Gangs that were deleted while this backend served them, by key; removed after the backend has cleaned up. */
  readonly gone: Map<string, GangRecord>;
  readonly view: Pick<GangView, 'pods' | 'standstill'>;
  readonly client: KubeClient;
  readonly owned: OwnedObjects;
  readonly memory: SyncMemory;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly log: Logger;
  /** Keeps the gang's other objects, after the backend's. */
  readonly besides?: ((context: SyncContext, gang: GangRecord) => Promise<void>) | undefined;
  /** Reports an operation to the metrics. */
  readonly operated: (operation: SyncOperation, ok: boolean, seconds: number) => void;
  /** Called after a gang was synced or failed to sync: its state has to be judged again. */
  readonly synced: (key: string) => void;
  readonly clock?: Clock;
}

/** Keeps one backend's objects in step with one gang. An error or a hang of the backend affects only its own gangs. */
export function backendReconciler(options: BackendReconcilerOptions): Reconcile {
  const { backend, client, memory, gone, synced, owned, log, clock = systemClock } = options;

  const finalizer = `${CLEANUP_FINALIZER_PREFIX}${backend.name}`;

  /** @throws the backend's error, after reporting it */
  const operate = async (
    operation: SyncOperation,
    key: string,
    gang: GangRecord,
    signal: AbortSignal,
  ): Promise<void> => {
    const about = { backend: backend.name, operation, podgang: key };
    log.debug(about, 'Backend operation started');
    const since = clock.now();
    let ok = false;
    try {
      const work = async (limit: AbortSignal): Promise<void> => {
        const context = contextFor(options, key, gang, limit);
        if (operation === 'delete') return backend.onPodGangDelete(context, gang);
        await backend.syncPodGang(context, gang);
        await options.besides?.(context, gang);
      };
      await within(`backend ${backend.name}`, SYNC_MS, signal, work, clock);
      ok = true;
    } catch (error) {
      if (!signal.aborted && !(error instanceof StillThere)) tell(options, operation, gang, error);
      throw error;
    } finally {
      const ms = clock.now() - since;
      if (!signal.aborted) options.operated(operation, ok, ms / 1000);
      if (ok) log.info({ ...about, ms: Math.round(ms) }, 'Backend operation finished');
    }
  };

  /** Sets the gang's finalizers if the gang was not changed since it was read. A gang that is gone is skipped. */
  const setFinalizers = async (
    { namespace, name, resourceVersion }: GangRecord,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<void> => {
    const target = { resource: POD_GANGS, namespace, name };
    const patch = { metadata: { resourceVersion, finalizers } };
    try {
      await client.mergePatch(target, patch, { signal, answer: 'metadata' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };

  /** Removes the objects of the gang's earlier backend. Only watched kinds are found, so only those of enabled backends. */
  const removeFormer = async (gang: GangRecord, signal: AbortSignal): Promise<void> => {
    const objects = new GangObjects(client, owned, gang, signal);
    for (const { resource, name, object } of owned.besides(options.kinds(), gang.namespace, gang.name)) {
      if (controllerRefOf(object)?.uid !== gang.uid) continue;
      log.info(
        { backend: backend.name, podgang: `${gang.namespace}/${gang.name}`, kind: resource.kind, name },
        'removing what another backend kept for the gang',
      );
      try {
        await objects.remove(resource, name);
      } catch (error) {
        if (!signal.aborted) tell(options, 'delete', gang, error);
        throw error;
      }
    }
  };

  const isLeft = (gang: GangRecord): boolean => gang.deletionTimestamp !== undefined || options.takes(gang);

  return async (key, signal) => {
    const left = gone.get(key);
    if (left !== undefined) {
      await operate('delete', key, left, signal);
      if (gone.get(key) === left) gone.delete(key);
    }
    const gang = options.gangOf(key);
    if (gang === undefined) return;
    const { finalizers = [], deletionTimestamp } = gang;
    const serves = deletionTimestamp === undefined && options.serves(gang);
    if (!serves && finalizers.includes(finalizer) && isLeft(gang)) {
      await operate('delete', key, gang, signal);
      const others = finalizers.filter((name) => name !== finalizer);
      await setFinalizers(gang, others, signal);
    }
    if (!serves || !options.ready() || options.view.standstill?.(gang.namespace) !== undefined) return;
    const kinds = options.kinds();
    await owned.whenSynced(kinds, signal);
    if (!memory.of(key, gang, backend).done) {
      memory.begin(key);
      if (backend.cleansUp === true && !finalizers.includes(finalizer)) {
        await setFinalizers(gang, [...finalizers, finalizer], signal);
      }
      const exists = kinds.some((kind) => (owned.of(kind, gang.namespace, gang.name) ?? []).length > 0);
      try {
        await operate(exists ? 'update' : 'create', key, gang, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        memory.record(key, gang, backend, statusText(wordsOf(error)));
        synced(key);
        if (error instanceof StillThere) return { requeueAfterMs: STILL_THERE_MS };
        throw error;
      }
      memory.record(key, gang, backend);
      synced(key);
    }
    await removeFormer(gang, signal);
    return;
  };
}

/** The backends that have to clean up before the gang can be deleted, from its finalizers. */
export const cleanersOf = ({ finalizers = [] }: GangRecord): readonly string[] =>
  finalizers.flatMap((name) =>
    name.startsWith(CLEANUP_FINALIZER_PREFIX) ? name.slice(CLEANUP_FINALIZER_PREFIX.length) : [],
  );

/** Records an Event that the gang's deletion is blocked because the backend that has to clean up is not enabled. */
export function tellBlocked(recorder: Pick<EventRecorder, 'event'>, gang: GangRecord, backend: string): void {
  const ways = `enable it, or take the finalizer ${CLEANUP_FINALIZER_PREFIX}${backend} off`;
  const note = `the backend ${backend} cleans up before this PodGang can go, and is not enabled: ${ways}`;
  recorder.event(regarding(gang), { type: 'Warning', reason: BLOCKED, note });
}

/** The message of an error; a foreign object stays in the way until somebody acts, so its message includes the fix. */
const wordsOf = (error: unknown): string =>
  error instanceof MusterError && error.code === 'BACKEND_OBJECT_FOREIGN'
    ? `${error.message}: ${error.fix}`
    : messageOf(error);

function contextFor(
  { client, owned, view, recorder }: BackendReconcilerOptions,
  key: string,
  gang: GangRecord,
  signal: AbortSignal,
): SyncContext {
  const objects = new GangObjects(client, owned, gang, signal);
  return {
    signal,
    pods: view.pods.byIndex(BY_GANG, key).filter(mayRun),
    owned: (resource) => owned.of(resource, gang.namespace, gang.name) ?? [],
    apply: (object) => objects.apply(object),
    remove: (resource, name, despite) => objects.remove(resource, name, despite),
    read: (path) => clusterProbe(client, gang.namespace, { signal }).read(path),
    warn: (message) => recorder.event(regarding(gang), { type: 'Warning', reason: WARNED, note: message }),
  };
}

/** Reports a failed operation in the words of the requirements. A write that lost against another is retried unreported. */
function tell(
  { backend, recorder, log }: BackendReconcilerOptions,
  operation: SyncOperation,
  gang: GangRecord,
  error: unknown,
): void {
  if (isConflict(error)) return;
  const note = `Backend operation '${operation}' failed for PodGang '${gang.name}': ${wordsOf(error)}`;
  recorder.event(regarding(gang), { type: 'Warning', reason: FAILED, note });
  const podgang = `${gang.namespace}/${gang.name}`;
  log.error({ backend: backend.name, operation, podgang, err: error }, 'Backend operation failed');
}

const regarding = ({ namespace, name, uid }: GangRecord) => ({ resource: POD_GANGS, namespace, name, uid });
