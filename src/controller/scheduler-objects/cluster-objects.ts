import type { Backend } from '../../backends/backend.ts';
import { messageOf } from '../../errors.ts';
import type { Shared } from '../watch/shared.ts';
import { GangObjects } from './gang-objects.ts';

/**
 * Lets a backend that is ready keep its objects of the cluster. What fails is told, and tried again with the backend's
 * next probe of the cluster.
 * @param failed gets what to tell people
 * @returns whether an object was made or changed
 */
export async function syncClusterObjects(
  backend: Backend,
  { registry, client, log, backendMetrics }: Pick<Shared, 'registry' | 'client' | 'log' | 'backendMetrics'>,
  signal: AbortSignal,
  failed: (note: string) => Promise<void>,
): Promise<boolean> {
  const { name } = backend;
  if (backend.syncCluster === undefined || registry.readiness(name).state !== 'ready') return false;
  // These are seldom and few: read, never cached.
  const objects = new GangObjects(client, { get: () => undefined }, undefined, signal);
  let changed = false;
  const about = { backend: name, operation: 'sync_cluster' } as const;
  log.debug(about, 'Backend operation started');
  const since = performance.now();
  const ended = (ok: boolean): void =>
    backendMetrics.operated(name, about.operation, ok, (performance.now() - since) / 1000);
  try {
    await backend.syncCluster({
      signal,
      apply: async (wanted) => {
        const applied = await objects.apply(wanted);
        changed ||= applied !== 'unchanged';
        return applied;
      },
      remove: (resource, object, despite) => objects.remove(resource, object, despite),
    });
    ended(true);
  } catch (error) {
    if (signal.aborted) return false;
    ended(false);
    log.error({ ...about, err: error }, 'Backend operation failed');
    await failed(
      `Backend operation '${about.operation}' failed for the objects of the cluster: ${messageOf(error)}`,
    );
  }
  return changed;
}
