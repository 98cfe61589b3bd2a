import { EVICTION, PREEMPTION } from '../api/preemption-terms.ts';
import { preemptionUnderWay, stillNominated } from './nominations.ts';
import type { PreemptionPlan } from './search.ts';
import type { InFlight, Victim } from './in-flight.ts';
import { planPreemption as search } from './plan.ts';
import { planWithinBudgets, type Situation } from './plan-within-budgets.ts';
import { refusalText, type Refusal } from './refusal.ts';
import type { Pod, Snapshot } from './snapshot.ts';
import { preemptionUnitsOf, type PreemptionUnit } from './units.ts';

/** The next step of a preemption. The same situation and plan in flight always give the same step. */
export interface PreemptionStep {
  /**
   * `Fits`: the preemptor fits now. `Preempts`: a plan begins. `Waits`: for victims or terminating Pods to be gone.
   * `Unschedulable`: preemption does not help.
   */
  readonly verdict: 'Fits' | 'Preempts' | 'Waits' | 'Unschedulable';
  /**
   * The plan in flight, to be stored before any of {@link evict} is evicted; undefined where no plan is in flight any more.
   */
  readonly inFlight: InFlight | undefined;
  /**
   * Units to evict, with their Pods that are not terminating yet. All Pods of a unit get the condition DisruptionTarget with
   * the reason {@link PREEMPTION} before the first of them is evicted, which marks the unit as begun.
   */
  readonly evict: readonly Victim[];
  /** The reason, for the operator of the cluster. */
  readonly why: string;
  /** The refusal of an `Unschedulable` preemptor. */
  readonly refusal?: Refusal;
  /** The plan, in a step that made one. */
  readonly plan?: PreemptionPlan;
}

/**
 * The state machine of a preemption. It has no clock and no I/O: each step is computed from the present cluster.
 *
 * 1. Without a plan in flight, make one: no Pod is evicted before a plan exists by which the whole preemptor fits.
 * 2. If the preemptor fits without it, begin no further unit; units that were begun are evicted whole.
 * 3. While the plan can still succeed, evict the rest of its victims and no other Pod.
 * 4. If the plan cannot succeed any more, close it: units that were begun are evicted whole, no other unit is, and no new
 *    plan is made until they are gone.
 * 5. If every victim is gone and the preemptor still does not fit, start again.
 * @param inFlight the plan that the last step returned
 */
export function nextPreemptionStep(inFlight: InFlight | undefined, situation: Situation): PreemptionStep {
  if (inFlight === undefined) return begin(situation);
  const { preemptor, snapshot, variant } = situation;
  const fits = search(preemptor, snapshot, variant, () => false);
  if (fits.fits) {
    const closing = { ...inFlight, closing: true };
    const why = 'it fits without anybody else going';
    return { verdict: 'Fits', ...broughtToEnd(closing, snapshot), why, plan: fits };
  }
  const invalid = inFlight.closing ? 'the plan was given up' : whyInvalid(inFlight, situation);
  if (invalid === undefined) {
    if (!awaits(inFlight, snapshot)) return begin(situation);
    const evict = inFlight.victims.flatMap((victim) => left(victim, snapshot));
    const why = `it waits for ${going(inFlight.victims, snapshot)}`;
    return { verdict: 'Waits', inFlight, evict, why };
  }
  const rest = broughtToEnd({ ...inFlight, closing: true }, snapshot);
  if (rest.inFlight === undefined) return begin(situation);
  const why = `${invalid}; nothing new is planned before ${going(rest.inFlight.victims, snapshot)} have gone`;
  return { verdict: 'Waits', ...rest, why };
}

/** The step of a preemptor without a plan in flight. */
function begin(situation: Situation): PreemptionStep {
  const cause = preemptionUnderWay(situation.preemptor, situation.snapshot, situation.variant);
  if (cause !== undefined)
    return { verdict: 'Waits', inFlight: undefined, evict: [], why: refusalText(cause, 'operator') };
  const plan = planWithinBudgets(situation);
  const { fits, feasible, victims, awaited, placement } = plan;
  const none = { inFlight: undefined, evict: [], plan };
  if (fits) return { verdict: 'Fits', ...none, why: 'it fits as it is' };
  if (!feasible) {
    const refusal = plan.refusal ?? { why: 'NoSetOfVictims' as const };
    return { verdict: 'Unschedulable', ...none, why: refusalText(refusal, 'operator'), refusal };
  }
  if (victims.length === 0)
    return {
      verdict: 'Waits',
      ...none,
      why: `it fits once ${awaited.length} Pods that are on their way out are gone`,
    };
  const evict = victims.map(({ unit: { kind, namespace, name, priority, pods } }) => ({
    kind,
    namespace,
    name,
    priority,
    pods: pods.map((pod) => ({ name: pod.name, uid: pod.uid })),
  }));
  const pods = new Map(situation.preemptor.pods.map((pod) => [pod.key, pod]));
  // In the order of placement, so that the Pods that the gang needs come first.
  const nominations = [...placement].flatMap(([key, node]) => {
    const pod = pods.get(key);
    return pod === undefined ? [] : [{ name: pod.name, uid: pod.uid, node }];
  });
  const why = `${evict.length} units make room for it`;
  return { verdict: 'Preempts', inFlight: { nominations, victims: evict, closing: false }, evict, why, plan };
}

/** Why a plan in flight cannot succeed any more; undefined where it can. */
function whyInvalid(inFlight: InFlight, situation: Situation): string | undefined {
  const { preemptor, snapshot, variant, mayGo } = situation;
  if (!preemptor.preempts) return 'its preemption policy is Never by now';
  const units = new Map(preemptionUnitsOf(snapshot, preemptor, variant).map((unit) => [nameOf(unit), unit]));
  for (const victim of inFlight.victims) {
    if (isBegun(victim, snapshot) || left(victim, snapshot).length === 0) continue;
    const unit = units.get(nameOf(victim));
    if (unit === undefined) return `${nameOf(victim)} is no unit of its own any more`;
    if (unit.priority >= preemptor.priority)
      return `${nameOf(victim)} has priority ${unit.priority} by now, not below ${preemptor.priority}`;
    if (!mayGo(unit)) return `${nameOf(victim)} may not be touched any more`;
  }
  return stillNominated(inFlight, preemptor, snapshot);
}

/** Whether some victim still exists, or some Pod on the nodes of the plan is terminating. */
function awaits({ victims, nominations }: InFlight, snapshot: Snapshot): boolean {
  if (victims.some((victim) => podsOf(victim, snapshot).length > 0)) return true;
  const nodes = new Set(nominations.map(({ node }) => node));
  return snapshot.pods.some(({ terminating, nodeName }) => terminating && nodes.has(nodeName));
}

/** The rest of a plan that was given up: the units that were begun, since a unit is evicted whole or not at all. */
function broughtToEnd(
  { nominations, victims, closing }: InFlight,
  snapshot: Snapshot,
): Pick<PreemptionStep, 'inFlight' | 'evict'> {
  const begun = victims.filter((victim) => isBegun(victim, snapshot));
  if (begun.length === 0) return { inFlight: undefined, evict: [] };
  return {
    inFlight: { nominations, victims: begun, closing },
    evict: begun.flatMap((victim) => left(victim, snapshot)),
  };
}

/** Whether some existing Pod of the unit is marked as a disruption target. */
const isBegun = (victim: Victim, snapshot: Snapshot): boolean =>
  podsOf(victim, snapshot).some(({ disruption }) => disruption === PREEMPTION || disruption === EVICTION);

/** The victim with its Pods that are not terminating yet; no victim where all are. */
function left(victim: Victim, snapshot: Snapshot): Victim[] {
  const staying = new Set(
    podsOf(victim, snapshot).flatMap(({ uid, terminating }) => (terminating ? [] : [uid])),
  );
  const pods = victim.pods.filter(({ uid }) => staying.has(uid));
  return pods.length === 0 ? [] : [{ ...victim, pods }];
}

/** The victim's Pods that still exist. A Pod of the same name with another uid is another Pod. */
function podsOf({ namespace, pods }: Victim, snapshot: Snapshot): Pod[] {
  const uids = new Set(pods.map(({ uid }) => uid));
  return snapshot.pods.filter((pod) => pod.namespace === namespace && uids.has(pod.uid));
}

const nameOf = ({ kind, namespace, name }: Pick<PreemptionUnit, 'kind' | 'namespace' | 'name'>): string =>
  `${kind} ${namespace}/${name}`;

function going(victims: readonly Victim[], snapshot: Snapshot): string {
  const count = victims.reduce((sum, victim) => sum + podsOf(victim, snapshot).length, 0);
  return `${count} Pods of ${victims.length} units`;
}
