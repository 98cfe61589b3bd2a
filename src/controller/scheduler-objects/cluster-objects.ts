import type { Backend } from '../../backends/backend.ts';
import { messageOf } from '../../errors.ts';
import type { Shared } from '../watch/shared.ts';
import { GangObjects } from './gang-objects.ts';

/**
 * Lets a backend that is ready keep its cluster-wide objects. A failure is reported, and retried with the backend's
 * next probe of the cluster.
 * @param failed called with the message to report
 * @returns whether an object was created or changed
 */
export async function syncClusterObjects(
  backend: Backend,
  { registry, client, log, backendMetrics }: Pick<Shared, 'registry' | 'client' | 'log' | 'backendMetrics'>,
  signal: AbortSignal,
  failed: (note: string) => Promise<void>,
): Promise<boolean> {
  const { name } = backend;
  if (backend.syncCluster === undefined || registry.readiness(name).state !== 'ready') return false;
  // These objects are few and seldom needed, so they are read instead of cached.
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
