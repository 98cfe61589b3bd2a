import { GATE_POD_GANG_PENDING } from '../api/names.ts';
import { readPodRecord } from '../gang/read-records.ts';
import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { parseKubeTime } from '../k8s/time.ts';
import { oneLine } from '../text/printable.ts';
import type { EventRecord } from './event-record.ts';

/** What is known of one Pod's moments, in milliseconds since 1970; undefined: it was not yet, or is not known any more. */
export interface PodLife {
  readonly pod: string;
  readonly uid: string;
  readonly group: string;
  /** Whether the Pod does not exist any more, so that only Events tell of it. */
  readonly gone: boolean;
  readonly created: number | undefined;
  /** Whether it has Muster's gate now. */
  readonly gated: boolean;
  /** Gates of others that it has now. */
  readonly otherGates: readonly string[];
  readonly baseGang: string | undefined;
  readonly bound: number | undefined;
  readonly node: string;
  /** When the last of its containers began. */
  readonly started: number | undefined;
  readonly ready: number | undefined;
  readonly evicted: { readonly at: number; readonly says: string } | undefined;
  /** When somebody asked for its deletion. */
  readonly deleted: number | undefined;
  /** When it had succeeded or failed. */
  readonly ended: number | undefined;
  readonly phase: string;
  /** Whether a container began again, so that its first start is not known any more. */
  readonly restarted: boolean;
  /** The scheduler's last word in the Pod's condition. */
  readonly refused: { readonly at: number; readonly says: string } | undefined;
  /** Why a container does not run, in the kubelet's word; '' for none. */
  readonly containerWaits: string;
  readonly revision: string | undefined;
  readonly attempt: string | undefined;
}

/** Reads a Pod from the API server, `metadata.managedFields` included where it has them. */
export function readPodLife(object: JsonObject): PodLife {
  const record = readPodRecord(object);
  const metadata = ownObject(object, 'metadata');
  const status = ownObject(object, 'status');
  const conditions = ownList(status, 'conditions') ?? [];
  const condition = (type: string): Json | undefined =>
    conditions.find((one) => ownString(one, 'type') === type);
  const since = (type: string): number | undefined =>
    ownString(condition(type), 'status') === 'True'
      ? parseKubeTime(ownString(condition(type), 'lastTransitionTime'))
      : undefined;
  const containers = ownList(status, 'containerStatuses') ?? [];
  const hasEnded = record.phase === 'Succeeded' || record.phase === 'Failed';
  const disrupted = since('DisruptionTarget');
  return {
    pod: record.name,
    uid: record.uid,
    group: record.group,
    gone: false,
    created: parseKubeTime(record.creationTimestamp),
    gated: record.gates.includes(GATE_POD_GANG_PENDING),
    otherGates: record.gates.filter((gate) => gate !== GATE_POD_GANG_PENDING),
    baseGang: record.baseGang,
    bound: record.nodeName === '' ? undefined : since('PodScheduled'),
    node: record.nodeName,
    started: startOf(containers),
    ready: since('Ready'),
    evicted:
      disrupted === undefined ? undefined : { at: disrupted, says: wordsOf(condition('DisruptionTarget')) },
    deleted: deletionOf(metadata),
    ended: hasEnded ? latest(containers.map((one) => momentIn(one, 'terminated', 'finishedAt'))) : undefined,
    phase: record.phase,
    restarted: containers.some((one) => Number(own(one, 'restartCount') ?? 0) > 0),
    refused: refusalOf(record.nodeName, condition('PodScheduled'), metadata),
    containerWaits: containers
      .flatMap((one) => ownString(ownObject(ownObject(one, 'state'), 'waiting'), 'reason') ?? [])
      .slice(0, 1)
      .join(''),
    revision: record.revision,
    attempt: record.attempt,
  };
}

/** A condition's message on one line, or its reason. */
export const wordsOf = (condition: Json | undefined): string =>
  oneLine(ownString(condition, 'message') ?? '') || (ownString(condition, 'reason') ?? '');

const momentIn = (container: Json, state: string, field: string): number | undefined =>
  parseKubeTime(ownString(ownObject(ownObject(container, 'state'), state), field));

/** The last of the moments; undefined where there is none, or one is not known. */
export const latest = (moments: readonly (number | undefined)[]): number | undefined =>
  moments.length === 0 || moments.includes(undefined) ? undefined : Math.max(...(moments as number[]));

const startOf = (containers: readonly Json[]): number | undefined =>
  latest(
    containers.map(
      (one) => momentIn(one, 'running', 'startedAt') ?? momentIn(one, 'terminated', 'startedAt'),
    ),
  );

/** `deletionTimestamp` is when the grace period ends. */
function deletionOf(metadata: JsonObject | undefined): number | undefined {
  const end = parseKubeTime(ownString(metadata, 'deletionTimestamp'));
  const grace = own(metadata, 'deletionGracePeriodSeconds');
  return end === undefined ? undefined : end - (typeof grace === 'number' ? grace * 1000 : 0);
}

/**
 * The condition PodScheduled has been False since the Pod was created, so its own time says nothing: whoever wrote it last
 * is in managedFields.
 */
function refusalOf(
  node: string,
  condition: Json | undefined,
  metadata: JsonObject | undefined,
): PodLife['refused'] {
  const reason = ownString(condition, 'reason');
  if (node !== '' || ownString(condition, 'status') !== 'False' || reason === 'SchedulingGated')
    return undefined;
  const at = writtenAt(metadata, ['f:status', 'f:conditions', 'k:{"type":"PodScheduled"}']);
  return at === undefined ? undefined : { at, says: wordsOf(condition) };
}

/** When the manager of a field last wrote, by managedFields; undefined where nobody manages it. */
export function writtenAt(metadata: JsonObject | undefined, path: readonly string[]): number | undefined {
  const times = (ownList(metadata, 'managedFields') ?? []).flatMap((entry) => {
    const field = path.reduce<Json | undefined>((inner, key) => own(inner, key), own(entry, 'fieldsV1'));
    return field === undefined ? [] : (parseKubeTime(ownString(entry, 'time')) ?? []);
  });
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Reasons of Events about a Pod that has to go, by the scheduler, Muster, the kubelet and the taint controller. */
const EVICTIONS: readonly string[] = ['Preempted', 'Evicted', 'TaintManagerEviction'];

export const isEviction = ({ reason }: EventRecord): boolean => EVICTIONS.includes(reason);

/** The life of a Pod that is gone, from Events about it. */
export function lifeFromEvents(events: readonly EventRecord[]): PodLife {
  const at = (reason: string): number | undefined => events.find((event) => event.reason === reason)?.at;
  const [first] = events;
  const eviction = events.find(isEviction);
  return {
    pod: first?.name ?? '',
    uid: first?.uid ?? '',
    group: '',
    gone: true,
    created: undefined,
    gated: false,
    otherGates: [],
    baseGang: undefined,
    bound: at('Scheduled'),
    node: '',
    started: at('Started'),
    ready: undefined,
    evicted: eviction && { at: eviction.at, says: eviction.note },
    deleted: at('Killing'),
    ended: undefined,
    phase: '',
    restarted: false,
    refused: undefined,
    containerWaits: '',
    revision: undefined,
    attempt: undefined,
  };
}
