import { own, ownString, type JsonObject } from '../../json/json.ts';
import { LABEL_POD_GANG, POD_GANG_KIND } from '../../api/names.ts';
import { readMemberPod } from '../watch/gang-view.ts';
import { readGangRecord } from '../../gang/read-records.ts';
import type { GangRecord } from '../../gang/records.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { isNotFound } from '../../kube/client/errors.ts';
import { POD_GANGS, PODS, SNAPSHOT_RESOURCES, type Resource } from '../../kube/client/resources.ts';
import { listAll } from '../../kube/loop/list-pages.ts';
import { isWaiting, type GangWithPods } from './waits-for-room.ts';
import type { GangKind } from '../../workloads/kind.ts';
import { trimmed } from '../../preemption/read/trim.ts';

/** A gang and its Pods as the API server had them at one moment. */
export interface GangSnapshot extends GangWithPods {
  /** The same as raw objects: the PodGang, and its Pods that wait for a node. */
  readonly whole: { readonly gang: JsonObject; readonly waiting: readonly JsonObject[] };
}

/**
 * Reads the gang and its Pods, without the rest of the cluster.
 * @returns undefined when the gang is gone or another gang has its name
 */
export async function readGangWithPods(
  { namespace, name, uid }: Pick<GangRecord, 'namespace' | 'name' | 'uid'>,
  client: KubeClient,
  signal: AbortSignal,
  kinds?: readonly GangKind[],
): Promise<GangWithPods | undefined> {
  const target = { resource: POD_GANGS, namespace, name };
  const found = await client.get<JsonObject>(target, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const gang = found && readGangRecord(found);
  if (gang?.uid !== uid) return undefined;
  const from = { client, resource: PODS, namespace, labelSelector: `${LABEL_POD_GANG}=${name}` };
  return { gang, pods: await listAll(from, (pod) => readMemberPod(pod, kinds), signal) };
}

/**
 * Reads everything that a plan for a gang depends on.
 * @param take called with the objects of the cluster, trimmed, one kind after the other
 * @param kinds kinds of workload whose Pods may ask for a gang; default: the built-in kinds
 * @returns undefined when the gang is gone
 */
export async function readGangSnapshot(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  client: KubeClient,
  signal: AbortSignal,
  take: (objects: readonly JsonObject[]) => void,
  kinds?: readonly GangKind[],
): Promise<GangSnapshot | undefined> {
  let found: JsonObject | undefined;
  const members = new Map<string, JsonObject>();
  const hear = (object: JsonObject): void => {
    const metadata = own(object, 'metadata');
    if (ownString(metadata, 'namespace') !== namespace) return;
    const kind = own(object, 'kind');
    if (kind === POD_GANG_KIND && ownString(metadata, 'name') === name) found = object;
    if (kind === 'Pod' && ownString(own(metadata, 'labels'), LABEL_POD_GANG) === name)
      members.set(ownString(metadata, 'uid') ?? '', object);
  };
  for await (const objects of objectsByKind(client, signal, hear)) take(objects);
  if (found === undefined) return undefined;
  const all = [...members.values()].map((object) => ({ object, pod: readMemberPod(object, kinds) }));
  const waiting = all.filter(
    ({ pod }) => isWaiting(pod) && pod.deletionTimestamp === undefined && pod.phase !== 'Failed',
  );
  return {
    gang: readGangRecord(found),
    pods: all.map(({ pod }) => pod),
    whole: { gang: found, waiting: waiting.map(({ object }) => object) },
  };
}

/**
 * Lists the objects of the cluster that a plan depends on, trimmed, one kind after the other. Kinds that the API server
 * does not serve are skipped.
 * @param whole called with each raw object, and again with all objects of a list that starts over
 */
async function* objectsByKind(
  client: KubeClient,
  signal: AbortSignal,
  whole?: (object: JsonObject) => void,
): AsyncGenerator<readonly JsonObject[], void> {
  for (const versions of SNAPSHOT_RESOURCES) yield await firstServed(client, versions, signal, whole);
}

/** Lists the objects that a plan depends on into one array. */
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
    const read = (object: JsonObject): JsonObject => {
      whole?.(object);
      return trimmed(object);
    };
    try {
      return await listAll({ client, resource }, read, signal);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return [];
}
