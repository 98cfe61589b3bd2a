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

/** Between two looks whether a victim is gone (ms). */
const LEAVING_MS = 1_000;
/**
 * After an attempt, none begins for this many times as long as it took to read and plan. So attempts take a tenth of the time
 * at most, however many gangs without room a tenant makes. Plans that this process has begun go on during that pause; plans
 * that it found in a gang wait only for others of their namespace.
 */
const REST = 9;
/** The longest wait between two looks at a gang that nothing helps (ms): what could change that may be anywhere. */
const LONGEST_MS = 5 * 60_000;

export interface RoomOptions {
  readonly client: KubeClient;
  readonly view: GangView;
  readonly registry: BackendRegistry;
  readonly selectors: GangSelectors;
  readonly settings: PreemptionSettings;
  /** Workloads whose Pods may ask for a gang; absent: those that Muster knows. */
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

/** What is remembered of a gang that has no room. A new leader begins without, and waits once more. */
interface Waiting {
  /** Since when, and from when on it is looked at (ms of the clock). */
  due: number;
  /** How often nothing could be done for it. */
  futile: number;
  /** Victims that are on their way out. */
  leaving: readonly PodToEvict[];
  /** Its plan, as this process wrote it. */
  plan: string | undefined;
}

/** Of all gangs one at a time, so that no two plans count on the same room. */
export function roomReconciler(options: RoomOptions): Reconcile {
  const { view, settings, clock, client } = options;
  const waiting = new Map<string, Waiting>();
  let turn: Promise<unknown> = Promise.resolve();
  let restUntil = -Infinity;
  /** The same, of plans that were found, by namespace. */
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

  /** The gang of a key, where it has a plan or waits for room; undefined where nothing is to be done for it. */
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
    const done = await attempt(gang, schedulerName, evictor, signal);
    if (found) foundUntil.set(namespace, restUntil);
    if (done === undefined) return again(known, settings.afterMs, clock);
    known.plan = done.plan ?? known.plan;
    known.leaving = done.leaving;
    if (done.leaving.length > 0) return again(known, LEAVING_MS, clock);
    // One that fits and is not placed either has a scheduler that knows better.
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

/** From the first on that is still there: those before it are gone for good. */
async function stillThere(leaving: readonly PodToEvict[], evictor: Evictor): Promise<readonly PodToEvict[]> {
  for (const [index, pod] of leaving.entries()) if (await evictor.isThere(pod)) return leaving.slice(index);
  return [];
}

/** The scheduler of a gang that room may be made for; undefined where its scheduler does it, or it is not Muster's to do. */
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
