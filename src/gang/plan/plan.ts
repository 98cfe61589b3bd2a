import { isGated, takeCensus, shortfall, type GroupCensus } from './census.ts';
import { expectedPods } from '../expected-pods.ts';
import { EMPTY_GANG_PLAN, type GangSummary, type GangPlan } from './gang-plan.ts';
import type { GangRecord, GangState } from '../records.ts';
import { backendHold, mismatchHold, specHold, memoryHold, mismatch, misplacedPod } from './holds.ts';
import { generationHold } from './generation.ts';
import type { Hold } from './conditions.ts';
import { statusText } from '../../text/printable.ts';
import { workloadOf } from '../gang-workload.ts';
import { isInitialized } from '../rules/initialized.ts';
import {
  gangEvent,
  podEvent,
  referenceEvents,
  statusEvents,
  ungateEvents,
  violationEvents,
} from './plan-events.ts';
import { claims, planUngrouped, planWithoutGang } from './plan-strays.ts';
import { planGates } from './plan-gates.ts';
import { isComplete, isFullyReferenced, planReferences } from './plan-references.ts';
import { judgeStatus, NO_GROUPS } from './plan-status.ts';
import { planStatus } from './status-write.ts';
import { waitingBeside, whyOfAnothers } from './why.ts';
import { stoppedBy } from '../rules/rule-lists.ts';

/**
 * The loop's whole judgement: what is known in, what to do out. Pure, so that every history can be tried.
 *
 * References come first, then Initialized, then the gates, and each rests on what was *observed*, never on a write
 * of the same plan. So a crash between any two writes leaves a state from which the next plan simply goes on, and
 * a plan made from an old state fails at the API server instead of doing harm.
 */
export function planGang(state: GangState): GangPlan {
  if (!state.synced) return EMPTY_GANG_PLAN;
  const { gang } = state;
  if (gang === 'missing') return planWithoutGang(state);

  const census = takeCensus(
    gang,
    state.pods,
    state.notOurs === undefined ? state.backend.schedulerName : undefined,
  );
  const expected = expectedPods(gang);
  const observed = isInitialized(gang);
  const hands = handsOff(state, gang);
  const faults = stoppedBy(gang);
  // Also later: a Pod let go before its scheduler knows of a change would be judged by what was before, and one let go
  // beside Pods of another scheduler would start without them.
  const still = memoryHold(state);
  const held = still ?? backendHold(state.backend);
  const torn = mismatch(state.backend, census, (group) => group.minReplicas);
  const tornHold = torn === undefined ? undefined : mismatchHold(torn);
  // Whoever else takes the gates off knows of no generations.
  const next =
    observed && hands === undefined ? generationHold(state, gang, census, expected.counts) : undefined;
  const hold = held ?? tornHold ?? next;
  const waitsFor = observed
    ? undefined
    : (still ?? specHold(faults) ?? notInitializedBecause(state, census, expected.counts));
  const kept = observed ? hold?.message : (waitsFor?.message ?? 'the gang is being marked Initialized');
  const gates = planGates(state, gang, census, hands ?? kept);
  const { baseWait } = gates;
  // Objects that are merely on their way are there in a moment, or the backend says why not: two writes saved.
  const told = isOnItsWay(state, hold) ? (tornHold ?? next) : hold;
  const judgement = judgeStatus(state, gang, census, { waitsFor, hold: told, torn, baseWait });
  const ungrouped = planUngrouped(state, gang, census);
  const own =
    judgement.phase === 'Running' && judgement.why === '' ? waitingBeside(gates.waiting) : judgement.why;
  const isMoved = state.notOurs?.movedBy !== 'nobody';
  // Of one that is deleted, that nobody moves, or that is not wholly known, nothing else is to be said.
  const why =
    gang.deletionTimestamp !== undefined || still !== undefined || !isMoved
      ? (hands ?? still?.message ?? '')
      : whyOfAnothers(state.notOurs?.message, census, faults ?? own);
  const summary = summaryOf(state, gang, census, expected.counts, judgement.phase, why);
  const waiting = [...gates.waiting, ...ungrouped.waiting];
  if (hands !== undefined) return { ...EMPTY_GANG_PLAN, waiting, summary };
  if (still !== undefined) {
    // Of one that had formed nothing is said: who is not known may be bound. Nor where no Pod waits: many writes at once.
    const silent = observed || state.pods.length === 0;
    const { write } = silent ? {} : planStatus(state, gang, judgement, false);
    const told = gangEvent(gang, 'Warning', 'NamespaceTooLarge', still.message);
    return { ...EMPTY_GANG_PLAN, status: write, events: [told], waiting, summary };
  }

  const references =
    faults === undefined
      ? referencesDue(gang, census, expected.counts, !observed && waitsFor === undefined)
      : undefined;
  const patient = waitsFor !== undefined && isPatient(state, waitsFor, faults);
  const status = references === undefined ? planStatus(state, gang, judgement, patient) : {};
  return {
    references,
    status: status.write,
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
      ...statusEvents(gang, status.write),
      ...ungateEvents(gang, gates.ungate),
    ],
    waiting,
    violations: gates.violations,
    summary,
    recheckAfterMs: status.recheckAfterMs,
  };
}

/** Whether what the gang waits for usually comes by itself, and at once. */
const isPatient = (state: GangState, hold: Hold, faults: string | undefined): boolean =>
  faults === undefined && (hold.reason === 'PodGangPodsCreationPending' || isOnItsWay(state, hold));

const isOnItsWay = ({ backend }: GangState, hold: Hold | undefined): boolean =>
  hold?.reason === 'WaitingForBackendObjects' && backend.objectsWait === undefined;

/** Why this gang is not ours to move; undefined where it is. */
function handsOff(state: GangState, gang: GangRecord): string | undefined {
  if (gang.deletionTimestamp !== undefined)
    return 'the PodGang is being deleted; gated Pods wait for a new one of its name';
  return state.notOurs?.message;
}

/** What the gang still lacks before it may be marked Initialized; undefined for nothing. */
function notInitializedBecause(
  { backend }: GangState,
  census: readonly GroupCensus[],
  expected: readonly number[],
): Hold | undefined {
  const pending = (message: string): Hold => ({ reason: 'PodGangPodsCreationPending', message });
  if (census.length === 0) return pending(NO_GROUPS);
  if (expected.every((count) => count === 0)) return pending('no group of the gang asks for a Pod');
  const missing = shortfall(
    census,
    (group) => group.present.length,
    (group) => expected[group.index] ?? 0,
  );
  const torn = mismatch(backend, census, (group) => expected[group.index] ?? 0);
  // Objects that are merely on their way are no news beside Pods that are missing.
  const isNews = missing === '' || !backend.ready || backend.objectsWait !== undefined;
  const held = isNews ? backendHold(backend) : undefined;
  const holds = [
    ...(missing === '' ? [] : [pending(`waiting for Pods: ${missing}`)]),
    ...(torn === undefined ? [] : [mismatchHold(torn)]),
    ...(missing !== '' || isFullyReferenced(census, expected)
      ? []
      : [pending('the references are being written')]),
    ...(held === undefined ? [] : [held]),
  ];
  const last = holds.at(-1);
  return last && { reason: last.reason, message: statusText(holds.map(({ message }) => message).join('; ')) };
}

/**
 * The write of references that comes next. Dead names go first of all; names that are merely missing wait where
 * the gang can be marked Initialized on those it has, so that a stream of late Pods cannot put that off.
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

function summaryOf(
  state: GangState,
  gang: GangRecord,
  census: readonly GroupCensus[],
  expected: readonly number[],
  phase: GangSummary['phase'],
  why: string,
): GangSummary {
  const gated = ({ members, misplaced }: GroupCensus): number =>
    members.filter(isGated).length + misplaced.filter(isGated).length;
  return {
    namespace: gang.namespace,
    name: gang.name,
    workload: workloadOf(gang),
    backend: state.backend.name,
    phase,
    initialized: isInitialized(gang),
    groups: census.map((group) => ({
      name: group.name,
      minReplicas: group.minReplicas,
      expected: expected[group.index] ?? 0,
      present: group.present.length,
      referenced: group.members.filter((pod) => group.referenced.has(pod.name)).length,
      bound: group.bound,
      ready: group.ready,
      gated: gated(group),
    })),
    gatesLeft: state.pods.filter((pod) => claims(state, pod) && isGated(pod)).length,
    why: statusText(why),
  };
}
