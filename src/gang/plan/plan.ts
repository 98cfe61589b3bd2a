import { expectedPods, type ExpectedPods } from '../expected-pods.ts';
import { workloadOf } from '../gang-workload.ts';
import type { GangRecord, GangState } from '../records.ts';
import { isInitialized } from '../rules/initialized.ts';
import { statusText } from '../../text/printable.ts';
import { isGated, takeCensus, type GroupCensus } from './census.ts';
import { gateHold, holdsOf, isPatient, type GangHolds } from './gang-holds.ts';
import { EMPTY_GANG_PLAN, type GangPlan, type GangSummary } from './gang-plan.ts';
import { misplacedPod } from './holds.ts';
import {
  gangEvent,
  podEvent,
  referenceEvents,
  statusEvents,
  ungateEvents,
  violationEvents,
} from './plan-events.ts';
import { planGates, type GateJudgement } from './plan-gates.ts';
import { isComplete, planReferences } from './plan-references.ts';
import { judgeStatus, type StatusJudgement } from './plan-status.ts';
import { claims, planUngrouped, planWithoutGang } from './plan-strays.ts';
import { planStatus } from './status-write.ts';
import { waitingBeside, whyOfAnothers } from './why.ts';

/** The state of a gang and what was found out about it, before the writes are decided. */
interface JudgedGang {
  readonly state: GangState;
  readonly gang: GangRecord;
  readonly census: readonly GroupCensus[];
  readonly expected: ExpectedPods;
  readonly holds: GangHolds;
  readonly gates: GateJudgement;
  readonly status: StatusJudgement;
  readonly ungrouped: ReturnType<typeof planUngrouped>;
}

/**
 * The whole decision of the loop about one gang: from its state to the writes. Pure, so that a test can try every history.
 *
 * 1. Count the gang's Pods by group (`takeCensus`) and how many each group waits for (`expectedPods`).
 * 2. Collect what holds the gang (`holdsOf`): another operator, faults of its spec, its backend, Pods prepared for another
 *    scheduler, missing Pods, or a next generation that is not complete.
 * 3. Judge each gate (`planGates`), then the status (`judgeStatus`), which names the base gang that the gates wait for.
 * 4. Write nothing to a gang that Muster does not manage, and hardly anything while its namespace exceeds the memory.
 * 5. Otherwise write references first, and remove gates. Write the status only where no references are written: each write
 *    is conditional on the resourceVersion that was read, so the first would make the second fail.
 *
 * Each step rests on what was *observed*, never on a write of the same plan. So a crash between two writes leaves a state
 * from which the next plan continues, and a plan made from an old state fails at the API server and does no harm.
 */
export function planGang(state: GangState): GangPlan {
  if (!state.synced) return EMPTY_GANG_PLAN;
  const { gang } = state;
  if (gang === 'missing') return planWithoutGang(state);
  const judged = judgeGang(state, gang);
  const { holds, gates, ungrouped } = judged;
  const seen = { waiting: [...gates.waiting, ...ungrouped.waiting], summary: summaryOf(judged) };
  if (holds.untouched !== undefined) return { ...EMPTY_GANG_PLAN, ...seen };
  if (holds.memory !== undefined) return { ...planInPart(judged, holds.memory.message), ...seen };
  return { ...planWrites(judged), ...seen };
}

function judgeGang(state: GangState, gang: GangRecord): JudgedGang {
  const scheduler = state.notOurs === undefined ? state.backend.schedulerName : undefined;
  const census = takeCensus(gang, state.pods, scheduler);
  const expected = expectedPods(gang);
  const holds = holdsOf(state, gang, census, expected.counts);
  const gates = planGates(state, gang, census, gateHold(gang, holds));
  const { waitsFor, told, mismatch } = holds;
  const input = { waitsFor, hold: told, mismatch, baseWait: gates.baseWait };
  const status = judgeStatus(state, gang, census, input);
  const ungrouped = planUngrouped(state, gang, census);
  return { state, gang, census, expected, holds, gates, status, ungrouped };
}

/**
 * The plan for a gang whose namespace exceeds the memory: a warning. An Initialized gang gets no status, since unknown Pods
 * may be bound. A gang without Pods gets none either, which saves a thousand writes at once.
 */
function planInPart({ state, gang, status }: JudgedGang, message: string): GangPlan {
  const silent = isInitialized(gang) || state.pods.length === 0;
  const { write } = silent ? {} : planStatus(state, gang, status, false);
  const warning = gangEvent(gang, 'Warning', 'NamespaceTooLarge', message);
  return { ...EMPTY_GANG_PLAN, status: write, events: [warning] };
}

function planWrites({
  state,
  gang,
  census,
  expected,
  holds,
  gates,
  status,
  ungrouped,
}: JudgedGang): GangPlan {
  const { faults, waitsFor } = holds;
  const mayInitialize = !isInitialized(gang) && waitsFor === undefined;
  const references =
    faults === undefined ? referencesDue(gang, census, expected.counts, mayInitialize) : undefined;
  const { write, recheckAfterMs } =
    references === undefined ? planStatus(state, gang, status, isPatient(state, holds)) : {};
  return {
    ...EMPTY_GANG_PLAN,
    references,
    status: write,
    ungate: gates.ungate,
    events: [
      ...(faults === undefined ? [] : [gangEvent(gang, 'Warning', 'SpecInvalid', faults)]),
      ...expected.faults.map((fault) => gangEvent(gang, 'Warning', 'ExpectedPodsInvalid', fault)),
      ...ungrouped.events,
      ...violationEvents(gates.violations),
      ...census
        .flatMap((group) => group.misplaced)
        .map((pod) => podEvent(pod, 'SchedulerMismatch', misplacedPod(state.backend, pod))),
      ...referenceEvents(gang, references),
      ...statusEvents(gang, write),
      ...ungateEvents(gang, gates.ungate),
    ],
    violations: gates.violations,
    recheckAfterMs,
  };
}

/**
 * The next write of references. Wrong names are removed first. Missing names are not added while the gang can be marked
 * Initialized with those it has, so that a stream of late Pods does not delay that.
 */
function referencesDue(
  gang: GangRecord,
  census: readonly GroupCensus[],
  expected: readonly number[],
  mayInitialize: boolean,
): GangPlan['references'] {
  const fill = isInitialized(gang) || isComplete(census, expected);
  const wrong = planReferences(gang, census, false) !== undefined;
  return wrong || !mayInitialize ? planReferences(gang, census, fill) : undefined;
}

function summaryOf(judged: JudgedGang): GangSummary {
  const { state, gang, census, expected, status } = judged;
  const gated = ({ members, misplaced }: GroupCensus): number =>
    members.filter(isGated).length + misplaced.filter(isGated).length;
  return {
    namespace: gang.namespace,
    name: gang.name,
    workload: workloadOf(gang),
    backend: state.backend.name,
    phase: status.phase,
    initialized: isInitialized(gang),
    groups: census.map((group) => ({
      name: group.name,
      minReplicas: group.minReplicas,
      expected: expected.counts[group.index] ?? 0,
      present: group.present.length,
      referenced: group.members.filter((pod) => group.referenced.has(pod.name)).length,
      bound: group.bound,
      ready: group.ready,
      gated: gated(group),
    })),
    gatesLeft: state.pods.filter((pod) => claims(state, pod) && isGated(pod)).length,
    why: statusText(whyOfGang(judged)),
  };
}

/**
 * Why the gang is not Running. For a gang that is deleted, not managed by anybody, or not wholly known, that alone is the
 * reason.
 */
function whyOfGang({ state, gang, census, holds, gates, status }: JudgedGang): string {
  const { untouched, memory, faults } = holds;
  const { notOurs } = state;
  if (gang.deletionTimestamp !== undefined || memory !== undefined || notOurs?.movedBy === 'nobody')
    return untouched ?? memory?.message ?? '';
  const isRunning = status.phase === 'Running' && status.why === '';
  const why = isRunning ? waitingBeside(gates.waiting) : status.why;
  return whyOfAnothers(notOurs?.message, census, faults ?? why);
}
