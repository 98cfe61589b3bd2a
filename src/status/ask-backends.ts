import type { BackendRegistry } from '../backends/registry.ts';
import type { ClusterProbe } from '../k8s/resource.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { systemClock } from '../kube/client/clock.ts';
import { clusterProbe } from '../kube/client/cluster-probe.ts';
import { within } from '../kube/loop/deadline.ts';

/** How long (ms) `init` of a backend may take, as in the loop. */
const INIT_MS = 10_000;

/**
 * Runs `init` of each backend, as the loop does at start; the registry then has their readiness.
 * @param probe looks at the cluster until the signal is aborted
 * @returns what `init` of a backend threw, by the backend's name
 */
export async function askBackends(
  registry: BackendRegistry,
  probe: (signal: AbortSignal) => ClusterProbe,
): Promise<ReadonlyMap<string, unknown>> {
  const { signal } = new AbortController();
  const thrown = new Map<string, unknown>();
  await Promise.all(
    registry.enabled.map((name) =>
      registry.init(name, (init) =>
        within(
          `backend ${name}`,
          INIT_MS,
          signal,
          (limit) => init({ cluster: probe(limit), signal: limit }),
          systemClock,
        ).catch((error: unknown) => {
          thrown.set(name, error);
          throw error;
        }),
      ),
    ),
  );
  return thrown;
}

/** A probe for whoever may create nothing, dry runs included: each is answered as if every field were kept. */
export const readingProbe = (client: KubeClient, namespace: string, signal: AbortSignal): ClusterProbe => ({
  ...clusterProbe(client, namespace, { signal }),
  dryRunCreate: (_resource, object) => Promise.resolve(object),
});
