import type { Condition, NamespacedName } from '../../api/pod-gang.ts';
import type { GangPhase, ConditionReason, EventReason } from './conditions.ts';
import {
  GATE_POD_GANG_PENDING,
  LABEL_BASE_POD_GANG,
  LABEL_POD_CLIQUE,
  LABEL_POD_GANG,
} from '../../api/names.ts';
import type { JsonObject } from '../../json/json.ts';
import type { PatchOperation } from '../../json/patch.ts';

/**
 * The next writes for one gang. It has `references` or `status`, not both: each write is conditional on the resourceVersion
 * that was read, so the first would make the second fail. The writes may be carried out in any order, and any of them may
 * fail: the next plan starts from what is observed then.
 */
export interface GangPlan {
  readonly references: ReferencesWrite | undefined;
  readonly status: StatusWrite | undefined;
  /**
   * Gates to remove. Call `confirmUngates` before the first, with the PodGang as just read or as the last write returned it.
   */
  readonly ungate: readonly Ungate[];
  readonly events: readonly PlannedEvent[];
  /** Every live Pod that is gated or does not run yet, and why. */
  readonly waiting: readonly Waiting[];
  readonly violations: readonly Violation[];
  /** undefined where the state is not synced, or the gang does not exist. */
  readonly summary: GangSummary | undefined;
  /** Milliseconds after which to plan again, even if nothing happens. */
  readonly recheckAfterMs: number | undefined;
}

export const EMPTY_GANG_PLAN: GangPlan = {
  references: undefined,
  status: undefined,
  ungate: [],
  events: [],
  waiting: [],
  violations: [],
  summary: undefined,
  recheckAfterMs: undefined,
};

/** A write of `spec`: the new references of the groups that change. `referencesPatch` builds its patch. */
export interface ReferencesWrite {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly groups: readonly {
    readonly index: number;
    readonly name: string;
    readonly references: readonly NamespacedName[];
  }[];
}

/** One write of `status`: the phase and the whole list of conditions, foreign ones included. */
export interface StatusWrite {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly phase: GangPhase;
  readonly conditions: readonly Condition[];
}

/** The removal of Muster's gate from one Pod, if it is still the Pod that was judged. `ungatePatch` builds its patch. */
export interface Ungate {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly gang: string;
  readonly gangUid: string;
  readonly group: string;
  readonly baseGang: string | undefined;
  /** Index of Muster's gate in `spec.schedulingGates`. */
  readonly gateIndex: number;
}

/** An Event to record once: the recorder drops an Event that it has recorded with the same message before. */
export interface PlannedEvent {
  readonly on: { readonly kind: 'PodGang' | 'Pod'; readonly name: string; readonly uid: string };
  readonly type: 'Normal' | 'Warning';
  readonly reason: ConditionReason | EventReason;
  readonly message: string;
  /** Record the Event only if this write succeeded; `now` depends on no write. */
  readonly after: 'now' | 'references' | 'status' | 'ungate';
}

export interface Waiting {
  readonly pod: string;
  readonly group: string;
  /**
   * `gated`: by Muster's gate; `foreign`: by another gate; `pending`: no gate, not bound; `starting`: bound, not ready;
   * `misplaced`: no gate, and prepared for another scheduler than its gang's.
   */
  readonly state: 'gated' | 'foreign' | 'pending' | 'starting' | 'misplaced';
  readonly reason: string;
}

/** A violation that the loop cannot repair. */
export interface Violation {
  readonly kind: 'UngatedEarly';
  readonly pod: string;
  readonly uid: string;
  readonly message: string;
}

/** One gang as a row of a table. */
export interface GangSummary {
  readonly namespace: string;
  readonly name: string;
  /** `job/train`, where Muster made the gang for a workload. */
  readonly workload?: string | undefined;
  readonly backend: string;
  readonly phase: GangPhase;
  readonly initialized: boolean;
  readonly groups: readonly GroupSummary[];
  /** Live Pods that still have Muster's gate. */
  readonly gatesLeft: number;
  /** Why the gang is not Running, in one line; '' when it is. */
  readonly why: string;
}

export interface GroupSummary {
  readonly name: string;
  readonly minReplicas: number;
  readonly expected: number;
  readonly present: number;
  readonly referenced: number;
  readonly bound: number;
  readonly ready: number;
  readonly gated: number;
}

const label = (key: string): string => `/metadata/labels/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;

/**
 * JSON patch of a PodGang. It sets the resourceVersion, so the API server answers 409 where the gang has changed, and tests
 * the names, in case the list was reordered. It touches nothing else of the spec.
 */
export function referencesPatch(write: ReferencesWrite): PatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: write.uid },
    { op: 'replace', path: '/metadata/resourceVersion', value: write.resourceVersion },
    ...write.groups.flatMap(({ index, name, references }): PatchOperation[] => [
      { op: 'test', path: `/spec/podgroups/${index}/name`, value: name },
      {
        op: 'add',
        path: `/spec/podgroups/${index}/podReferences`,
        value: references.map((reference) => ({ namespace: reference.namespace, name: reference.name })),
      },
    ]),
  ];
}

/**
 * JSON merge patch of `podgangs/status`. The API server answers 409 where the gang has changed; other fields of the status
 * stay.
 */
export function statusPatch(write: StatusWrite): JsonObject {
  return {
    metadata: { uid: write.uid, resourceVersion: write.resourceVersion },
    status: {
      phase: write.phase,
      conditions: write.conditions.map((condition) => ({
        type: condition.type,
        status: condition.status,
        reason: condition.reason ?? 'Unknown',
        message: condition.message ?? '',
        ...(condition.observedGeneration === undefined
          ? {}
          : { observedGeneration: condition.observedGeneration }),
        ...(condition.lastTransitionTime === undefined
          ? {}
          : { lastTransitionTime: condition.lastTransitionTime }),
      })),
    },
  };
}

/**
 * JSON patch that removes Muster's gate from a Pod and changes nothing else. It tests the conditions of the decision (this
 * Pod, this group, the gate at this index) and not the resourceVersion: the scheduler writes a condition into each gated Pod
 * just after its creation, and each such write would cost a retry.
 */
export function ungatePatch(ungate: Ungate): PatchOperation[] {
  const gate = `/spec/schedulingGates/${ungate.gateIndex}`;
  return [
    { op: 'test', path: '/metadata/uid', value: ungate.uid },
    { op: 'test', path: label(LABEL_POD_GANG), value: ungate.gang },
    { op: 'test', path: label(LABEL_POD_CLIQUE), value: ungate.group },
    ...(ungate.baseGang === undefined
      ? []
      : [{ op: 'test', path: label(LABEL_BASE_POD_GANG), value: ungate.baseGang } as const]),
    { op: 'test', path: `${gate}/name`, value: GATE_POD_GANG_PENDING },
    { op: 'remove', path: gate },
  ];
}
