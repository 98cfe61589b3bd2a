import { workloadTitle } from '../../api/pod-origin.ts';
import { quoted, listed, statusText } from '../../text/printable.ts';
import { isOfWorkload, workloadOf } from '../gang-workload.ts';
import type { GangRecord, GangState, PodRecord } from '../records.ts';
import { isGated, isLive, type GroupCensus } from './census.ts';
import { EMPTY_GANG_PLAN, type GangPlan, type PlannedEvent, type Waiting } from './gang-plan.ts';
import { podEvent } from './plan-events.ts';

/** Milliseconds that a Pod may wait for its PodGang before an Event reports it. */
const ORPHAN_GRACE_MS = 5_000;

/** Pods that name this gang and a group that the gang does not have. */
export function planUngrouped(
  state: GangState,
  gang: GangRecord,
  census: readonly GroupCensus[],
): { waiting: Waiting[]; events: PlannedEvent[] } {
  const known = new Set(census.map((group) => group.name));
  const pods = state.pods.filter(
    (pod) =>
      claims(state, pod) && !(pod.group !== '' && known.has(pod.group) && isOfWorkload(gang, pod.origin)),
  );
  const groups = known.size === 0 ? 'none at all' : `only ${listed([...known], 'groups')}`;
  const reasonOf = (pod: PodRecord): string => {
    if (!isOfWorkload(gang, pod.origin)) return notOfWorkload(gang, pod);
    const what =
      pod.group === ''
        ? 'the Pod names no group'
        : `PodGang ${state.name} has no group ${quoted(pod.group)}, ${groups}`;
    return `${what}: correct the label grove.io/podclique where the Pod comes from, and delete the Pod`;
  };
  return {
    waiting: pods.filter(isGated).map((pod) => gatedBecause(pod, reasonOf(pod))),
    events: pods.map((pod) => podEvent(pod, 'UnknownGroup', reasonOf(pod))),
  };
}

function notOfWorkload(gang: GangRecord, { origin }: PodRecord): string {
  const made = `PodGang ${gang.name} was made for ${workloadOf(gang) ?? ''}`;
  return origin === undefined
    ? `${made}, and this Pod is not of it: take the label grove.io/podgang off where the Pod comes from, and delete the Pod`
    : `${made} as it was before: the Pod waits for a new one`;
}

/** Plans for Pods whose PodGang does not exist: they stay gated, since the gang may still be created. */
export function planWithoutGang(state: GangState): GangPlan {
  const pods = state.pods.filter((pod) => claims(state, pod) && isGated(pod));
  const reasonOf = ({ origin }: PodRecord): string => {
    if (origin === undefined) return `PodGang ${state.name} does not exist: create it, or delete the Pod`;
    if (origin.kind !== '')
      return `Muster makes PodGang ${state.name} from ${workloadTitle(origin)} once it has read that`;
    const { apiVersion, kind, name } = origin.controller;
    return `PodGang ${state.name} does not exist, and of ${apiVersion} ${kind} ${name} Muster makes none: tell of the kind in workloads[] of the configuration, or delete the Pod`;
  };
  const untouched = state.notOurs?.message ?? state.memoryExceeded;
  const waiting = pods.map((pod) => gatedBecause(pod, untouched ?? reasonOf(pod)));
  if (untouched !== undefined) return { ...EMPTY_GANG_PLAN, waiting };
  const born = (pod: PodRecord): number => Date.parse(pod.creationTimestamp ?? '') || 0;
  const left = (pod: PodRecord): number => Math.min(ORPHAN_GRACE_MS, born(pod) + ORPHAN_GRACE_MS - state.now);
  const young = pods.map(left).filter((ms) => ms > 0);
  return {
    ...EMPTY_GANG_PLAN,
    waiting,
    events: pods.filter((pod) => left(pod) <= 0).map((pod) => podEvent(pod, 'UnknownGang', reasonOf(pod))),
    recheckAfterMs: young.length === 0 ? undefined : young.reduce((a, b) => Math.min(a, b)),
  };
}

/** Whether a live Pod names this gang in its label. */
export const claims = (state: GangState, pod: PodRecord): boolean =>
  isLive(pod) && pod.namespace === state.namespace && pod.gang === state.name;

const gatedBecause = (pod: PodRecord, reason: string): Waiting => ({
  pod: pod.name,
  group: pod.group,
  state: 'gated',
  reason: statusText(reason),
});
