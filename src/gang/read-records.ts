import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import {
  ANNOTATION_MIRROR_POD,
  ANNOTATION_PREPARED,
  FLUX_ENTRYPOINT,
  LABEL_JOBSET_ATTEMPT,
  LABEL_LWS_REVISION,
  LABEL_LWS_WORKER_INDEX,
} from '../api/names.ts';
import { amountsText, containerRunning } from '../k8s/container-amounts.ts';
import type { GangRecord, NamespaceRecord, PodRecord, PodScheduled } from './records.ts';
import { membershipOf } from './membership.ts';
import { parsePodGang } from './parse-pod-gang.ts';

/** Reads a PodGang from the API server. Malformed fields read as empty, so that the loop never throws on an object. */
export function readGangRecord(object: JsonObject): GangRecord {
  const metadata = ownObject(object, 'metadata');
  const generation = own(metadata, 'generation');
  const finalizers = ownList(metadata, 'finalizers')?.filter((name) => typeof name === 'string');
  const owners = ownList(metadata, 'ownerReferences')?.flatMap((owner) => ownString(owner, 'uid') ?? []);
  return {
    ...parsePodGang(object, ownString(metadata, 'namespace') ?? '').gang,
    uid: ownString(metadata, 'uid') ?? '',
    resourceVersion: ownString(metadata, 'resourceVersion') ?? '',
    generation: typeof generation === 'number' ? generation : 0,
    creationTimestamp: ownString(metadata, 'creationTimestamp'),
    deletionTimestamp: ownString(metadata, 'deletionTimestamp'),
    ...(finalizers !== undefined && { finalizers }),
    ...(owners !== undefined && { owners }),
    phase: ownString(ownObject(object, 'status'), 'phase'),
  };
}

/** Reads a Pod from the API server, trimmed so that a cache of 20,000 Pods stays small. */
export function readPodRecord(object: JsonObject): PodRecord {
  const metadata = ownObject(object, 'metadata');
  const labels = ownObject(metadata, 'labels');
  const spec = ownObject(object, 'spec');
  const status = ownObject(object, 'status');
  const namespace = ownString(metadata, 'namespace') ?? '';
  const name = ownString(metadata, 'name') ?? '';
  const prepared = ownString(ownObject(metadata, 'annotations'), ANNOTATION_PREPARED);
  const membership = isMirror(metadata) ? NOBODYS : membershipOf(namespace, (key) => ownString(labels, key));
  const priority = own(spec, 'priority');
  return {
    namespace,
    name,
    uid: ownString(metadata, 'uid') ?? '',
    resourceVersion: ownString(metadata, 'resourceVersion') ?? '',
    creationTimestamp: ownString(metadata, 'creationTimestamp'),
    deletionTimestamp: ownString(metadata, 'deletionTimestamp'),
    gang: membership.gang,
    group: membership.group,
    baseGang: membership.baseGang === '' ? undefined : membership.baseGang,
    gates: (ownList(spec, 'schedulingGates') ?? []).map((gate) => ownString(gate, 'name') ?? ''),
    nodeName: ownString(spec, 'nodeName') ?? '',
    nativeGang: nativeGangOf(spec),
    revision: ownString(labels, LABEL_LWS_REVISION),
    ...(ownString(labels, LABEL_LWS_WORKER_INDEX) === '0' && { leads: true as const }),
    attempt: ownString(labels, LABEL_JOBSET_ATTEMPT),
    schedulerName: ownString(spec, 'schedulerName'),
    priorityClassName: ownString(spec, 'priorityClassName') ?? '',
    priority: typeof priority === 'number' ? priority : undefined,
    prepared,
    subdomain: prepared === undefined ? undefined : ownString(spec, 'subdomain'),
    asks: prepared === undefined ? undefined : fluxAmounts(spec),
    hostname: prepared === undefined ? undefined : ownString(spec, 'hostname') || name,
    phase: ownString(status, 'phase') ?? '',
    ready: ownString(conditionOf(status, 'Ready'), 'status') === 'True',
    podScheduled: podScheduledOf(conditionOf(status, 'PodScheduled')),
  };
}

function fluxAmounts(spec: JsonObject | undefined): string | undefined {
  const container = containerRunning(spec, FLUX_ENTRYPOINT);
  return container && amountsText(container);
}

/**
 * Whether this is a mirror Pod, which a node runs by itself. No scheduler places it, so it is in no gang, whatever its
 * labels.
 */
const isMirror = (metadata: JsonObject | undefined): boolean =>
  own(own(metadata, 'annotations'), ANNOTATION_MIRROR_POD) !== undefined;

const NOBODYS = { gang: '', group: '', baseGang: '' };

function nativeGangOf(spec: JsonObject | undefined): string {
  const workload = ownObject(spec, 'workloadRef');
  if (workload === undefined) return ownString(ownObject(spec, 'schedulingGroup'), 'podGroupName') ?? '';
  const parts = ['name', 'podGroup', 'podGroupReplicaKey'].flatMap((key) => ownString(workload, key) ?? []);
  return parts.join('/');
}

/** Reads a Namespace from the API server. */
export function readNamespaceRecord(object: JsonObject): NamespaceRecord {
  const metadata = ownObject(object, 'metadata');
  return {
    namespace: '',
    name: ownString(metadata, 'name') ?? '',
    uid: ownString(metadata, 'uid') ?? '',
    resourceVersion: ownString(metadata, 'resourceVersion') ?? '',
    labels: stringsOf(metadata, 'labels'),
    annotations: stringsOf(metadata, 'annotations'),
    deletionTimestamp: ownString(metadata, 'deletionTimestamp'),
  };
}

function stringsOf(metadata: JsonObject | undefined, key: string): ReadonlyMap<string, string> {
  const entries = Object.entries(ownObject(metadata, key) ?? {});
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

const conditionOf = (status: JsonObject | undefined, type: string): Json | undefined =>
  ownList(status, 'conditions')?.find((condition) => ownString(condition, 'type') === type);

function podScheduledOf(condition: Json | undefined): PodScheduled | undefined {
  if (condition === undefined) return undefined;
  return {
    status: ownString(condition, 'status') ?? '',
    reason: ownString(condition, 'reason'),
    message: ownString(condition, 'message'),
  };
}
