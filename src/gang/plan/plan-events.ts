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

/** What a write of status says to people: each turn of a condition, and each new reason to wait. */
export function statusEvents(gang: GangRecord, write: StatusWrite | undefined): PlannedEvent[] {
  if (write === undefined) return [];
  return write.conditions.flatMap((next): PlannedEvent[] => {
    const old = gang.conditions.find((condition) => condition.type === next.type);
    const type = eventType(old, next);
    return type === undefined
      ? []
      : [gangEvent(gang, type, next.reason as ConditionReason, next.message ?? '', 'status')];
  });
}

function eventType(old: Condition | undefined, next: Condition): Type | undefined {
  const turned = old?.status !== next.status;
  const said = old?.message !== next.message || old?.reason !== next.reason;
  switch (next.type) {
    case CONDITION_INITIALIZED:
      return turned || said ? 'Normal' : undefined;
    case CONDITION_SCHEDULED:
      if (next.status === 'True') return turned ? 'Normal' : undefined;
      if (old?.status === 'True' || next.reason === 'Unschedulable')
        return turned || said ? 'Warning' : undefined;
      // Its words count the Pods: each of them coming is no news.
      if (next.reason === 'NextGenerationForming') return old?.reason !== next.reason ? 'Normal' : undefined;
      return next.reason === 'WaitingForBaseGang' && said ? 'Normal' : undefined;
    case CONDITION_READY:
      if (next.status === 'True') return turned ? 'Normal' : undefined;
      return old?.status === 'True' ? 'Warning' : undefined;
    case CONDITION_UNHEALTHY:
      if (next.status === 'True') return turned || said ? 'Warning' : undefined;
      return old?.status === 'True' ? 'Normal' : undefined;
    case CONDITION_PODS_NOT_MATCHING_PRIORITY:
      if (next.status === 'True') return turned ? 'Warning' : undefined;
      return old?.status === 'True' ? 'Normal' : undefined;
    default:
      return undefined;
  }
}
