import type { Backend } from '../../backends/backend.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { BackendState, GangRecord } from '../../gang/records.ts';
import type { OwnedObjects } from './owned-objects.ts';
import type { SyncResult } from './sync-reasons.ts';

interface Known {
  readonly registry: Pick<BackendRegistry, 'readiness' | 'owned'>;
  readonly owned: Pick<OwnedObjects, 'of'>;
  readonly synced: SyncResult;
}

/** The backend of a gang as the judgement sees it. */
export function backendState(
  gang: GangRecord,
  backend: Backend,
  { registry, owned, synced }: Known,
): BackendState {
  const readiness = registry.readiness(backend.name);
  const releaseOrder = backend.releaseOrder?.(gang) ?? 'all-at-once';
  const countsEnding = backend.countsEnding?.(gang) ?? false;
  const schedulerName = backend.schedulerName || undefined;
  const common = { name: backend.name, schedulerName, releaseOrder, countsEnding };
  if (readiness.state !== 'ready') {
    const reason = readiness.state === 'failed' ? readiness.reason : 'it has not looked at the cluster yet';
    return { ...common, ready: false, reason, objectsExist: false };
  }
  const objects = registry
    .owned(backend.name)
    .flatMap((kind) => owned.of(kind, gang.namespace, gang.name) ?? []);
  return {
    ...common,
    ready: true,
    objectsExist: synced.done,
    ...(!synced.done && synced.failure !== undefined && { objectsWait: synced.failure }),
    schedulerMessage: objects.length === 0 ? undefined : backend.explain?.(objects),
  };
}
