import type { Registry } from 'prom-client';
import { gauge } from './metric-catalogue.ts';

/** Values of the label `state` of `muster_gangs`. */
export const GANG_STATES = ['waiting', 'released', 'scheduled', 'ready', 'ended', 'deleting'] as const;
export type GangStateName = (typeof GANG_STATES)[number];

/** Values of the label `reason`: reasons of the conditions Initialized and Scheduled with which Muster holds a gang. */
export const WAIT_REASONS = [
  'PodGangPodsCreationPending',
  'BackendNotReady',
  'WaitingForBackendObjects',
  'SchedulerMismatch',
  'NamespaceTooLarge',
  'WaitingForBaseGang',
  'NextGenerationForming',
  'other',
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** All gangs at one moment; times in milliseconds, 0 where there is no such gang. */
export interface GangCounts {
  readonly states: ReadonlyMap<GangStateName, number>;
  readonly waiting: ReadonlyMap<WaitReason, { readonly count: number; readonly oldestMs: number }>;
  readonly oldestUnscheduledMs: number;
  readonly standingStill: number;
}

/** What the schedulers do, by the name of the enabled backend. */
export interface SchedulerNumbers {
  readonly oldestUnseenMs: number;
  /** Milliseconds since 1970; 0 where no Pod has been bound. */
  readonly lastBoundAt: number;
}

const NO_GANGS: GangCounts = {
  states: new Map(),
  waiting: new Map(),
  oldestUnscheduledMs: 0,
  standingStill: 0,
};

/** The metrics of gangs and schedulers, whose numbers are read at each scrape. */
export class GangMetrics {
  /** Reads the gangs; none before a loop has begun. */
  gangs: () => GangCounts = () => NO_GANGS;
  /** Reads the activity of the scheduler of each enabled backend. */
  schedulers: () => Iterable<readonly [backend: string, SchedulerNumbers]> = () => [];
  readonly #states;
  readonly #waiting;
  readonly #oldestWaiting;
  readonly #unscheduled;
  readonly #standing;
  readonly #unseen;
  readonly #bound;

  constructor(registry: Registry) {
    this.#states = gauge('muster_gangs', registry);
    this.#waiting = gauge('muster_gangs_waiting', registry);
    this.#oldestWaiting = gauge('muster_gang_oldest_waiting_seconds', registry);
    this.#unscheduled = gauge('muster_gang_oldest_unscheduled_seconds', registry);
    this.#standing = gauge('muster_gangs_standing_still', registry);
    this.#unseen = gauge('muster_scheduler_oldest_unseen_seconds', registry);
    this.#bound = gauge('muster_scheduler_last_bound_timestamp_seconds', registry);
  }

  collect(): void {
    const { states, waiting, oldestUnscheduledMs, standingStill } = this.gangs();
    for (const state of GANG_STATES) this.#states.set({ state }, states.get(state) ?? 0);
    for (const reason of WAIT_REASONS) {
      const { count = 0, oldestMs = 0 } = waiting.get(reason) ?? {};
      this.#waiting.set({ reason }, count);
      this.#oldestWaiting.set({ reason }, oldestMs / 1000);
    }
    this.#unscheduled.set(oldestUnscheduledMs / 1000);
    this.#standing.set(standingStill);
    for (const [backend_name, { oldestUnseenMs, lastBoundAt }] of this.schedulers()) {
      this.#unseen.set({ backend_name }, oldestUnseenMs / 1000);
      this.#bound.set({ backend_name }, lastBoundAt / 1000);
    }
  }
}
