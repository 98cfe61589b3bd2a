import type { GangRecord, GangState } from '../records.ts';
import { isInitialized } from '../rules/initialized.ts';
import { stoppedBy } from '../rules/rule-lists.ts';
import { statusText } from '../../text/printable.ts';
import { NO_GROUPS, shortfall, type GroupCensus } from './census.ts';
import type { Hold } from './conditions.ts';
import { generationHold } from './generation.ts';
import { backendHold, memoryHold, mismatchHold, schedulerMismatch, specHold } from './holds.ts';
import { isFullyReferenced } from './plan-references.ts';

/** Why a gang, or some of its Pods, cannot proceed. */
export interface GangHolds {
  /** Why Muster does not write to the gang; undefined where it does. */
  readonly untouched: string | undefined;
  /** Faults of the stored spec. */
  readonly faults: string | undefined;
  /** Set where the gang's namespace exceeds the memory, so that not all Pods of the gang are known. */
  readonly memory: Hold | undefined;
  /** Set where the gang is short of Pods because some are prepared for another scheduler. */
  readonly mismatch: string | undefined;
  /** Why the gang is not Initialized; undefined where it is, or this plan makes it Initialized. */
  readonly waitsFor: Hold | undefined;
  /** Why Pods of an Initialized gang are held. */
  readonly hold: Hold | undefined;
  /** The part of {@link hold} that the status reports. */
  readonly told: Hold | undefined;
}

/**
 * Collects what holds a gang.
 *
 * 1. A gang that another operator manages, or that is being deleted, is not written to.
 * 2. A gang is held while its namespace is not wholly known, its backend is not ready, or Pods of it are prepared for
 *    another scheduler. That also holds once the gang is Initialized: a Pod released before its scheduler knows of a change
 *    would be scheduled by the old state, and a Pod released beside Pods of another scheduler would start without them.
 * 3. Gated Pods of an Initialized gang wait until their generation is complete. Another operator that removes the gates
 *    knows no generations, so its gangs are not held by this.
 * 4. A gang that is not Initialized also waits for a valid spec, its Pods and their references.
 * 5. The status does not report scheduler objects that are just being created: they exist in a moment, or the backend says
 *    why not. That saves two writes.
 */
export function holdsOf(
  state: GangState,
  gang: GangRecord,
  census: readonly GroupCensus[],
  expected: readonly number[],
): GangHolds {
  const initialized = isInitialized(gang);
  const untouched = untouchedBecause(state, gang);
  const faults = stoppedBy(gang);
  const memory = memoryHold(state);
  const mismatch = schedulerMismatch(state.backend, census, (group) => group.minReplicas);
  const mismatched = mismatch === undefined ? undefined : mismatchHold(mismatch);
  const next =
    initialized && untouched === undefined ? generationHold(state, gang, census, expected) : undefined;
  const hold = memory ?? backendHold(state.backend) ?? mismatched ?? next;
  const waitsFor = initialized
    ? undefined
    : (memory ?? specHold(faults) ?? notInitializedBecause(state, census, expected));
  const told = isOnItsWay(state, hold) ? (mismatched ?? next) : hold;
  return { untouched, faults, memory, mismatch, waitsFor, hold, told };
}

/** Why no gate of the gang may be removed at all; undefined where each Pod is judged by itself. */
export function gateHold(gang: GangRecord, { untouched, hold, waitsFor }: GangHolds): string | undefined {
  if (untouched !== undefined) return untouched;
  return isInitialized(gang) ? hold?.message : (waitsFor?.message ?? 'the gang is being marked Initialized');
}

/** Whether the gang only waits for Pods or scheduler objects that are usually created at once. */
export const isPatient = (state: GangState, { waitsFor, faults }: GangHolds): boolean =>
  waitsFor !== undefined &&
  faults === undefined &&
  (waitsFor.reason === 'PodGangPodsCreationPending' || isOnItsWay(state, waitsFor));

const isOnItsWay = ({ backend }: GangState, hold: Hold | undefined): boolean =>
  hold?.reason === 'WaitingForBackendObjects' && backend.objectsWait === undefined;

function untouchedBecause(state: GangState, gang: GangRecord): string | undefined {
  if (gang.deletionTimestamp !== undefined)
    return 'the PodGang is being deleted; gated Pods wait for a new one of its name';
  return state.notOurs?.message;
}

/** What the gang lacks before it may be marked Initialized; undefined where it lacks nothing. */
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
  const mismatch = schedulerMismatch(backend, census, (group) => expected[group.index] ?? 0);
  // Scheduler objects that are just being created are not worth reporting while Pods are missing.
  const isNews = missing === '' || !backend.ready || backend.objectsWait !== undefined;
  const held = isNews ? backendHold(backend) : undefined;
  const holds = [
    ...(missing === '' ? [] : [pending(`waiting for Pods: ${missing}`)]),
    ...(mismatch === undefined ? [] : [mismatchHold(mismatch)]),
    ...(missing !== '' || isFullyReferenced(census, expected)
      ? []
      : [pending('the references are being written')]),
    ...(held === undefined ? [] : [held]),
  ];
  const last = holds.at(-1);
  return last && { reason: last.reason, message: statusText(holds.map(({ message }) => message).join('; ')) };
}
