import type { JsonObject } from '../../json/json.ts';
import { groupVersionString } from '../../k8s/resource.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import type { Resource } from '../../kube/client/resources.ts';
import { SNAPSHOT_RESOURCES } from '../../kube/client/snapshot-resources.ts';
import { listPages } from '../../kube/loop/list-pages.ts';
import { trimmed } from '../../preemption/read/trim.ts';

/** Objects that are listed at a time. */
export const PAGE = 500;

/**
 * Everything of a cluster that a plan goes by, trimmed, as the API server has it now, kind by kind. Kinds that it does not
 * know are left out.
 * @param whole hears of each object as it came; of a list that begins anew it hears again
 */
export async function* objectsByKind(
  client: KubeClient,
  signal: AbortSignal,
  whole?: (object: JsonObject) => void,
): AsyncGenerator<readonly JsonObject[], void> {
  for (const versions of SNAPSHOT_RESOURCES) yield await firstServed(client, versions, signal, whole);
}

/** The same, all at once. */
export async function snapshotObjects(client: KubeClient, signal: AbortSignal): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  for await (const objects of objectsByKind(client, signal)) for (const object of objects) all.push(object);
  return all;
}

async function firstServed(
  client: KubeClient,
  versions: readonly Resource[],
  signal: AbortSignal,
  whole?: (object: JsonObject) => void,
): Promise<JsonObject[]> {
  for (const resource of versions) {
    const found: JsonObject[] = [];
    const { kind } = resource;
    try {
      await listPages({ client, resource }, PAGE, signal, (page, first) => {
        if (first) found.length = 0;
        for (const item of page) {
          const object = {
            ...(item as unknown as JsonObject),
            apiVersion: groupVersionString(resource),
            kind,
          };
          whole?.(object);
          found.push(trimmed(object));
        }
      });
      return found;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return [];
}
