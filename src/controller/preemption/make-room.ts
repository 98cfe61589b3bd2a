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

/** A plan that is not through after this time (ms) is not begun any further, and another one may be made. */
const LATE_MS = 10 * 60_000;

export interface MakeRoomOptions {
  readonly evictor: Evictor;
  /** The gang with its Pods as they are now; undefined where it is gone. */
  readonly again: () => Promise<GangWithPods | undefined>;
  /** Knows the cluster that was looked at. */
  readonly consider: (question: PlanQuestion) => Promise<Considered>;
  readonly exemptNamespaces: readonly string[];
  readonly overridePodDisruptionBudgets: boolean;
  readonly rate: PlanRate;
  readonly victimsPerPlan: number;
  /** Of the gang's Pods. */
  readonly schedulerName: string;
  readonly now: () => Date;
  readonly observer: RoomObserver;
}

/** For log, metrics and Events. */
export interface RoomObserver {
  /** The cluster is read, and it is clear what is to be done. */
  planned(): void;
  begun(gang: GangRecord, step: Pick<PreemptionStep, 'evict' | 'why'>): void;
  /** The plan is not pursued any more: it is through, or given up. */
  ended(gang: GangRecord, why: string): void;
  evicted(pod: PodToEvict, gang: GangRecord, priority: number): void;
}

/** What came of a look. */
export interface AttemptOutcome {
  readonly result: AttemptResult;
  /** For whoever runs the cluster. */
  readonly why: string;
  /** Why no room is made, where none is: for the owner, too. */
  readonly refusal?: Refusal;
  /** Whether victims are on their way out: so long as one of these is there, there is nothing to look for. */
  readonly leaving: readonly PodToEvict[];
  /** Whether a plan is in flight. */
  readonly pending: boolean;
  /** That plan, where this look has written it. */
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
 * One look at a gang and the next step for it. Before the first victim of a plan goes, the plan stands in the gang; so
 * whoever comes after a crash goes on with it, and of two that begin one alone is let.
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
    // What would be begun now is another plan: not before this one is forgotten, and in a look of its own.
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
  // One that is written here is Muster's own from now on.
  return after === text ? done : { ...done, plan: after };
}

const LATE = 'its plan was given up';
const CHANGED = 'the gang was changed meanwhile';

/** No plan is in flight. */
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

/** What was thought of, where something is to be done. */
type ThoughtOut = Considered & { readonly step: NonNullable<Considered['step']> };

/**
 * Evicts unit by unit, and looks at the gang before each: nobody goes for one that is gone, changed or has room by now. A unit
 * whose Pods may not all go is not begun, and neither is any after it.
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
  // The least important first: whoever is stopped half way has done the least harm.
  for (const unit of step.evict.toReversed()) {
    // Units that were begun go whole, whatever became of the gang.
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

/** @param node in place of the ones of the plan */
async function nominate(
  { nominations }: Pick<InFlight, 'nominations'>,
  { namespace }: GangRecord,
  evictor: Evictor,
  node?: null,
): Promise<void> {
  for (const one of nominations) await evictor.nominate(namespace, one, node === undefined ? one.node : node);
}

/** Those that are still known by name: the others are gone. */
const podsOf = ({ namespace, pods }: Victim): PodToEvict[] =>
  pods.flatMap(({ name, uid }) => (name === '' ? [] : [{ namespace, name, uid }]));

/** So many plans may be begun within any minute. A new leader counts anew. */
export class PlanRate {
  readonly #perMinute: number;
  readonly #now: () => number;
  #begun: number[] = [];

  /** @param now milliseconds */
  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Milliseconds until one more may be begun; 0: now. */
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
