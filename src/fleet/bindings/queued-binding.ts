import { own, ownList, ownObject, ownString, type Json, type JsonObject } from '../../json/json.ts';
import { ANNOTATION_FLEET_QUEUE, ANNOTATION_FLEET_TERMS, TERMS_UNREAD } from '../../api/names.ts';
import { FieldReader, type Resources } from '../../k8s/field-reader.ts';
import { readBinding } from '../assign/binding.ts';
import { totalOf } from '../assign/estimate.ts';
import type { QueuedGang } from '../queues/dispatch.ts';
import { isSuspended } from './owner.ts';

/** A binding, reduced to the fields that queues use. */
export interface QueuedBinding {
  /** `''` for a ClusterResourceBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly deleting: boolean;
  /** Whether the workload and the policy of the binding have not been read yet. */
  readonly unread: boolean;
  /** Whether scheduling is suspended. */
  readonly held: boolean;
  /** Whether the binding has clusters. */
  readonly placed: boolean;
  readonly finished: boolean;
  /** Kind and name of the workload, such as `batch/v1 Job train`. */
  readonly workload: string;
  /** undefined: the binding is in no queue. The requests are empty when they cannot be read; `fault` has the reason then. */
  readonly gang: QueuedGang | undefined;
  readonly fault: string | undefined;
}

/** Reads a binding of the API server. */
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
  // The full number counts: a gang that was placed with fewer replicas may grow.
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

/** Conditions that mean that a workload has ended. */
const CONDITIONS = ['Complete', 'Completed', 'Succeeded', 'Failed', 'Finished'];
/** Phases that mean the same, of any kind, in lower case. */
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
 * Whether a workload has ended in every cluster that it was sent to. Its capacity is free then, although its binding exists
 * until the workload is deleted.
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
