import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeClientOptions } from '../../kube/client/http-client.ts';
import type { CliIo } from '../output/io.ts';

/** How long the API server may take to answer at start: a wrong kubeconfig is told at once, a slow start is none. */
const FIRST_ANSWER_MS = 10_000;

/** Which cluster, as the flags of kubectl name it. */
export interface ClusterFlags {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/**
 * A client for the cluster, which answers, and the namespace that is meant where none is named. Loads the client only
 * here: `--no-controller` has no use for it.
 * @throws MusterError CLUSTER_UNREACHABLE, ApiError
 */
export async function connect(
  { kubeconfig, context }: ClusterFlags,
  io: Pick<CliIo, 'env'>,
  options: KubeClientOptions = {},
): Promise<{ client: KubeClient; namespace: string }> {
  const { findConnection } = await import('../../kube/client/find-connection.ts');
  const { createKubeClient } = await import('../../kube/client/http-client.ts');
  const connection = await findConnection({ kubeconfig, context, env: io.env });
  const client = createKubeClient(connection, options);
  try {
    await client.read('/version', { timeoutMs: FIRST_ANSWER_MS });
    return { client, namespace: connection.namespace ?? 'default' };
  } catch (thrown) {
    await client.close();
    throw thrown;
  }
}
