import type { JsonObject } from '../../json/json.ts';
import { Cache, type Store } from '../../kube/loop/cache.ts';
import { listPages } from '../../kube/loop/list-pages.ts';
import type { GangSelectors } from '../../gang/gang-selection.ts';
import type { NamespaceRecord } from '../../gang/records.ts';
import { takesEverything } from '../../k8s/label-selector.ts';
import { readNamespaceRecord } from '../../gang/read-records.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { NAMESPACES, type KubeObject } from '../../kube/client/resources.ts';

const PAGE_SIZE = 500;

/**
 * The Namespaces that decide whose gangs are Muster's. Empty where nothing is asked of them, where whoever asks may not
 * read them, or there is no such Namespace: the rest can be told all the same.
 * @param namespace undefined: all
 */
export async function readNamespaces(
  client: KubeClient,
  namespace: string | undefined,
  { namespaceSelector }: Pick<GangSelectors, 'namespaceSelector'>,
): Promise<Store<NamespaceRecord>> {
  const found = new Cache<NamespaceRecord>();
  if (takesEverything(namespaceSelector)) return found;
  const keep = (object: KubeObject): unknown =>
    found.put(readNamespaceRecord(object as unknown as JsonObject));
  try {
    if (namespace !== undefined) {
      keep(await client.get({ resource: NAMESPACES, name: namespace }));
    } else {
      const { signal } = new AbortController();
      await listPages({ client, resource: NAMESPACES }, PAGE_SIZE, signal, (page) => page.forEach(keep));
    }
  } catch (error) {
    if (!isForbidden(error) && !isNotFound(error)) throw error;
  }
  return found;
}
