import { Registry, type Gauge } from 'prom-client';
import { DurationHistogram } from './backend-metrics.ts';
import { GangMetrics } from './gang-metrics.ts';
import { loopMetrics } from './loop-catalogue.ts';
import { counter, gauge, histogram } from './metric-catalogue.ts';

export type ReconcileOutcome = 'ok' | 'outdated' | 'error';

/** The state of the queues of a leading loop; times in milliseconds. */
export interface QueueState {
  readonly depth: number;
  readonly oldestMs: number;
  readonly longestRunningMs: number;
}

/** The looks that a controller may have under way, and has. */
export interface SlotState {
  readonly slots: number;
  readonly busySlots: number;
}

/** The calls of the loop's client that are in flight, and how many may be. */
export interface CallsState {
  readonly inFlight: number;
  readonly limit: number;
}

const IDLE: QueueState = { depth: 0, oldestMs: 0, longestRunningMs: 0 };

/**
 * Upper bounds in seconds. Judging a gang that needs nothing takes less than a millisecond, one with 1,000 patches
 * seconds.
 */
const LOOK_BOUNDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30];
const RELEASE_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Number of Pods remembered as counted: such Pods are rare, and forgetting the oldest only means counting it twice. */
const MAX_REMEMBERED = 10_000;

/** The metrics of the loop and of its client, on a separate registry: a program without a loop has none of them. */
export class LoopMetrics {
  readonly registry = new Registry();
  readonly gangs = new GangMetrics(this.registry);
  readonly #leading = gauge('muster_loop_leading', this.registry);
  readonly #depth = gauge('muster_loop_queue_depth', this.registry);
  readonly #oldest = gauge('muster_loop_queue_oldest_seconds', this.registry);
  readonly #longest = gauge('muster_loop_longest_running_seconds', this.registry);
  readonly #reconciles = counter('muster_loop_reconciles_total', this.registry);
  readonly #durations = histogram('muster_loop_reconcile_duration_seconds', LOOK_BOUNDS, this.registry);
  readonly #retries = counter('muster_loop_retries_total', this.registry);
  readonly #gates = counter('muster_loop_gates_removed_total', this.registry);
  readonly #initialized = counter('muster_loop_initialized_total', this.registry);
  readonly #releases = histogram('muster_loop_gang_release_seconds', RELEASE_BOUNDS, this.registry);
  readonly #unreleased = histogram('muster_loop_gang_unreleased_seconds', RELEASE_BOUNDS, this.registry);
  readonly #oldestUnreleased = gauge('muster_loop_oldest_unreleased_seconds', this.registry);
  readonly #slots = gauge('muster_loop_slots', this.registry);
  readonly #busySlots = gauge('muster_loop_busy_slots', this.registry);
  readonly #ungatedEarly = counter('muster_loop_ungated_early_total', this.registry);
  readonly #cached = gauge('muster_loop_cached_objects', this.registry);
  readonly #standing = gauge('muster_loop_namespaces_standing_still', this.registry);
  readonly #lists = counter('muster_loop_lists_total', this.registry);
  readonly #watchFailures = counter('muster_loop_watch_failures_total', this.registry);
  readonly #requests = counter('muster_kube_requests_total', this.registry);
  readonly #requestDurations = new DurationHistogram(
    'muster_kube_request_duration_seconds',
    loopMetrics.muster_kube_request_duration_seconds.help,
    loopMetrics.muster_kube_request_duration_seconds.labels,
    this.registry,
  );
  readonly #inFlight = gauge('muster_kube_requests_in_flight', this.registry);
  readonly #window = gauge('muster_kube_requests_window', this.registry);
  readonly #throttled = counter('muster_kube_throttled_seconds_total', this.registry);
  readonly #remembered = new Set<string>();
  #fleet: { readonly ready: () => boolean; readonly gauge: Gauge } | undefined;
  #queue: () => QueueState | undefined = () => undefined;
  #unreleasedMs: () => number = () => 0;
  #calls: CallsState = { inFlight: 0, limit: 0 };
  readonly #slotsOf = new Map<string, () => Iterable<SlotState>>();
  readonly #sizes: (() => Iterable<readonly [string, number]>)[] = [];
  readonly #still: (() => number)[] = [];

  constructor() {
    for (const result of ['ok', 'outdated', 'error'] satisfies ReconcileOutcome[]) {
      this.#reconciles.inc({ result }, 0);
      this.#durations.zero({ result });
    }
  }

  /** All metrics in the text format of Prometheus. */
  async expose(): Promise<string> {
    const { depth, oldestMs, longestRunningMs } = this.#queue() ?? IDLE;
    this.#depth.set(depth);
    this.#oldest.set(oldestMs / 1000);
    this.#longest.set(longestRunningMs / 1000);
    this.#oldestUnreleased.set(this.#unreleasedMs() / 1000);
    this.#inFlight.set(this.#calls.inFlight);
    this.#window.set(this.#calls.limit);
    for (const [controller, slotsOf] of this.#slotsOf) {
      const all = [...slotsOf()];
      this.#slots.set(
        { controller },
        all.reduce((sum, { slots }) => sum + slots, 0),
      );
      this.#busySlots.set(
        { controller },
        all.reduce((sum, { busySlots }) => sum + busySlots, 0),
      );
    }
    this.gangs.collect();
    for (const sizes of this.#sizes)
      for (const [resource, size] of sizes()) this.#cached.set({ resource }, size);
    this.#fleet?.gauge.set(this.#fleet.ready() ? 1 : 0);
    this.#standing.set(this.#still.reduce((sum, count) => sum + count(), 0));
    return this.registry.metrics();
  }

  /** @param queue called at every scrape; returns undefined when no loop leads */
  queueFrom(queue: () => QueueState | undefined): void {
    this.#queue = queue;
  }

  /** @param calls read at every scrape */
  callsFrom(calls: CallsState): void {
    this.#calls = calls;
  }

  /** @param slots called at every scrape: of each queue of the controller, none where no loop leads */
  slotsFrom(controller: string, slots: () => Iterable<SlotState>): void {
    this.#slotsOf.set(controller, slots);
  }

  /** @param oldestMs called at every scrape: how long the gang has waited that has been complete longest */
  unreleasedFrom(oldestMs: () => number): void {
    this.#unreleasedMs = oldestMs;
  }

  /** @param ready called at every scrape: whether the fleet's loop has started and its caches are listed */
  fleetFrom(ready: () => boolean): void {
    this.#fleet = { ready, gauge: gauge('muster_fleet_ready', this.registry) };
  }

  /** @param sizes called at every scrape in addition to earlier ones: the number of cached objects by kind */
  cachedFrom(sizes: () => Iterable<readonly [resource: string, count: number]>): void {
    this.#sizes.push(sizes);
  }

  /**
   * @param count called at every scrape in addition to earlier ones: the number of namespaces suspended for lack of
   *   memory
   */
  standingFrom(count: () => number): void {
    this.#still.push(count);
  }

  leads(leads: boolean): void {
    this.#leading.set(leads ? 1 : 0);
  }

  reconciled(result: ReconcileOutcome, seconds: number): void {
    this.#reconciles.inc({ result });
    this.#durations.observe({ result }, seconds);
  }

  retried(): void {
    this.#retries.inc();
  }

  gateRemoved(): void {
    this.#gates.inc();
  }

  initialized(): void {
    this.#initialized.inc();
  }

  /** @param how whether a complete gang's last gate is off, or the gang stopped being complete before */
  gangWaited(how: 'released' | 'unreleased', seconds: number): void {
    (how === 'released' ? this.#releases : this.#unreleased).observe(seconds);
  }

  /** Counts a Pod once, however often it is found. */
  ungatedEarly(uid: string): void {
    if (this.#remembered.has(uid)) return;
    const [oldest] = this.#remembered;
    if (oldest !== undefined && this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(oldest);
    this.#remembered.add(uid);
    this.#ungatedEarly.inc();
  }

  /** Creates the series of a watched kind, starting at 0. */
  watches(resource: string): void {
    this.#lists.inc({ resource }, 0);
    this.#watchFailures.inc({ resource }, 0);
  }

  listed(resource: string): void {
    this.#lists.inc({ resource });
  }

  watchFailed(resource: string): void {
    this.#watchFailures.inc({ resource });
  }

  /**
   * @param word the first word of the client's messages
   * @param ms how long the answer took; undefined for a watch
   */
  requested(word: string, code: number | undefined, ms?: number): void {
    const verb = word === 'replace' ? 'update' : word;
    this.#requests.inc({ verb, code: code === undefined ? 'none' : String(code) });
    if (ms !== undefined) this.#requestDurations.observe([verb], ms / 1000);
  }

  throttled(ms: number): void {
    this.#throttled.inc(ms / 1000);
  }
}
