import type { PodRecord } from '../../gang/records.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import type { ObjectChange } from '../../kube/loop/cache.ts';
import type { SchedulerNumbers } from '../../telemetry/gang-metrics.ts';

/** The reason of PodScheduled that the API server itself writes when it creates a gated Pod. */
const GATED = 'SchedulingGated';

interface Activity {
  /** When Pods were first seen that the scheduler has to look at and has not, by uid, the oldest first. */
  readonly unseen: Map<string, number>;
  lastBoundAt: number;
}

/**
 * Whether the schedulers of gangs' Pods do anything, as the Pods show it. Muster may not read the Leases of schedulers, and
 * some have none.
 */
export class SchedulerActivity {
  readonly #registry: Pick<BackendRegistry, 'enabled' | 'resolve'>;
  readonly #now: () => number;
  readonly #activities = new Map<string, Activity>();

  /** @param now milliseconds since 1970 */
  constructor(registry: Pick<BackendRegistry, 'enabled' | 'resolve'>, now: () => number) {
    this.#registry = registry;
    this.#now = now;
    for (const backend of registry.enabled) {
      this.#activities.set(backend, { unseen: new Map(), lastBoundAt: 0 });
    }
  }

  changed({ old, new: now }: ObjectChange<PodRecord>): void {
    // Most events are of Pods that run.
    if (old?.nodeName && now?.nodeName) return;
    const activity = this.#of(now ?? old);
    if (activity === undefined) return;
    if (now !== undefined && isUnseen(now)) {
      if (!activity.unseen.has(now.uid)) activity.unseen.set(now.uid, this.#now());
      return;
    }
    activity.unseen.delete((now ?? old).uid);
    if (now?.nodeName && old !== undefined) activity.lastBoundAt = this.#now();
  }

  *numbers(): Generator<readonly [backend: string, SchedulerNumbers], void> {
    const now = this.#now();
    for (const [backend, { unseen, lastBoundAt }] of this.#activities) {
      const [oldest = now] = unseen.values();
      yield [backend, { oldestUnseenMs: Math.max(0, now - oldest), lastBoundAt }];
    }
  }

  #of({ schedulerName }: PodRecord): Activity | undefined {
    const backend = schedulerName && this.#registry.resolve(schedulerName)?.backend.name;
    return backend ? this.#activities.get(backend) : undefined;
  }
}

/** Whether the scheduler has to look at the Pod, and shows no sign of having done so. */
const isUnseen = ({
  gates,
  nodeName,
  phase,
  deletionTimestamp,
  podScheduled,
}: Pick<PodRecord, 'gates' | 'nodeName' | 'phase' | 'deletionTimestamp' | 'podScheduled'>): boolean =>
  gates.length === 0 &&
  nodeName === '' &&
  phase === 'Pending' &&
  deletionTimestamp === undefined &&
  (podScheduled === undefined || podScheduled.reason === GATED);
