import { CONDITION_INITIALIZED, type Condition } from '../../api/pod-gang.ts';
import {
  CONDITION_PODS_NOT_MATCHING_PRIORITY,
  CONDITION_READY,
  CONDITION_SCHEDULED,
  CONDITION_UNHEALTHY,
  type ConditionReason,
} from './conditions.ts';
import type { PlannedEvent, ReferencesWrite, StatusWrite, Ungate, Violation } from './gang-plan.ts';
import type { GangRecord, PodRecord } from '../records.ts';
import { listed, statusText } from '../../text/printable.ts';
import { describeReferences } from './plan-references.ts';

type After = PlannedEvent['after'];
type Type = PlannedEvent['type'];

export function gangEvent(
  gang: GangRecord,
  type: Type,
  reason: PlannedEvent['reason'],
  message: string,
  after: After = 'now',
): PlannedEvent {
  return {
    on: { kind: 'PodGang', name: gang.name, uid: gang.uid },
    type,
    reason,
    message: statusText(message),
    after,
  };
}

export const podEvent = (
  pod: Pick<PodRecord, 'name' | 'uid'>,
  reason: PlannedEvent['reason'],
  message: string,
): PlannedEvent => ({
  on: { kind: 'Pod', name: pod.name, uid: pod.uid },
  type: 'Warning',
  reason,
  message: statusText(message),
  after: 'now',
});

export const violationEvents = (violations: readonly Violation[]): PlannedEvent[] =>
  violations.map((violation) =>
    podEvent({ name: violation.pod, uid: violation.uid }, violation.kind, violation.message),
  );

/** One Event for all gates that come off together, not one per Pod: a gang of 1,000 must not cost 1,000 more writes. */
export function ungateEvents(gang: GangRecord, ungates: readonly Ungate[]): PlannedEvent[] {
  if (ungates.length === 0) return [];
  const pods = listed(
    ungates.map((ungate) => ungate.pod),
    'Pods',
  );
  const message = `released ${ungates.length} ${ungates.length === 1 ? 'Pod' : 'Pods'} to the scheduler: ${pods}`;
  return [gangEvent(gang, 'Normal', 'GatesRemoved', message, 'ungate')];
}

export function referenceEvents(gang: GangRecord, write: ReferencesWrite | undefined): PlannedEvent[] {
  if (write === undefined) return [];
  const message = `refers to: ${listed(describeReferences(gang, write), 'groups')}`;
  return [gangEvent(gang, 'Normal', 'ReferencesUpdated', message, 'references')];
}

/** The Events for a write of status: one for each condition that turns, and one for each new reason to wait. */
export function statusEvents(gang: GangRecord, write: StatusWrite | undefined): PlannedEvent[] {
  if (write === undefined) return [];
  return write.conditions.flatMap((next): PlannedEvent[] => {
    const old = gang.conditions.find((condition) => condition.type === next.type);
    const type = (Object.hasOwn(EVENT_TYPES, next.type) ? EVENT_TYPES[next.type] : undefined)?.({
      old,
      next,
      turned: old?.status !== next.status,
      reworded: old?.message !== next.message || old?.reason !== next.reason,
    });
    return type === undefined
      ? []
      : [gangEvent(gang, type, next.reason as ConditionReason, next.message ?? '', 'status')];
  });
}

/** The change of one condition by a write. */
interface ConditionChange {
  readonly old: Condition | undefined;
  readonly next: Condition;
  readonly turned: boolean;
  /** Whether the message differs. */
  readonly reworded: boolean;
}

/** The type of Event for a change, by condition; undefined for no Event. */
const EVENT_TYPES: Readonly<Record<string, (change: ConditionChange) => Type | undefined>> = {
  [CONDITION_INITIALIZED]: ({ turned, reworded }) => (turned || reworded ? 'Normal' : undefined),
  [CONDITION_SCHEDULED]: (change) =>
    change.next.status === 'True' ? whenTurned(change, 'Normal') : whyPending(change),
  [CONDITION_READY]: (change) =>
    change.next.status === 'True' ? whenTurned(change, 'Normal') : whenEnded(change, 'Warning'),
  [CONDITION_UNHEALTHY]: (change) => {
    if (change.next.status !== 'True') return whenEnded(change, 'Normal');
    return change.turned || change.reworded ? 'Warning' : undefined;
  },
  [CONDITION_PODS_NOT_MATCHING_PRIORITY]: (change) =>
    change.next.status === 'True' ? whenTurned(change, 'Warning') : whenEnded(change, 'Normal'),
};

const whenTurned = ({ turned }: ConditionChange, type: Type): Type | undefined => (turned ? type : undefined);

const whenEnded = ({ old }: ConditionChange, type: Type): Type | undefined =>
  old?.status === 'True' ? type : undefined;

function whyPending({ old, next, turned, reworded }: ConditionChange): Type | undefined {
  if (old?.status === 'True' || next.reason === 'Unschedulable')
    return turned || reworded ? 'Warning' : undefined;
  // The message counts the Pods, and the arrival of each Pod is not worth an Event.
  if (next.reason === 'NextGenerationForming') return old?.reason !== next.reason ? 'Normal' : undefined;
  return next.reason === 'WaitingForBaseGang' && reworded ? 'Normal' : undefined;
}
