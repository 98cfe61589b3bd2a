import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { ANNOTATION_FLEET_QUEUE, ANNOTATION_FLEET_TERMS, TERMS_UNREAD } from '../../api/names.ts';
import { FieldReader, type Resources } from '../../k8s/field-reader.ts';
import { readBinding } from '../assign/binding.ts';
import { totalOf } from '../assign/estimate.ts';
import type { QueuedGang } from '../queues/dispatch.ts';
import { isSuspended } from './owner.ts';

/** A binding, as far as queues look at it. */
export interface QueuedBinding {
  /** `''` for a ClusterResourceBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  /** What its workload and its policy say is still to be read. */
  readonly unread: boolean;
  /** Held back from schedulers. */
  readonly held: boolean;
  /** It has clusters already. */
  readonly placed: boolean;
  readonly finished: boolean;
  /** `batch/v1 Job train`. */
  readonly workload: string;
  /** In a queue; undefined: in none. Its requests are empty where they cannot be read: then `fault` says why. */
  readonly gang: QueuedGang | undefined;
  readonly fault: string | undefined;
}

/** A binding as the API server has it, trimmed. */
export function readQueuedBinding(object: JsonObject): QueuedBinding {
  const metadata = ownObject(object, 'metadata');
  const spec = own(object, 'spec');
  const annotations = own(metadata, 'annotations');
  const [namespace, name] = [ownString(metadata, 'namespace') ?? '', ownString(metadata, 'name') ?? ''];
  const queue = ownString(annotations, ANNOTATION_FLEET_QUEUE);
  const reading = new FieldReader(name);
  const { key, replicas, requests, components, clusters, kind } = readBinding(object, reading);
  const unreadable = reading.faults.find(({ field }) => /^spec\.(replica|components)/.test(field));
  const sent = clusters.reduce((sum, one) => sum + one.replicas, 0);
  // What has been promised counts in full: a gang that began with less may grow.
  const times = Math.max(replicas, sent);
  const total =
    components.length > 0
      ? timesOf(totalOf(components), Math.max(1, clusters.length))
      : timesOf(requests ?? new Map(), times);
  const pods =
    components.length > 0 ? components.reduce((sum, component) => sum + component.replicas, 0) : times;
  const uid = ownString(metadata, 'uid') ?? '';
  const since = Date.parse(ownString(metadata, 'creationTimestamp') ?? '');
  return {
    namespace,
    name,
    uid,
    resourceVersion: ownString(metadata, 'resourceVersion') ?? '',
    deleting: own(metadata, 'deletionTimestamp') !== undefined,
    unread: ownString(annotations, ANNOTATION_FLEET_TERMS) === TERMS_UNREAD,
    held: isSuspended(object),
    placed: clusters.length > 0,
    finished: hasFinished(ownList(own(object, 'status'), 'aggregatedStatus') ?? [], clusters.length),
    workload: `${kind} ${ownString(own(spec, 'resource'), 'name') ?? ''}`,
    gang:
      queue === undefined
        ? undefined
        : {
            ...{ key, uid, queue, pods, requests: total },
            priority: integerOf(own(own(spec, 'schedulePriority'), 'priority')),
            since: Number.isNaN(since) ? 0 : since,
          },
    fault: unreadable && `${unreadable.field}: ${unreadable.message}`,
  };
}

const timesOf = (amounts: Resources, times: number): Resources =>
  new Map(Array.from(amounts, ([resource, amount]) => [resource, amount * times]));

const integerOf = (value: Json | undefined): number =>
  typeof value === 'number' && Number.isInteger(value) ? value : 0;

/** By which condition a workload tells that it has run to its end. */
const CONDITIONS = ['Complete', 'Completed', 'Succeeded', 'Failed', 'Finished'];
/** The same as a phase, in the words of any of the kinds. */
const PHASES = [
  'completed',
  'succeeded',
  'failed',
  'finished',
  'terminated',
  'aborted',
  'complete',
  'canceled',
];

/**
 * Whether a workload has come to its end in every cluster that it was sent to: then what it had is free, though its
 * binding stays until somebody deletes the workload.
 * @param statuses `status.aggregatedStatus` of its binding
 */
export const hasFinished = (statuses: readonly Json[], clusters: number): boolean =>
  clusters > 0 && statuses.length >= clusters && statuses.every((one) => isOver(own(one, 'status')));

function isOver(status: Json | undefined): boolean {
  const conditions = ownList(status, 'conditions') ?? [];
  const said = conditions.some(
    (one) => ownString(one, 'status') === 'True' && CONDITIONS.includes(ownString(one, 'type') ?? ''),
  );
  const phases = [
    own(status, 'phase'),
    own(status, 'jobStatus'),
    own(own(status, 'jobStatus'), 'state'),
    own(status, 'terminalState'),
    own(own(status, 'state'), 'phase'),
  ];
  return said || phases.some((phase) => typeof phase === 'string' && PHASES.includes(phase.toLowerCase()));
}
