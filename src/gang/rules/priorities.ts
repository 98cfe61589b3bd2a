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
 * Rules about priorities and preemption of a PodGang. A field that an update does not change is not checked again: its class
 * may have been deleted since, and that must not block other changes.
 */

/** What the rules know beside the gang. */
export interface PriorityKnowledge {
  /** Absent where the PriorityClasses are not watched: then classes are not checked. */
  readonly classes?: PriorityClasses | undefined;
  /** Whether some Pod of the stored gang exists. */
  readonly hasPods?: boolean;
}

const PRIORITY_FIELD = 'spec.priorityClassName';
const COST_FIELD = keyed('metadata.annotations', ANNOTATION_PREEMPTION_PRIORITY_CLASS);
const MODE_FIELD = keyed('metadata.annotations', ANNOTATION_DISRUPTION_MODE);
const POLICY_FIELD = keyed('metadata.annotations', ANNOTATION_PREEMPTION_POLICY);

/** The scheduling class that a gang names; undefined where it names none. */
export const classOf = ({ spec: { priorityClassName } }: Pick<PodGang, 'spec'>): string | undefined =>
  priorityClassName === '' ? undefined : priorityClassName;

const costOf = ({ annotations }: PodGang): string | undefined =>
  annotations.get(ANNOTATION_PREEMPTION_PRIORITY_CLASS);

/** The annotation's value if this write sets or changes it; undefined if the value stays or is removed. */
function written(after: PodGang, before: PodGang | undefined, key: string): string | undefined {
  const value = after.annotations.get(key);
  return value === before?.annotations.get(key) ? undefined : value;
}

/** Checks the disruption mode, the preemption policy, and the form of the preemption class's name. */
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

/** The classes that this write adds or changes, by field, without invalid names, which have a fault of their own. */
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

/** Checks that both classes exist. */
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

/** Warnings about classes that were not checked, since the cluster's PriorityClasses are not known. */
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
 * Checks the preemption priority. It must be at least the scheduling priority: otherwise each of two gangs could be above
 * the other's preemption priority, and they would preempt each other for ever. It may be higher only if the PriorityClass
 * allows that.
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
  // A class that does not exist has a fault of its own.
  if (found === undefined || (named !== undefined && scheduling === undefined)) return [];
  const least = scheduling?.value ?? 0;
  const detail = `${found.value} is ${found.value < least ? 'below' : 'above'} ${least}`;
  if (found.value < least) return [fault('PreemptionPriorityBelow', COST_FIELD, { value: cost, detail })];
  return mayCost(found, scheduling)
    ? []
    : [fault('PreemptionPriorityAbove', COST_FIELD, { value: cost, detail })];
}

/** Checks that the disruption mode stays, since schedulers read it once. */
export function checkDisruptionModeKept(after: PodGang, before: PodGang | undefined): Fault[] {
  if (before === undefined) return [];
  const [from, to] = [before, after].map(({ annotations }) =>
    // An invalid mode was stored before the rule existed, and may be corrected.
    annotations.has(ANNOTATION_DISRUPTION_MODE)
      ? disruptionModeOf((key) => annotations.get(key))
      : DISRUPTION_MODES[0],
  );
  if (from === undefined || to === undefined || from === to) return [];
  return [fault('DisruptionModeImmutable', MODE_FIELD, { detail: `was ${from}, now ${to}` })];
}

/** Checks that a gang with Pods keeps its class, since its Pods cannot change theirs. */
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
 * Warnings about a preemption policy that differs from the class's: no scheduler follows it, and Kubernetes refuses Pods and
 * PodGroups with such a policy.
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
