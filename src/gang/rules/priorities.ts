import { fault, keyed, type Fault } from '../../api/fault.ts';
import { isDnsSubdomain } from '../../k8s/name-syntax.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import {
  ANNOTATION_DISRUPTION_MODE,
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_CLASS,
  DISRUPTION_MODES,
  disruptionModeOf,
  PREEMPTION_POLICIES,
} from '../../api/preemption-terms.ts';
import { quoted } from '../../text/printable.ts';
import { letsGangsPreempt, mayCost, type PriorityClasses } from '../../api/priority-class.ts';
import { referencesOf } from './check-spec.ts';

/**
 * What a PodGang says of priorities and preemption. What an update leaves as it is is not looked at again: a class may go
 * after its gang was let in, and whoever changes something else is not to be stopped by that.
 */

/** What is known beside the gang. */
export interface PriorityKnowledge {
  /** Absent where nobody watches them: then nothing is said of any class. */
  readonly classes?: PriorityClasses | undefined;
  /** Whether some Pod of the stored gang is there. */
  readonly hasPods?: boolean;
}

const PRIORITY_FIELD = 'spec.priorityClassName';
const COST_FIELD = keyed('metadata.annotations', ANNOTATION_PREEMPTION_PRIORITY_CLASS);
const MODE_FIELD = keyed('metadata.annotations', ANNOTATION_DISRUPTION_MODE);
const POLICY_FIELD = keyed('metadata.annotations', ANNOTATION_PREEMPTION_POLICY);

/** The scheduling class that a gang names; undefined for none. */
export const classOf = ({ spec: { priorityClassName } }: Pick<PodGang, 'spec'>): string | undefined =>
  priorityClassName === '' ? undefined : priorityClassName;

const costOf = ({ annotations }: PodGang): string | undefined =>
  annotations.get(ANNOTATION_PREEMPTION_PRIORITY_CLASS);

/** An annotation that was not there or not so; undefined where it stays or goes. */
function written(after: PodGang, before: PodGang | undefined, key: string): string | undefined {
  const value = after.annotations.get(key);
  return value === before?.annotations.get(key) ? undefined : value;
}

/** The mode, the policy, and the form of the name of the class that it costs. */
export function checkPreemptionTerms(after: PodGang, before: PodGang | undefined): Fault[] {
  const mode = written(after, before, ANNOTATION_DISRUPTION_MODE);
  const policy = written(after, before, ANNOTATION_PREEMPTION_POLICY);
  const cost = written(after, before, ANNOTATION_PREEMPTION_PRIORITY_CLASS);
  const faults: Fault[] = [];
  if (mode !== undefined && !(DISRUPTION_MODES as readonly string[]).includes(mode))
    faults.push(fault('DisruptionModeInvalid', MODE_FIELD, { value: mode }));
  if (policy !== undefined && !(PREEMPTION_POLICIES as readonly string[]).includes(policy))
    faults.push(fault('PreemptionPolicyInvalid', POLICY_FIELD, { value: policy }));
  if (cost !== undefined && !isDnsSubdomain(cost))
    faults.push(fault('PriorityClassInvalid', COST_FIELD, { value: cost }));
  return faults;
}

/** The classes that a write names anew, by field; what is no name has its own fault. */
function namedAnew(after: PodGang, before: PodGang | undefined): [field: string, name: string][] {
  const scheduling = classOf(after);
  const cost = written(after, before, ANNOTATION_PREEMPTION_PRIORITY_CLASS);
  const named: [string, string | undefined][] = [
    [PRIORITY_FIELD, before !== undefined && classOf(before) === scheduling ? undefined : scheduling],
    [COST_FIELD, cost],
  ];
  return named.flatMap(([field, name]) =>
    name !== undefined && isDnsSubdomain(name) ? [[field, name] as [string, string]] : [],
  );
}

/** Both classes are there. */
export function checkClassesKnown(
  after: PodGang,
  before: PodGang | undefined,
  { classes }: PriorityKnowledge,
): Fault[] {
  if (classes?.known !== true) return [];
  return namedAnew(after, before).flatMap(([field, name]) =>
    classes.get(name) === undefined ? [fault('PriorityClassUnknown', field, { value: name })] : [],
  );
}

/** What could not be checked, since it is not known which classes there are. */
export const uncheckedClasses = (
  after: PodGang,
  before: PodGang | undefined,
  { classes }: PriorityKnowledge,
): string[] =>
  classes === undefined || classes.known
    ? []
    : namedAnew(after, before).map(
        ([field, name]) =>
          `${field}: it was not checked whether there is a PriorityClass ${quoted(name)}: Muster has not been able to list them`,
      );

/**
 * It costs at least as much to preempt a gang as the gang may preempt with. Else two gangs could preempt each other for
 * ever: each is above what it costs to preempt the other. It costs no more than that unless whoever keeps the class allows it.
 */
export function checkPreemptionCost(
  after: PodGang,
  before: PodGang | undefined,
  { classes }: PriorityKnowledge,
): Fault[] {
  const cost = costOf(after);
  if (classes?.known !== true || cost === undefined) return [];
  if (before !== undefined && classOf(before) === classOf(after) && costOf(before) === cost) return [];
  const named = classOf(after);
  const scheduling = named === undefined ? classes.byDefault : classes.get(named);
  const found = classes.get(cost);
  // A class that is not there has its own fault.
  if (found === undefined || (named !== undefined && scheduling === undefined)) return [];
  const least = scheduling?.value ?? 0;
  const detail = `${found.value} is ${found.value < least ? 'below' : 'above'} ${least}`;
  if (found.value < least) return [fault('PreemptionPriorityBelow', COST_FIELD, { value: cost, detail })];
  return mayCost(found, scheduling)
    ? []
    : [fault('PreemptionPriorityAbove', COST_FIELD, { value: cost, detail })];
}

/** Whether its Pods are one unit is settled when the gang is made: schedulers take it over once. */
export function checkDisruptionModeKept(after: PodGang, before: PodGang | undefined): Fault[] {
  if (before === undefined) return [];
  const [from, to] = [before, after].map(({ annotations }) =>
    // What is none of the modes was let in before there was a rule, and may be mended.
    annotations.has(ANNOTATION_DISRUPTION_MODE)
      ? disruptionModeOf((key) => annotations.get(key))
      : DISRUPTION_MODES[0],
  );
  if (from === undefined || to === undefined || from === to) return [];
  return [fault('DisruptionModeImmutable', MODE_FIELD, { detail: `was ${from}, now ${to}` })];
}

/** The Pods of a gang have its class for good, so the gang has it for as long as there are any. */
export function checkPriorityClassKept(
  after: PodGang,
  before: PodGang | undefined,
  { hasPods = false }: PriorityKnowledge,
): Fault[] {
  const from = before && classOf(before);
  const to = classOf(after);
  if (before === undefined || from === undefined || from === to) return [];
  if (!hasPods && !refersToPods(before)) return [];
  const detail = `was ${from}, now ${to ?? 'not set'}`;
  return [fault('PriorityClassImmutable', PRIORITY_FIELD, { detail })];
}

export const refersToPods = (gang: PodGang): boolean =>
  gang.spec.groups.some((group) => referencesOf(group).length > 0);

/**
 * No scheduler takes a policy that differs from that of the class, and Kubernetes refuses Pods and PodGroups that say so.
 */
export function idlePolicy(
  after: PodGang,
  before: PodGang | undefined,
  { classes }: PriorityKnowledge,
): string[] {
  const policy = written(after, before, ANNOTATION_PREEMPTION_POLICY);
  if (policy === undefined || !(PREEMPTION_POLICIES as readonly string[]).includes(policy)) return [];
  const named = classOf(after);
  const scheduling = named === undefined ? classes?.byDefault : classes?.get(named);
  if (classes?.known === true && (policy === 'Never') === (scheduling?.preempts === false)) return [];
  if (policy !== 'Never' && scheduling !== undefined && !letsGangsPreempt(scheduling))
    return [
      `${POLICY_FIELD}: nothing is preempted: the PriorityClass says Never; whoever keeps it may let its gangs preempt, by the annotation ${ANNOTATION_PREEMPTION_POLICY}: PreemptLowerPriority on the class`,
    ];
  return [
    `${POLICY_FIELD}: schedulers go by the preemptionPolicy of the PriorityClass; this one counts for Muster's own preemption and muster plan alone`,
  ];
}
