import type { BackendRegistry } from '../../backends/registry.ts';
import type { OperatorConfiguration } from '../../config/configuration.ts';
import type { Loop } from '../../controller/controller.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeClientOptions } from '../../kube/client/http-client.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { LoopMetrics } from '../../telemetry/loop-metrics.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { CliIo } from '../output/io.ts';

/** How long the API server may take to answer at start: a wrong kubeconfig is told at once, a slow start is none. */
const FIRST_ANSWER_MS = 10_000;

/**
 * A client for the cluster, which answers, and the namespace that is meant where none is named. Loads the client only here: `--no-controller` has no use for it.
 * @throws MusterError CLUSTER_UNREACHABLE, ApiError
 */
export async function connect(
  kubeconfig: string | undefined,
  io: Pick<CliIo, 'env'>,
  options: KubeClientOptions = {},
): Promise<{ client: KubeClient; namespace: string }> {
  const { findConnection } = await import('../../kube/client/connection.ts');
  const { createKubeClient } = await import('../../kube/client/http-client.ts');
  const connection = await findConnection({ kubeconfig, env: io.env });
  const client = createKubeClient(connection, options);
  try {
    await client.read('/version', { timeoutMs: FIRST_ANSWER_MS });
    return { client, namespace: connection.namespace ?? 'default' };
  } catch (thrown) {
    await client.close();
    throw thrown;
  }
}

/** Starts the loop on the cluster, which has to be there now; should it go away later, the loop waits for it. */
export async function startLoop(
  kubeconfig: string | undefined,
  given: {
    configuration: Pick<OperatorConfiguration, 'controllers' | 'leaderElection' | 'runtimeClientConnection'>;
    registry: BackendRegistry;
    metrics: Metrics;
    log: Logger;
    loopMetrics: LoopMetrics;
    io: CliIo;
  },
): Promise<Loop> {
  const { configuration, registry, metrics, loopMetrics, log, io } = given;
  const { TokenBucket } = await import('../../kube/client/token-bucket.ts');
  const { qps, burst } = configuration.runtimeClientConnection;
  const { client } = await connect(kubeconfig, io, {
    limit: qps > 0 ? new TokenBucket({ qps, burst, waited: (ms) => loopMetrics.throttled(ms) }) : undefined,
    observer: { answered: (verb, status) => loopMetrics.requested(verb, status) },
  });
  const { startControllers } = await import('../../controller/controller.ts');
  return startControllers({
    client,
    registry,
    settings: {
      concurrentSyncs: configuration.controllers.podGang.concurrentSyncs,
      selectors: configuration.controllers.podGang,
      leaderElection: configuration.leaderElection,
    },
    backendMetrics: metrics.backends,
    log,
    metrics: loopMetrics,
    now: () => io.now(),
    // Elsewhere than in a cluster there is one namespace that is sure to exist.
    ownNamespace: io.env['POD_NAMESPACE'] ?? 'default',
  });
}

/** Without a cluster the backends go by their configuration alone; what follows from that is told. */
export async function initWithoutCluster(registry: BackendRegistry, log: Logger): Promise<void> {
  const { signal } = new AbortController();
  for (const backend of registry.enabled) {
    const now = await registry.init(backend, (init) => init({ cluster: undefined, signal }));
    if (now.state === 'failed') log.error({ backend, reason: now.reason }, 'backend not ready');
    else if (now.state === 'ready') log.info({ backend, ...now.facts }, 'backend initialized');
  }
}
