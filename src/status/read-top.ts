import { POD_GANG_KIND } from '../api/names.ts';
import { POD_INDEXERS, readMemberPod, type GangView } from '../controller/watch/gang-view.ts';
import { readGangRecord, readNamespaceRecord, readPodRecord } from '../gang/read-records.ts';
import type { GangRecord, NamespaceRecord, PodRecord } from '../gang/records.ts';
import { own, ownList, ownObject, ownString, type JsonObject } from '../json/json.ts';
import { FieldReader, objectTitle, type Resources } from '../k8s/field-reader.ts';
import { add } from '../k8s/quantity.ts';
import { parseKubeTime } from '../k8s/time.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { isForbidden } from '../kube/client/errors.ts';
import { PODS, type Resource } from '../kube/client/resources.ts';
import { Cache, keyOf } from '../kube/loop/cache.ts';
import { listAll } from '../kube/loop/list-pages.ts';
import { podRequests } from '../preemption/read/pod-requests.ts';
import { readSnapshot } from '../preemption/read/read-snapshot.ts';
import { trimmed } from '../preemption/read/trim.ts';
import { gangKeys, gangStatus, type Judge } from './gang-status.ts';
import { readView, refused } from './read-status.ts';
import { topGangOf, type TopGang, type TopPod } from './top.ts';

const NODES: Resource = { ...PODS, plural: 'nodes', kind: 'Node', namespaced: false };

export interface TopReading {
  readonly gangs: readonly TopGang[];
  /** What nodes have free; undefined where that is not known, or not read, as no Pod is gated. */
  readonly free: Resources | undefined;
  /** What is not known, a sentence each. */
  readonly unknown: readonly string[];
}

/** Reads what a status leaves out of Pods. */
class PodAmounts {
  /** What cannot be read: a list that starts over tells it again. */
  readonly unknown = new Set<string>();
  readonly #pods = new Map<string, Map<string, TopPod>>();

  hear(object: JsonObject): void {
    const { namespace, name, gang, nodeName, creationTimestamp } = readPodRecord(object);
    const reading = new FieldReader(objectTitle(object, 'Pod'));
    const { requests } = podRequests(own(object, 'spec'), reading);
    const [fault] = reading.faults;
    if (fault !== undefined)
      this.unknown.add(`what ${fault.object} asks for: ${fault.field}: ${fault.message}`);
    const conditions = ownList(ownObject(object, 'status'), 'conditions') ?? [];
    const ready = conditions.find((one) => ownString(one, 'type') === 'Ready');
    const unready = nodeName === '' ? undefined : parseKubeTime(ownString(ready, 'lastTransitionTime'));
    const told = { requests, since: unready ?? parseKubeTime(creationTimestamp) };
    this.#pods.getOrInsert(keyOf(namespace, gang), new Map()).set(name, told);
  }

  gangsOf(view: GangView, judge: Omit<Judge, 'view'>): TopGang[] {
    return gangKeys(view).flatMap(({ namespace, name }) => {
      const gang = view.gangs.get(namespace, name);
      const status = gangStatus(namespace, name, { ...judge, view });
      const pods = this.#pods.get(keyOf(namespace, name)) ?? new Map<string, TopPod>();
      return topGangOf({ gang, status, pods }) ?? [];
    });
  }
}

/** @param namespace undefined: all @throws MusterError CLUSTER_REFUSED, CLUSTER_UNREACHABLE */
export async function readTop(
  client: KubeClient,
  namespace: string | undefined,
  judge: Omit<Judge, 'view'>,
): Promise<TopReading> {
  const amounts = new PodAmounts();
  const hear = amounts.hear.bind(amounts);
  const view = await readView(client, namespace, judge.selectors, judge.gangKinds, hear).catch(
    (error: unknown) => {
      throw refused(error, { gang: undefined, namespace });
    },
  );
  const gangs = amounts.gangsOf(view, judge);
  if (gangs.every(({ pods }) => pods.gated === 0))
    return { gangs, free: undefined, unknown: [...amounts.unknown] };
  const found = await Promise.all([
    listAll({ client, resource: NODES }, trimmed),
    listAll({ client, resource: PODS, fieldSelector: 'spec.nodeName!=' }, trimmed),
  ]).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    return undefined;
  });
  if (found !== undefined) return { gangs, free: freeOnNodes(found.flat()), unknown: [...amounts.unknown] };
  const unknown = 'what is free on nodes: it takes the right to list nodes, and Pods in all namespaces';
  return { gangs, free: undefined, unknown: [...amounts.unknown, unknown] };
}

/** The same from what kubectl printed. @param namespace undefined: all */
export function topFrom(
  objects: readonly JsonObject[],
  namespace: string | undefined,
  judge: Omit<Judge, 'view'>,
): TopReading {
  const ofKind = (kind: string): JsonObject[] => objects.filter((object) => own(object, 'kind') === kind);
  const here = (object: JsonObject): boolean =>
    namespace === undefined || ownString(own(object, 'metadata'), 'namespace') === namespace;
  const amounts = new PodAmounts();
  const pods = new Cache<PodRecord>(POD_INDEXERS);
  const gangs = new Cache<GangRecord>();
  const namespaces = new Cache<NamespaceRecord>();
  for (const gang of ofKind(POD_GANG_KIND).filter(here)) gangs.put(readGangRecord(gang));
  for (const one of ofKind('Namespace')) namespaces.put(readNamespaceRecord(one));
  for (const object of ofKind('Pod').filter(here)) {
    const pod = readMemberPod(object, judge.gangKinds);
    if (pod.gang === '') continue;
    pods.put(pod);
    amounts.hear(object);
  }
  const hasNodes = ofKind('Node').length > 0;
  return {
    gangs: amounts.gangsOf({ pods, gangs, namespaces }, judge),
    free: hasNodes ? freeOnNodes(objects) : undefined,
    unknown: [...amounts.unknown, ...(hasNodes ? [] : ['what is free on nodes: the input has no Node'])],
  };
}

/** Capacity of the nodes that take Pods, less what their Pods request. @param objects Nodes and Pods */
export function freeOnNodes(objects: readonly JsonObject[]): Resources {
  const { snapshot } = readSnapshot(objects);
  const used = new Map<string, Map<string, number>>();
  for (const { nodeName, requests } of snapshot.pods)
    add(used.getOrInsert(nodeName, new Map<string, number>()), requests);
  const free = new Map<string, number>();
  for (const { name, unschedulable, taints, allocatable } of snapshot.nodes) {
    // Kubernetes taints nodes that are not ready, not reachable or short of something with keys of its own.
    const shut = taints.some(
      ({ key, effect }) => key.startsWith('node.kubernetes.io/') && effect.startsWith('No'),
    );
    if (unschedulable || shut) continue;
    for (const [resource, count] of allocatable)
      add(free, new Map([[resource, Math.max(0, count - (used.get(name)?.get(resource) ?? 0))]]));
  }
  return free;
}
