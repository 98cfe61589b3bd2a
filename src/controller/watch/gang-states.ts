import type { Condition } from '../../api/pod-gang.ts';
import { CONDITION_READY, CONDITION_SCHEDULED } from '../../gang/plan/conditions.ts';
import { initializedOf } from '../../gang/rules/initialized.ts';
import type { GangRecord } from '../../gang/records.ts';
import { parseKubeTime } from '../../k8s/time.ts';
import type { ObjectChange } from '../../kube/loop/cache.ts';
import {
  WAIT_REASONS,
  type GangCounts,
  type GangStateName,
  type WaitReason,
} from '../../telemetry/gang-metrics.ts';
import type { GangView } from './gang-view.ts';

/** The state of a gang, and since when (milliseconds since 1970) where it waits or is not scheduled. */
interface Standing {
  readonly state: GangStateName;
  readonly reason?: WaitReason;
  readonly since?: number;
}

/** Counts gangs by state at each event, so that a scrape does not go through all of them. */
export class GangStates {
  readonly #view: Pick<GangView, 'gangs' | 'standstill'>;
  readonly #now: () => number;
  readonly #counts = new Map<GangStateName, number>();
  /** The gangs with a `since`, by uid. */
  readonly #waiting = new Map<string, Standing & { readonly since: number }>();

  /** @param now milliseconds since 1970 */
  constructor(view: Pick<GangView, 'gangs' | 'standstill'>, now: () => number) {
    this.#view = view;
    this.#now = now;
  }

  changed({ old, new: now }: ObjectChange<GangRecord>): void {
    if (old !== undefined) this.#add(standingOf(old).state, -1);
    const standing = now && standingOf(now);
    if (standing !== undefined) this.#add(standing.state, 1);
    const { uid } = now ?? old;
    const { since } = standing ?? {};
    if (standing !== undefined && since !== undefined) this.#waiting.set(uid, { ...standing, since });
    else this.#waiting.delete(uid);
  }

  numbers(): GangCounts {
    const now = this.#now();
    const waiting = new Map<WaitReason, { count: number; oldestMs: number }>();
    let oldestUnscheduledMs = 0;
    for (const { reason, since } of this.#waiting.values()) {
      const ms = Math.max(0, now - since);
      if (reason === undefined) {
        oldestUnscheduledMs = Math.max(oldestUnscheduledMs, ms);
        continue;
      }
      const known = waiting.getOrInsertComputed(reason, () => ({ count: 0, oldestMs: 0 }));
      known.count += 1;
      known.oldestMs = Math.max(known.oldestMs, ms);
    }
    return { states: this.#counts, waiting, oldestUnscheduledMs, standingStill: this.#standingStill() };
  }

  #add(state: GangStateName, by: number): void {
    this.#counts.set(state, (this.#counts.get(state) ?? 0) + by);
  }

  #standingStill(): number {
    const { gangs, standstill } = this.#view;
    if (standstill === undefined) return 0;
    const stands = new Map<string, boolean>();
    let count = 0;
    for (const { namespace } of gangs.values()) {
      if (stands.getOrInsertComputed(namespace, () => standstill(namespace) !== undefined)) count += 1;
    }
    return count;
  }
}

const conditionOf = ({ conditions }: GangRecord, type: string): Condition | undefined =>
  conditions.find((condition) => condition.type === type);

function standingOf(gang: GangRecord): Standing {
  if (gang.deletionTimestamp !== undefined) return { state: 'deleting' };
  if (gang.phase === 'Succeeded' || gang.phase === 'Failed') return { state: 'ended' };
  const initialized = initializedOf(gang);
  if (initialized?.status !== 'True') {
    const reason = waitReason(initialized?.reason) ?? 'other';
    return { state: 'waiting', reason, since: timeOf(gang.creationTimestamp) };
  }
  const scheduled = conditionOf(gang, CONDITION_SCHEDULED);
  // Beside another operator, nobody may write this condition.
  if (scheduled === undefined) return { state: 'released' };
  if (scheduled.status === 'True') {
    return { state: conditionOf(gang, CONDITION_READY)?.status === 'True' ? 'ready' : 'scheduled' };
  }
  const reason = waitReason(scheduled.reason);
  const since = timeOf(scheduled.lastTransitionTime);
  if (reason !== undefined) return { state: 'waiting', reason, since };
  return { state: 'released', since: Math.max(since, timeOf(initialized.lastTransitionTime)) };
}

const waitReason = (reason: string | undefined): WaitReason | undefined =>
  WAIT_REASONS.find((known) => known === reason);

/** Milliseconds since 1970; Infinity, which is no age, where there is no valid time. */
const timeOf = (text: string | undefined): number => parseKubeTime(text) ?? Infinity;
