import { MusterError } from '../../errors.ts';
import type { JsonObject } from '../../api/json.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { ApiError, isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { apiVersionOf, type Resource } from '../../kube/client/resources.ts';
import { SNAPSHOT_RESOURCES, SNAPSHOT_RIGHTS } from '../../kube/client/snapshot-resources.ts';
import { listPages } from '../../kube/loop/list-pages.ts';
import { connect, type ClusterFlags } from '../input/cluster.ts';
import type { CliIo } from '../output/io.ts';
import { trimmed } from '../../preemption/read/trim.ts';

const PAGE = 500;

/**
 * Everything of a cluster that a plan goes by, trimmed. Kinds that the API server does not know are left out.
 * @throws MusterError CLUSTER_UNREACHABLE, CLUSTER_REFUSED
 */
export async function clusterObjects(flags: ClusterFlags, io: Pick<CliIo, 'env'>): Promise<JsonObject[]> {
  const { client } = await connect(flags, io);
  try {
    const objects: JsonObject[] = [];
    for (const versions of SNAPSHOT_RESOURCES) objects.push(...(await firstServed(client, versions)));
    return objects;
  } finally {
    await client.close();
  }
}

async function firstServed(client: KubeClient, versions: readonly Resource[]): Promise<JsonObject[]> {
  for (const resource of versions) {
    const found: JsonObject[] = [];
    const { signal } = new AbortController();
    try {
      await listPages({ client, resource }, PAGE, signal, (page, first) => {
        if (first) found.length = 0;
        const { kind } = resource;
        for (const item of page)
          found.push(
            trimmed({ ...(item as unknown as JsonObject), apiVersion: apiVersionOf(resource), kind }),
          );
      });
      return found;
    } catch (error) {
      if (!isNotFound(error)) throw refused(error);
    }
  }
  return [];
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
