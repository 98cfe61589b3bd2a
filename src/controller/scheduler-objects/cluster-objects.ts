import type { BackendRegistry } from '../../backends/registry.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Logger } from '../../telemetry/log.ts';
import { GangObjects } from './gang-objects.ts';

/**
 * Lets the backends that are ready keep their objects of the cluster. What fails is told, and tried again with the
 * backend's next look at the cluster.
 * @param only the one backend to ask; all where absent
 */
export async function syncClusterObjects(
  { registry, client, log }: { registry: BackendRegistry; client: KubeClient; log: Logger },
  signal: AbortSignal,
  only?: string,
): Promise<void> {
  // These are seldom and few: read, never cached.
  const objects = new GangObjects(client, { get: () => undefined }, undefined, signal);
  const context = {
    signal,
    apply: objects.apply.bind(objects),
    remove: objects.remove.bind(objects),
  };
  for (const backend of registry.backends) {
    if (backend.syncCluster === undefined || (only ?? backend.name) !== backend.name) continue;
    if (registry.readiness(backend.name).state !== 'ready') continue;
    try {
      await backend.syncCluster(context);
    } catch (error) {
      if (!signal.aborted) log.error({ backend: backend.name, err: error }, 'Backend operation failed');
    }
  }
}
