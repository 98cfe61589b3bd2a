import { ANNOTATION_PREEMPTION_PLAN } from '../../api/names.ts';
import type { GangRecord } from '../../gang/records.ts';
import type { PreemptionStep } from '../../preemption/preemption-state-machine.ts';
import { readPlan, writePlan, type InFlight, type Victim } from '../../preemption/in-flight.ts';
import { refusalText, type Refusal } from '../../preemption/refusal.ts';
import type { AttemptResult } from '../../telemetry/preemption-metrics.ts';
import type { PodToEvict } from '../../kube/client/client.ts';
import type { Considered, PlanQuestion } from './consider.ts';
import type { Evicted, Evictor } from './evictor.ts';
import type { GangSnapshot } from './read-cluster.ts';
import type { GangWithPods } from './waits-for-room.ts';
import { whyStopped, waitsForRoom } from './waits-for-room.ts';

/** A plan that is not finished after this time (ms) evicts no further units, and a new plan may be made. */
const LATE_MS = 10 * 60_000;

export interface MakeRoomOptions {
  readonly evictor: Evictor;
  /** Reads the gang and its Pods again; returns undefined when the gang is gone. */
  readonly again: () => Promise<GangWithPods | undefined>;
  /** Makes or continues a plan on the snapshot of the cluster that was read for this attempt. */
  readonly consider: (question: PlanQuestion) => Promise<Considered>;
  readonly exemptNamespaces: readonly string[];
  readonly overridePodDisruptionBudgets: boolean;
  readonly rate: PlanRate;
  readonly victimsPerPlan: number;
  /** The `schedulerName` of the gang's Pods. */
  readonly schedulerName: string;
  readonly now: () => Date;
  readonly observer: RoomObserver;
}

/** Reports the progress of preemption to log, metrics and Events. */
export interface RoomObserver {
  /** Called when the cluster was read and the next step is known. */
  planned(): void;
  begun(gang: GangRecord, step: Pick<PreemptionStep, 'evict' | 'why'>): void;
  /** Called when the plan is finished or given up. */
  ended(gang: GangRecord, why: string): void;
  evicted(pod: PodToEvict, gang: GangRecord, priority: number): void;
}

/** The result of one attempt to preempt for a gang. */
export interface AttemptOutcome {
  readonly result: AttemptResult;
  /** The reason, for cluster administrators. */
  readonly why: string;
  /** Why Muster does not preempt for the gang; shown to the gang's owner as well. */
  readonly refusal?: Refusal;
  /** Victims that are being deleted: no new attempt is needed while one of them exists. */
  readonly leaving: readonly PodToEvict[];
  /** Whether the gang has a plan that is not finished. */
  readonly pending: boolean;
  /** That plan, if this attempt wrote it. */
  readonly plan?: string;
}

const outcome = (result: AttemptResult, why: string, more: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  result,
  why,
  leaving: [],
  pending: false,
  ...more,
});

const refused = (
  result: 'blocked' | 'impossible',
  refusal: Refusal,
  more: Partial<AttemptOutcome> = {},
): AttemptOutcome => outcome(result, refusalText(refusal, 'operator'), { ...more, refusal });

/**
 * Makes one attempt: takes the next step for a gang. The plan is written into the gang before its first victim is
 * evicted, so that a new leader continues it after a crash, and only one of two concurrent leaders can begin a plan.
 */
export async function makeRoom(look: GangSnapshot, options: MakeRoomOptions): Promise<AttemptOutcome> {
  const { gang, pods, whole } = look;
  const { evictor, now, observer, schedulerName } = options;
  const { exemptNamespaces, overridePodDisruptionBudgets } = options;
  const text = gang.annotations.get(ANNOTATION_PREEMPTION_PLAN);
  const plan = readPlan(text, gang.uid);
  const waits = waitsForRoom(gang, pods, schedulerName);
  if (plan === undefined && !waits) return outcome('fits', 'it does not wait for room any more');
  const late = plan !== undefined && now().getTime() - plan.at > LATE_MS;
  const restraint = { exemptNamespaces, overridePodDisruptionBudgets };
  const considered = await options.consider({ ...whole, waits, plan, late, ...restraint });
  observer.planned();
  const { known, step, obstacle } = considered;
  if (step === undefined) return obstacle ? refused('blocked', obstacle) : outcome('waits', LATE);
  if (plan === undefined || known === undefined) return begin(gang, step, considered, options);
  if (step.verdict === 'Preempts' || step.inFlight === undefined) {
    // A new plan may begin only after this one was removed from the gang, and in a separate attempt.
    if ((await evictor.remember(gang, null)) === undefined)
      return outcome('waits', CHANGED, { pending: true });
    if (step.verdict !== 'Fits') await nominate(known, gang, evictor, null);
    observer.ended(gang, step.verdict === 'Fits' ? step.why : 'its victims are gone, or are left alone');
    return outcome(step.verdict === 'Fits' ? 'fits' : 'waits', step.why);
  }
  const after = writePlan(gang.uid, plan.at, step.inFlight);
  if (after !== text && (await evictor.remember(gang, after)) === undefined)
    return outcome('waits', CHANGED, { pending: true });
  const done = await carryOut(
    { plan: step.inFlight, written: after },
    gang,
    { ...considered, step },
    options,
  );
  // A plan that this process has written counts as begun by it.
  return after === text ? done : { ...done, plan: after };
}

const LATE = 'its plan was given up';
const CHANGED = 'the gang was changed meanwhile';

/** Begins a plan for a gang that has none. */
async function begin(
  gang: GangRecord,
  step: ThoughtOut['step'],
  considered: Considered,
  options: MakeRoomOptions,
): Promise<AttemptOutcome> {
  const { evictor, now, observer, rate, victimsPerPlan } = options;
  if (step.verdict !== 'Preempts' || step.inFlight === undefined)
    return step.refusal ? refused('impossible', step.refusal) : outcome(RESULTS[step.verdict], step.why);
  const victims = step.evict.flatMap(podsOf);
  if (victims.length > victimsPerPlan)
    return refused('blocked', { why: 'TooManyVictims', pods: victims.length, most: victimsPerPlan });
  const waitMs = rate.waitMs();
  if (waitMs > 0) return refused('blocked', { why: 'TooManyPlans' });
  for (const pod of victims) {
    const asked = await evictor.evict(pod, true);
    if (typeof asked === 'object') return refused('blocked', asked.refused);
  }
  const plan = writePlan(gang.uid, now().getTime(), step.inFlight);
  if ((await evictor.remember(gang, plan)) === undefined) return outcome('waits', CHANGED);
  rate.begin();
  observer.begun(gang, step);
  const written = { plan: step.inFlight, written: plan };
  const { leaving, why } = await carryOut(written, gang, { ...considered, step }, options);
  return outcome('preempting', why, { leaving, pending: true, plan });
}

const RESULTS = {
  Fits: 'fits',
  Preempts: 'preempting',
  Waits: 'waits',
  Unschedulable: 'impossible',
} as const satisfies Record<PreemptionStep['verdict'], AttemptResult>;

/** A considered plan with a step to carry out. */
type ThoughtOut = Considered & { readonly step: NonNullable<Considered['step']> };

/**
 * Evicts unit by unit, and reads the gang again before each, so that no Pod is evicted for a gang that is gone, was
 * changed or fits by now. A unit whose Pods cannot all be evicted is not begun, nor is any later unit.
 */
async function carryOut(
  { plan, written }: { readonly plan: InFlight; readonly written: string },
  gang: GangRecord,
  { step, nominated, priority }: ThoughtOut,
  { evictor, now, observer, again, schedulerName }: MakeRoomOptions,
): Promise<AttemptOutcome> {
  if (!plan.closing) {
    const unsaid = plan.nominations.filter(
      ({ uid, node }) => nominated.has(uid) && nominated.get(uid) !== node,
    );
    await nominate({ nominations: unsaid }, gang, evictor);
  }
  const evicted: PodToEvict[] = [];
  // Lowest priority first: a plan that is stopped half way has then evicted the least important Pods.
  for (const unit of step.evict.toReversed()) {
    // A unit that was begun is evicted completely, whatever happened to the gang.
    const why = plan.closing ? undefined : whyStopped(gang, await again(), { plan: written, schedulerName });
    if (why !== undefined) return outcome('waits', why, { pending: true, leaving: evicted });
    const pods = podsOf(unit);
    const refusal = await refusalOf(pods, evictor);
    if (refusal !== undefined) return refused('blocked', refusal, { pending: true });
    for (const pod of pods) await evictor.mark(pod, now());
    for (const pod of pods) {
      const done = await evictor.evict(pod);
      if (done === 'evicted') observer.evicted(pod, gang, priority);
      if (typeof done === 'object') return refused('blocked', done.refused, { pending: true });
      evicted.push(pod);
    }
  }
  return outcome('waits', step.why, { pending: true, leaving: plan.victims.flatMap(podsOf) });
}

async function refusalOf(pods: readonly PodToEvict[], evictor: Evictor): Promise<Refusal | undefined> {
  for (const pod of pods) {
    const asked: Evicted = await evictor.evict(pod, true);
    if (typeof asked === 'object') return asked.refused;
  }
  return undefined;
}

/** @param node replaces the nodes of the plan */
async function nominate(
  { nominations }: Pick<InFlight, 'nominations'>,
  { namespace }: GangRecord,
  evictor: Evictor,
  node?: null,
): Promise<void> {
  for (const one of nominations) await evictor.nominate(namespace, one, node === undefined ? one.node : node);
}

/** The Pods of a victim that still have a known name; the others are gone. */
const podsOf = ({ namespace, pods }: Victim): PodToEvict[] =>
  pods.flatMap(({ name, uid }) => (name === '' ? [] : [{ namespace, name, uid }]));

/** Limits how many plans begin within any minute. A new leader starts counting at zero. */
export class PlanRate {
  readonly #perMinute: number;
  readonly #now: () => number;
  #begun: number[] = [];

  /** @param now returns milliseconds */
  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Milliseconds until the next plan may begin; 0 when it may begin now. */
  waitMs(): number {
    const now = this.#now();
    this.#begun = this.#begun.filter((at) => now - at < MINUTE);
    const oldest = this.#begun.at(-this.#perMinute);
    return oldest === undefined ? 0 : oldest + MINUTE - now;
  }

  begin(): void {
    this.#begun.push(this.#now());
  }
}

const MINUTE = 60_000;
