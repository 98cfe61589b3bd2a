import type { Resource } from '../../api/resource.ts';
import type { Backend } from '../../backends/backend.ts';
import type { SyncContext } from '../../backends/cluster.ts';
import { messageOf } from '../../errors.ts';
import type { EventReason } from '../../gang/plan/reasons.ts';
import type { GangRecord } from '../../gang/records.ts';
import { statusText } from '../../gang/status-text.ts';
import type { Clock } from '../../kube/client/clock.ts';
import { systemClock } from '../../kube/client/clock.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { clusterProbe } from '../../kube/client/cluster-probe.ts';
import { isConflict } from '../../kube/client/errors.ts';
import { POD_GANGS } from '../../kube/client/resources.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { EventRecorder } from '../../kube/loop/event-recorder.ts';
import { BY_GANG, type GangView } from '../watch/gang-view.ts';
import type { Reconcile } from '../../kube/loop/work-queue-workers.ts';
import { GangObjects, StillThere } from './gang-objects.ts';
import type { OwnedObjects } from './owned-objects.ts';
import type { SyncMemory } from './sync-memory.ts';
import { within } from '../../kube/loop/deadline.ts';

/** How long a backend may take for one gang. */
const SYNC_MS = 30_000;
/** Tried again after this long (ms) where a predecessor's object has to go first. */
const STILL_THERE_MS = 500;

const WARNED: EventReason = 'BackendWarning';
const FAILED: EventReason = 'BackendOperationFailed';

export type Operation = 'create' | 'update' | 'delete';

export interface BackendReconcilerOptions {
  readonly backend: Backend;
  /** Whether its last probe of the cluster found what it needs. */
  readonly ready: () => boolean;
  /** What the backend keeps, as it said after its last look. */
  readonly kinds: () => readonly Resource[];
  /** The gang, where it is this backend's. */
  readonly gangOf: (key: string) => GangRecord | undefined;
  /** Gangs that went while they were this backend's, by key; taken out once cleaned up after. */
  readonly gone: Map<string, GangRecord>;
  readonly view: Pick<GangView, 'pods'>;
  readonly client: KubeClient;
  readonly owned: OwnedObjects;
  readonly memory: SyncMemory;
  readonly recorder: Pick<EventRecorder, 'event'>;
  readonly log: Logger;
  /** For the metrics. */
  readonly operated: (operation: Operation, ok: boolean, seconds: number) => void;
  /** The gang may go on, or waits for another reason than before. */
  readonly synced: (key: string) => void;
  readonly clock?: Clock;
}

/** Keeps one backend's objects in step with one gang. What a backend throws, and that it hangs, is its gangs' trouble alone. */
export function backendReconciler(options: BackendReconcilerOptions): Reconcile {
  const { backend, memory, gone, synced, owned, clock = systemClock } = options;

  const operate = async (
    operation: Operation,
    key: string,
    gang: GangRecord,
    signal: AbortSignal,
  ): Promise<void> => {
    const since = clock.now();
    let ok = false;
    try {
      const work = (limit: AbortSignal): Promise<void> => {
        const context = contextFor(options, key, gang, limit);
        return operation === 'delete'
          ? backend.onPodGangDelete(context, gang)
          : backend.syncPodGang(context, gang);
      };
      await within(`backend ${backend.name}`, SYNC_MS, signal, work, clock);
      ok = true;
    } finally {
      if (!signal.aborted) options.operated(operation, ok, (clock.now() - since) / 1000);
    }
  };

  return async (key, signal) => {
    const left = gone.get(key);
    if (left !== undefined) {
      await operate('delete', key, left, signal).catch((error: unknown) => {
        tell(options, 'delete', left, error);
        throw error;
      });
      if (gone.get(key) === left) gone.delete(key);
    }
    const gang = options.gangOf(key);
    if (gang === undefined || gang.deletionTimestamp !== undefined || !options.ready()) return;
    if (memory.of(key, gang, backend.name).done) return;
    const kinds = options.kinds();
    await owned.whenSynced(kinds, signal);
    const exists = kinds.some((kind) => (owned.of(kind, gang.namespace, gang.name) ?? []).length > 0);
    const operation = exists ? 'update' : 'create';
    try {
      await operate(operation, key, gang, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      memory.record(key, gang, backend.name, statusText(messageOf(error)));
      synced(key);
      if (error instanceof StillThere) return { requeueAfterMs: STILL_THERE_MS };
      tell(options, operation, gang, error);
      throw error;
    }
    memory.record(key, gang, backend.name);
    synced(key);
    return;
  };
}

function contextFor(
  { client, owned, view, recorder }: BackendReconcilerOptions,
  key: string,
  gang: GangRecord,
  signal: AbortSignal,
): SyncContext {
  const objects = new GangObjects(client, owned, gang, signal);
  return {
    signal,
    pods: view.pods.byIndex(BY_GANG, key).filter((pod) => pod.deletionTimestamp === undefined),
    owned: (resource) => owned.of(resource, gang.namespace, gang.name) ?? [],
    apply: (object) => objects.apply(object),
    remove: (resource, name) => objects.remove(resource, name),
    read: (path) => clusterProbe(client, gang.namespace, { signal }).read(path),
    warn: (message) => recorder.event(regarding(gang), { type: 'Warning', reason: WARNED, note: message }),
  };
}

/** A write that lost against somebody else's is tried again and no news. The words are those of the requirements. */
function tell(
  { backend, recorder, log }: BackendReconcilerOptions,
  operation: Operation,
  gang: GangRecord,
  error: unknown,
): void {
  if (isConflict(error)) return;
  const note = `Backend operation '${operation}' failed for PodGang '${gang.name}': ${messageOf(error)}`;
  recorder.event(regarding(gang), { type: 'Warning', reason: FAILED, note });
  const podGang = `${gang.namespace}/${gang.name}`;
  log.error({ backend: backend.name, operation, podGang, err: error }, 'Backend operation failed');
}

const regarding = ({ namespace, name, uid }: GangRecord) => ({ resource: POD_GANGS, namespace, name, uid });
