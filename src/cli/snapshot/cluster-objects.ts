import type { JsonObject } from '../../json/json.ts';
import { snapshotObjects } from '../../controller/preemption/read-cluster.ts';
import { MusterError } from '../../errors.ts';
import { ApiError, isForbidden } from '../../kube/client/errors.ts';
import { SNAPSHOT_RIGHTS } from '../../kube/client/resources.ts';
import { connect, type ClusterFlags } from '../input/cluster.ts';
import type { CliIo } from '../output/io.ts';

/**
 * Everything of a cluster that a plan goes by, trimmed. Kinds that the API server does not know are left out.
 * @throws MusterError CLUSTER_UNREACHABLE, CLUSTER_REFUSED
 */
export async function clusterObjects(flags: ClusterFlags, io: Pick<CliIo, 'env'>): Promise<JsonObject[]> {
  const { client } = await connect(flags, io);
  try {
    return await snapshotObjects(client, new AbortController().signal);
  } catch (error) {
    throw refused(error);
  } finally {
    await client.close();
  }
}

function refused(error: unknown): unknown {
  if (!(error instanceof ApiError) || !isForbidden(error)) return error;
  return new MusterError(
    'CLUSTER_REFUSED',
    error.message,
    `It takes the right to list these in all namespaces: ${SNAPSHOT_RIGHTS.join(', ')}. Somebody who has it can write a snapshot for you: muster snapshot > cluster.json`,
    { cause: error },
  );
}
