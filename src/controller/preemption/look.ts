import { own, ownString, type JsonObject } from '../../api/json.ts';
import { LABEL_POD_GANG, POD_GANG_KIND } from '../../api/names.ts';
import { readGang, readPod } from '../../gang/read-records.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { Situation } from '../../preemption/delayed.ts';
import type { Preemptor } from '../../preemption/preemptor.ts';
import { preemptorOf } from '../../preemption/preemptor-of.ts';
import { nameOf } from '../../preemption/read/read-snapshot.ts';
import { readPod as readPlannedPod } from '../../preemption/read/read-pod.ts';
import { Reading } from '../../gang/reading.ts';
import { keyOf, type Pod, type Snapshot } from '../../preemption/snapshot.ts';
import { carefulSnapshot } from './careful-snapshot.ts';
import { snapshotObjects } from './snapshot-objects.ts';
import { isWaiting } from './waits-for-room.ts';

/** A gang and its cluster, as the API server has them at one moment. */
export interface Look {
  readonly gang: GangRecord;
  /** All that name it. */
  readonly pods: readonly PodRecord[];
  /** Those that wait for a node. */
  readonly waiting: readonly Pod[];
  readonly situation: Situation;
  /** Why nothing can be planned for it; undefined where something can. */
  readonly obstacle: string | undefined;
}

/** Whom nobody may evict, and whether budgets may be broken. */
export interface Restraint {
  readonly exemptNamespaces: readonly string[];
  readonly overridePodDisruptionBudgets: boolean;
}

/** Reads all that a plan for a gang goes by. @returns undefined where the gang is gone */
export async function lookAt(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  client: KubeClient,
  signal: AbortSignal,
  restraint: Restraint,
): Promise<Look | undefined> {
  let found: JsonObject | undefined;
  const members = new Map<string, JsonObject>();
  const objects = await snapshotObjects(client, signal, (object) => {
    const metadata = own(object, 'metadata');
    if (ownString(metadata, 'namespace') !== namespace) return;
    if (own(object, 'kind') === POD_GANG_KIND && ownString(metadata, 'name') === name) found = object;
    const claims =
      own(object, 'kind') === 'Pod' && ownString(own(metadata, 'labels'), LABEL_POD_GANG) === name;
    if (claims) members.set(ownString(metadata, 'uid') ?? '', object);
  });
  if (found === undefined) return undefined;
  const gang = readGang(found);
  const pods = [...members.values()].map(readPod);
  const { placed, without } = withNominated(objects, { namespace, name });
  const careful = carefulSnapshot(placed);
  const { snapshot, context, isClear } = careful;
  const reading = new Reading(nameOf(found, POD_GANG_KIND));
  const waiting = [...members.values()]
    .filter((object) => {
      const pod = readPod(object);
      return isWaiting(pod) && pod.deletionTimestamp === undefined && pod.phase !== 'Failed';
    })
    .map((object) => readPlannedPod(object, context, reading));
  const preemptor = preemptorFor(gang, waiting, snapshot);
  const exempt = new Set(restraint.exemptNamespaces);
  const faults = [
    ...reading.faults,
    ...careful.faults.filter(({ object }) => object === nameOf(found ?? {}, POD_GANG_KIND)),
  ];
  const [fault] = faults;
  return {
    gang,
    pods,
    waiting,
    situation: {
      preemptor,
      snapshot: without(snapshot, preemptor),
      variant: 'kep',
      mayGo: (unit) => isClear(unit) && unit.pods.every((pod) => !exempt.has(pod.namespace)),
      breaksBudgets: restraint.overridePodDisruptionBudgets,
    },
    obstacle: fault === undefined ? selfish(waiting) : `${fault.object}: ${fault.field}: ${fault.message}`,
  };
}

/** Two that evict for the same gang evict twice as much, and kube-scheduler takes what one Pod alone needs. */
function selfish(waiting: readonly Pod[]): string | undefined {
  const [pod] = waiting.filter(({ preempts }) => preempts);
  return pod === undefined
    ? undefined
    : `Pod ${pod.key} preempts by itself: give its Pods a PriorityClass with preemptionPolicy Never, and the PodGang the annotation muster.dev/preemption-policy: PreemptLowerPriority`;
}

/** The gang with its waiting Pods; without any where it waits no more. */
function preemptorFor(gang: GangRecord, waiting: readonly Pod[], snapshot: Snapshot): Preemptor {
  if (waiting.length > 0) return preemptorOf(waiting, snapshot, 'kep');
  const { namespace, name } = gang;
  const key = keyOf(namespace, name);
  const { priority = 0, preempts = false } = snapshot.gangs.get(key) ?? {};
  const owns = (pod: Pod): boolean => pod.namespace === namespace && pod.gang === name;
  return { kind: 'Gang', key, priority, preempts, pods: [], minimums: [], owns };
}

/** The node that is being cleared for a Pod of another gang, by the Pod's uid. */
function nominationOf(object: JsonObject, gangs: { namespace: string; name: string }): string | undefined {
  if (own(object, 'kind') !== 'Pod' || ownString(own(object, 'spec'), 'nodeName')) return undefined;
  const metadata = own(object, 'metadata');
  const ours =
    ownString(metadata, 'namespace') === gangs.namespace &&
    ownString(own(metadata, 'labels'), LABEL_POD_GANG) === gangs.name;
  return ours ? undefined : ownString(own(object, 'status'), 'nominatedNodeName') || undefined;
}

/** Pods that a node is being cleared for count as if they were there already; those of lower priority do not. */
function withNominated(objects: readonly JsonObject[], gang: { namespace: string; name: string }) {
  const uids = new Set<string>();
  const placed = objects.map((object) => {
    const node = nominationOf(object, gang);
    if (node === undefined) return object;
    uids.add(ownString(own(object, 'metadata'), 'uid') ?? '');
    return { ...object, spec: { ...(own(object, 'spec') as JsonObject), nodeName: node } };
  });
  const without = (snapshot: Snapshot, { priority }: Preemptor): Snapshot =>
    uids.size === 0
      ? snapshot
      : { ...snapshot, pods: snapshot.pods.filter((pod) => !uids.has(pod.uid) || pod.priority >= priority) };
  return { placed, without };
}
