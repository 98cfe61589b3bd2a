import type { Condition, NamespacedName } from '../../api/pod-gang.ts';
import type { ConditionReason, EventReason } from './reasons.ts';

/**
 * What to do next for one gang. At most one of `references` and `status` is there, since each is conditional on
 * the resourceVersion that was read and the first would make the second fail. Writes may be carried out in any
 * order, and any of them may be lost: the next plan, from what is then observed, goes on.
 */
export interface GangPlan {
  readonly references: ReferencesWrite | undefined;
  readonly status: StatusWrite | undefined;
  /** Before the first of them: ask `confirmUngates`, with the PodGang itself as it was read or answered since. */
  readonly ungate: readonly Ungate[];
  readonly events: readonly PlannedEvent[];
  /** Every live Pod that is gated or not yet running, and why. */
  readonly waiting: readonly Waiting[];
  readonly violations: readonly Violation[];
  /** undefined while there is nothing to say: unsynced, or no such gang. */
  readonly summary: GangSummary | undefined;
  /** Plan again after this long even if nothing happens. */
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

/** One write of `spec`: the new references of the groups that change. `referencesPatch` words it. */
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

export type GangPhase = 'Pending' | 'Starting' | 'Running' | 'Succeeded' | 'Failed';

/** Take our gate off one Pod, if it is still the Pod that was judged. `ungatePatch` words it. */
export interface Ungate {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly gang: string;
  readonly gangUid: string;
  readonly group: string;
  readonly baseGang: string | undefined;
  /** Position of our gate in `spec.schedulingGates`. */
  readonly gateIndex: number;
}

/** An Event to record, once: whoever records drops what it has recorded with the same words before. */
export interface PlannedEvent {
  readonly on: { readonly kind: 'PodGang' | 'Pod'; readonly name: string; readonly uid: string };
  readonly type: 'Normal' | 'Warning';
  readonly reason: ConditionReason | EventReason;
  readonly message: string;
  /** Say it only if this write went through; `now` depends on none. */
  readonly after: 'now' | 'references' | 'status' | 'ungate';
}

export interface Waiting {
  readonly pod: string;
  readonly group: string;
  /**
   * `gated`: by our gate; `foreign`: by somebody else's; `pending`: no gate, not bound; `starting`: bound, not ready;
   * `misplaced`: no gate, and prepared for another scheduler than its gang's.
   */
  readonly state: 'gated' | 'foreign' | 'pending' | 'starting' | 'misplaced';
  readonly reason: string;
}

/** Something that must not be and that the loop cannot undo. */
export interface Violation {
  readonly kind: 'UngatedEarly';
  readonly pod: string;
  readonly uid: string;
  readonly message: string;
}

/** One gang for a table. */
export interface GangSummary {
  readonly namespace: string;
  readonly name: string;
  /** `job/train`, where Muster made the gang for a workload. */
  readonly workload?: string | undefined;
  readonly backend: string;
  readonly phase: GangPhase;
  readonly initialized: boolean;
  readonly groups: readonly GroupSummary[];
  /** Live Pods that still carry our gate. */
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
