import { LABEL_POD_GANG } from '../../api/names.ts';
import type { JsonObject } from '../../json/json.ts';
import { Cache, type Identified } from '../../kube/loop/cache.ts';
import { POD_INDEXERS, readMemberPod, type GangView } from '../../controller/watch/gang-view.ts';
import { listPages } from '../../kube/loop/list-pages.ts';
import type { GangSelectors } from '../../gang/gang-selection.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { readGangRecord } from '../../gang/read-records.ts';
import type { KubeClient, Selection } from '../../kube/client/client.ts';
import { POD_GANGS, PODS, type Resource } from '../../kube/client/resources.ts';
import { readNamespaces } from './namespaces.ts';
import type { GangKind } from '../../workloads/kind.ts';

/** A person waits for it: fewer round trips matter more than memory. */
const PAGE_SIZE = 500;

/**
 * Lists everything once.
 * @param namespace undefined: all
 * @param kinds workloads whose Pods may ask for a gang; default: those that Muster knows
 */
export async function readView(
  client: KubeClient,
  namespace: string | undefined,
  selectors: GangSelectors,
  kinds?: readonly GangKind[],
): Promise<GangView> {
  const pods = new Cache<PodRecord>(POD_INDEXERS);
  const gangs = new Cache<GangRecord>();
  const [namespaces] = await Promise.all([
    readNamespaces(client, namespace, selectors),
    fill(client, PODS, { namespace, labelSelector: LABEL_POD_GANG }, pods, (pod) =>
      readMemberPod(pod, kinds),
    ),
    fill(client, POD_GANGS, { namespace }, gangs, readGangRecord),
  ]);
  return { pods, gangs, namespaces };
}

async function fill<T extends Identified>(
  client: KubeClient,
  resource: Resource,
  selection: Selection,
  cache: Cache<T>,
  read: (object: JsonObject) => T,
): Promise<void> {
  const found: T[] = [];
  const { signal } = new AbortController();
  await listPages({ client, resource, ...selection }, PAGE_SIZE, signal, (page, first) => {
    if (first) found.length = 0;
    for (const object of page) found.push(read(object as unknown as JsonObject));
  });
  for (const object of found) cache.put(object);
}
