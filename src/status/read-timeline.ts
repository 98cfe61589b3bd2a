import { LABEL_POD_GANG, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { BackendRegistry } from '../backends/registry.ts';
import { selectForPodGang } from '../backends/select.ts';
import { messageOf } from '../errors.ts';
import { own, ownList, ownObject, ownString, type JsonObject } from '../json/json.ts';
import type { KubeClient, Selection } from '../kube/client/client.ts';
import { isForbidden, isNotFound } from '../kube/client/errors.ts';
import { POD_GANGS, PODS, type Resource } from '../kube/client/resources.ts';
import { listAll } from '../kube/loop/list-pages.ts';
import type { TimelineInput } from '../timeline/timeline.ts';
import { readingProbe } from './ask-backends.ts';
import { refused } from './read-status.ts';

/** Those of the core API, which has all Events and which the ClusterRole `view` may read. */
const CORE_EVENTS: Resource = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true };

/**
 * Reads what is left of a gang's life: the PodGang, its Pods, the objects of its scheduler and the Events. Without the right
 * to read objects or Events the timeline is told without them, and says so.
 * @param now milliseconds since 1970
 * @throws MusterError CLUSTER_REFUSED where Pods or PodGangs may not be read, CLUSTER_UNREACHABLE
 */
export async function readTimelineInput(
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { registry, now }: { readonly registry: BackendRegistry; readonly now: number },
): Promise<TimelineInput> {
  const unread: { events?: string; objects?: string } = {};
  const orUnread = (list: keyof typeof unread, what: string, way: string) => (error: unknown) => {
    const why = isForbidden(error) ? `you have no right to list them; ${way}` : messageOf(error);
    unread[list] = `${what} of namespace ${namespace} could not be read: ${why}`;
    return [];
  };
  const question = { gang: name, namespace };
  const [gangs, pods] = await Promise.all([
    listWhole(client, POD_GANGS, { namespace, fieldSelector: `metadata.name=${name}` }),
    listWhole(client, PODS, { namespace, labelSelector: `${LABEL_POD_GANG}=${name}` }),
  ]).catch((error: unknown) => {
    throw refused(error, question);
  });
  const [gang] = gangs;
  const [events, objects] = await Promise.all([
    listWhole(client, CORE_EVENTS, { namespace }).catch(
      orUnread('events', 'Events', 'the ClusterRole "view" has it'),
    ),
    gang === undefined
      ? []
      : schedulerObjects(client, gang, registry).catch(
          orUnread('objects', 'the objects of the scheduler', 'a Role with list of their kinds gives it'),
        ),
  ]);
  const read = { namespace, name, gang, pods, objects, events, now };
  return { ...read, unread: Object.values(unread), eventsUnread: unread.events };
}

/** Lists objects with their managedFields, which are left out elsewhere. */
const listWhole = (client: KubeClient, resource: Resource, selection: Selection): Promise<JsonObject[]> =>
  listAll({ client, resource, ...selection, unread: [] }, (object) => object);

/** The objects that Muster keeps for the gang, of the kinds that its backend owns in this cluster. */
async function schedulerObjects(
  client: KubeClient,
  gang: JsonObject,
  registry: BackendRegistry,
): Promise<JsonObject[]> {
  const metadata = ownObject(gang, 'metadata');
  const namespace = ownString(metadata, 'namespace') ?? '';
  const label = ownString(ownObject(metadata, 'labels'), LABEL_SCHEDULER_NAME);
  const selection = selectForPodGang(registry, label, undefined);
  if (selection.fault !== undefined) return [];
  const { backend } = selection.resolved;
  const { signal } = new AbortController();
  // The kinds do not depend on the outcome of dry runs.
  const cluster = readingProbe(client, namespace, signal);
  const failure = await backend.init({ cluster, signal }).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const kinds = backend.owns?.() ?? [];
  if (failure !== undefined && kinds.length === 0) throw failure.error;
  const lists = await Promise.all(
    kinds.map((kind) =>
      listWhole(client, kind, { namespace }).catch((error: unknown) => {
        if (isNotFound(error)) return [];
        throw error;
      }),
    ),
  );
  const uid = ownString(metadata, 'uid') ?? '';
  return lists.flat().filter((object) => isOwnedBy(object, uid));
}

/** Whether the object names an owner of this uid. */
export const isOwnedBy = (object: JsonObject, uid: string): boolean =>
  (ownList(ownObject(object, 'metadata'), 'ownerReferences') ?? []).some(
    (owner) => own(owner, 'uid') === uid,
  );
