import { ANNOTATION_PREEMPTION_PLAN } from '../../api/names.ts';
import type { BackendRegistry } from '../../backends/registry.ts';
import { isGroveManaged, type GangSelectors } from '../../gang/gang-selection.ts';
import type { GangRecord } from '../../gang/records.ts';
import type { KubeClient, PodToEvict } from '../../kube/client/client.ts';
import type { Clock } from '../../kube/client/clock.ts';
import { splitKey } from '../../kube/loop/cache.ts';
import { unlessAborted } from '../../kube/loop/deadline.ts';
import type { Reconcile, ReconcileResult } from '../../kube/loop/keyed-controller.ts';
import type { Refusal } from '../../preemption/refusal.ts';
import type { AttemptResult } from '../../telemetry/preemption-metrics.ts';
import { backendOf, BY_GANG, type GangView } from '../watch/gang-view.ts';
import type { PreemptionSettings } from '../watch/shared.ts';
import { evictorOf, type Evictor } from './evictor.ts';
import { readPlan } from '../../preemption/in-flight.ts';
import { readGangWithPods, readGangSnapshot } from './read-cluster.ts';
import { makeRoom, type AttemptOutcome, type RoomObserver, type PlanRate } from './make-room.ts';
import type { Planner } from './planner.ts';
import { waitsForRoom } from './waits-for-room.ts';
import type { GangKind } from '../../workloads/kind.ts';

/** Interval (ms) between checks whether a victim is gone. */
const LEAVING_MS = 1_000;
/**
 * After an attempt, no attempt begins for this many times the duration of its reads and planning, so attempts take at
 * most a tenth of the time however many unschedulable gangs a tenant creates. Plans that this process began are
 * continued during the pause; plans that it found in a gang wait only for others of their namespace.
 */
const REST = 9;
/** The longest wait (ms) between attempts for a gang that nothing helps: any change in the cluster could help it. */
const LONGEST_MS = 5 * 60_000;
/** The longest wait (ms) after attempts that failed, for example for want of a right. */
const LONGEST_AFTER_FAILURE_MS = 10_000;

export interface RoomOptions {
  readonly client: KubeClient;
  readonly view: GangView;
  readonly registry: BackendRegistry;
  readonly selectors: GangSelectors;
  readonly settings: PreemptionSettings;
  /** Kinds of workload whose Pods may ask for a gang; absent: the built-in kinds. */
  readonly gangKinds?: readonly GangKind[] | undefined;
  readonly rate: PlanRate;
  readonly planner: () => Planner;
  readonly now: () => Date;
  readonly clock: Clock;
  readonly observer: Omit<RoomObserver, 'planned'> & {
    attempted(gang: GangRecord, result: AttemptResult, refusal: Refusal | undefined): void;
    planned(seconds: number): void;
  };
}

/** What is remembered of an unschedulable gang. A new leader starts without it, so the gang waits its delay once more. */
interface Waiting {
  /** When the next attempt is due (ms of the clock). */
  due: number;
  /** Number of attempts in a row without success. */
  futile: number;
  /** Number of attempts in a row that failed with an error. */
  failed: number;
  /** Victims that are being deleted. */
  leaving: readonly PodToEvict[];
  /** The gang's plan, if this process wrote it. */
  plan: string | undefined;
}

/** Reconciles one gang at a time, so that no two plans count on the same capacity. */
export function roomReconciler(options: RoomOptions): Reconcile {
  const { view, settings, clock, client } = options;
  const waiting = new Map<string, Waiting>();
  let turn: Promise<unknown> = Promise.resolve();
  let restUntil = -Infinity;
  /** Like `restUntil`, for plans that were found in gangs, by namespace. */
  const foundUntil = new Map<string, number>();

  const attempt = async (
    gang: GangRecord,
    schedulerName: string,
    evictor: Evictor,
    signal: AbortSignal,
  ): Promise<AttemptOutcome | undefined> => {
    const { observer, rate, now } = options;
    const began = clock.now();
    const planner = options.planner();
    let thoughtMs: number | undefined;
    let done: AttemptOutcome;
    try {
      const { gangKinds } = options;
      const look = await readGangSnapshot(
        gang,
        client,
        signal,
        (objects) => planner.take(objects),
        gangKinds,
      );
      if (look?.gang.uid !== gang.uid) return undefined;
      done = await makeRoom(look, {
        ...settings,
        evictor,
        rate,
        victimsPerPlan: settings.limits.victimsPerPlan,
        schedulerName,
        again: () => readGangWithPods(gang, client, signal, gangKinds),
        now,
        consider: (question) => unlessAborted(signal, planner.consider(question)),
        observer: {
          ...observer,
          planned: () => {
            thoughtMs = clock.now() - began;
            observer.planned(thoughtMs / 1000);
          },
        },
      });
    } finally {
      restUntil = clock.now() + REST * (thoughtMs ?? clock.now() - began);
      await planner.end();
    }
    observer.attempted(gang, done.result, done.refusal);
    return done;
  };

  /** The gang of a key when it has a plan or waits for capacity; undefined when preemption has nothing to do for it. */
  const candidateOf = (key: string) => {
    const { namespace, name } = splitKey(key);
    const gang = view.gangs.get(namespace, name);
    const schedulerName = gang && schedulerFor(gang, options);
    if (gang === undefined || schedulerName === undefined || view.standstill?.(namespace) !== undefined)
      return undefined;
    const text = gang.annotations.get(ANNOTATION_PREEMPTION_PLAN);
    const planned = readPlan(text, gang.uid) !== undefined;
    const wants = planned || waitsForRoom(gang, view.pods.byIndex(BY_GANG, key), schedulerName);
    return wants ? { gang, schedulerName, text, planned } : undefined;
  };

  const one = async (key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> => {
    const candidate = candidateOf(key);
    if (candidate === undefined) {
      waiting.delete(key);
      return undefined;
    }
    const { gang, schedulerName, text, planned } = candidate;
    const { namespace } = gang;
    const now = clock.now();
    const known = waiting.get(key) ?? {
      due: now + (planned ? 0 : settings.afterMs),
      futile: 0,
      failed: 0,
      leaving: [],
      plan: undefined,
    };
    waiting.set(key, known);
    const found = planned && text !== known.plan;
    const rest = planned ? (found && foundUntil.get(namespace)) || -Infinity : restUntil;
    const from = Math.max(known.due, rest);
    if (from > now) return { requeueAfterMs: from - now };

    const evictor = evictorOf(client, signal, settings.overridePodDisruptionBudgets);
    known.leaving = await stillThere(known.leaving, evictor);
    if (known.leaving.length > 0) return again(known, LEAVING_MS, clock);
    for (const [other, until] of foundUntil) if (until <= now) foundUntil.delete(other);
    const done = await attempt(gang, schedulerName, evictor, signal).catch((error: unknown) => {
      // The pause above is a success for the queue, which forgets failures then.
      known.due = clock.now() + Math.min(LEAVING_MS * 2 ** known.failed, LONGEST_AFTER_FAILURE_MS);
      known.failed += 1;
      throw error;
    });
    known.failed = 0;
    if (found) foundUntil.set(namespace, restUntil);
    if (done === undefined) return again(known, settings.afterMs, clock);
    known.plan = done.plan ?? known.plan;
    known.leaving = done.leaving;
    if (done.leaving.length > 0) return again(known, LEAVING_MS, clock);
    // A gang that fits but is not placed has a scheduler that knows more than the plan.
    known.futile = done.pending ? 0 : known.futile + 1;
    const wait = settings.afterMs * 2 ** Math.max(0, known.futile - 1);
    return again(known, Math.min(wait, Math.max(LONGEST_MS, settings.afterMs)), clock);
  };
  return (key, signal) => {
    const mine = turn.then(() => one(key, signal));
    turn = mine.catch(() => undefined);
    return mine;
  };
}

const again = (known: Waiting, ms: number, clock: Clock): ReconcileResult => {
  known.due = clock.now() + ms;
  return { requeueAfterMs: ms };
};

/** The remaining victims from the first one that still exists; victims before it are gone for good. */
async function stillThere(leaving: readonly PodToEvict[], evictor: Evictor): Promise<readonly PodToEvict[]> {
  for (const [index, pod] of leaving.entries()) if (await evictor.isThere(pod)) return leaving.slice(index);
  return [];
}

/**
 * The scheduler of a gang that Muster preempts for; undefined when its scheduler preempts itself or Muster does not
 * serve the gang.
 */
function schedulerFor(
  gang: GangRecord,
  { view, registry, selectors, settings }: RoomOptions,
): string | undefined {
  if (isGroveManaged(gang)) return undefined;
  const backend = backendOf(gang, { view, registry, selectors });
  if (backend?.preemptsGangs?.() !== false) return undefined;
  if (registry.readiness(backend.name).state !== 'ready') return undefined;
  const { profiles } = settings;
  return profiles.length === 0 || profiles.includes(backend.name) ? backend.schedulerName : undefined;
}
