import type { Fault } from '../../api/fault.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { listed } from '../../text/printable.ts';
import {
  checkGangIsOne,
  checkGangName,
  checkGroupNames,
  checkGroupsNamed,
  checkMinimums,
  checkPriorityClass,
  checkReferences,
} from './check-spec.ts';
import { checkGroupConfigs, checkTopology, type TopologyLevels } from './check-topology.ts';
import { checkInitializedAuthor, checkInitializedComplete, checkInitializedStays } from './initialized.ts';
import { checkGroupsFixed, checkManagerKept, checkPlanKept, checkReferencesKept } from './immutable.ts';
import {
  checkClassesKnown,
  checkDisruptionModeKept,
  checkPreemptionCost,
  checkPreemptionTerms,
  checkPriorityClassKept,
  type PriorityKnowledge,
} from './priorities.ts';

/** Writers or gangs that a rule exempts: Muster's trusted accounts, or PodGangs of the Grove operator. */
type Spared = 'trusted' | 'grove';

/** A rule about the spec. `references`: the rule holds also where a write changes references alone. */
interface SpecRule {
  readonly on: 'spec' | 'references';
  readonly check: (gang: PodGang, levels: TopologyLevels) => Fault[];
  readonly spares?: readonly Spared[];
}

/**
 * A rule about priorities that also reads the cluster's PriorityClasses. It checks a new gang, and what an update changes.
 */
interface PriorityRule {
  readonly on: 'priority';
  readonly check: (gang: PodGang, before: PodGang | undefined, known: PriorityKnowledge) => Fault[];
  readonly spares?: readonly Spared[];
}

/** A rule about what an update may change in the spec, the labels or the status. */
interface ChangeRule {
  readonly on: 'change' | 'labels' | 'status';
  readonly check: (before: PodGang, after: PodGang) => Fault[];
  readonly spares?: readonly Spared[];
}

/**
 * The rules that refuse a write of a PodGang, in the order in which an answer lists their faults. A rule that is added here
 * does not affect stored gangs.
 */
export const REFUSED_WHEN_WRITTEN: readonly (SpecRule | PriorityRule | ChangeRule)[] = [
  { on: 'references', check: checkMinimums },
  { on: 'spec', check: checkGangName },
  { on: 'references', check: checkGroupNames },
  { on: 'references', check: checkPriorityClass },
  { on: 'references', check: checkReferences },
  { on: 'spec', check: checkTopology },
  { on: 'spec', check: checkGroupConfigs },
  { on: 'spec', check: checkGangIsOne, spares: ['grove'] },
  { on: 'priority', check: checkPreemptionTerms, spares: ['grove'] },
  { on: 'priority', check: checkClassesKnown, spares: ['grove'] },
  { on: 'priority', check: checkPreemptionCost, spares: ['grove'] },
  { on: 'priority', check: checkDisruptionModeKept, spares: ['grove'] },
  { on: 'priority', check: checkPriorityClassKept, spares: ['grove'] },
  { on: 'change', check: checkGroupsFixed, spares: ['grove'] },
  { on: 'change', check: checkReferencesKept, spares: ['grove', 'trusted'] },
  { on: 'labels', check: checkManagerKept, spares: ['trusted'] },
  { on: 'labels', check: checkPlanKept, spares: ['trusted'] },
  { on: 'status', check: checkInitializedAuthor, spares: ['grove', 'trusted'] },
  { on: 'status', check: checkInitializedStays },
  { on: 'status', check: checkInitializedComplete, spares: ['grove'] },
];

/**
 * The rules that stop a stored gang, which came past the webhook or is older than the rule: with such a fault the webhook
 * would refuse another's write of references, or the groups of Pods are ambiguous. A rule that is added here stops running gangs, so
 * it needs an entry in CHANGELOG. No rule is about references, which the loop repairs by itself.
 */
export const STOPS_STORED: readonly ((gang: PodGang) => Fault[])[] = [
  checkGangName,
  checkGroupNames,
  checkPriorityClass,
  checkGroupsNamed,
  checkMinimums,
];

/** Whether the writer is a trusted account, and whether the gang is Grove's. */
export type Writer = Readonly<Record<Spared, boolean>>;

const isFor = (writer: Writer, { spares = [] }: SpecRule | PriorityRule | ChangeRule): boolean =>
  !spares.some((who) => writer[who]);

/**
 * Faults of the spec.
 * @param onlyReferences whether the write changes nothing else of the spec
 */
export const refusedInSpec = (
  gang: PodGang,
  levels: TopologyLevels,
  writer: Writer,
  onlyReferences = false,
): Fault[] =>
  REFUSED_WHEN_WRITTEN.flatMap((rule) =>
    (rule.on === 'references' || (rule.on === 'spec' && !onlyReferences)) && isFor(writer, rule)
      ? rule.check(gang, levels)
      : [],
  );

/**
 * Faults of priorities.
 * @param before the stored gang; undefined for a new one
 */
export const refusedPriority = (
  gang: PodGang,
  before: PodGang | undefined,
  known: PriorityKnowledge,
  writer: Writer,
): Fault[] =>
  REFUSED_WHEN_WRITTEN.flatMap((rule) =>
    rule.on === 'priority' && isFor(writer, rule) ? rule.check(gang, before, known) : [],
  );

export const refusedChange = (
  on: ChangeRule['on'],
  before: PodGang,
  after: PodGang,
  writer: Writer,
): Fault[] =>
  REFUSED_WHEN_WRITTEN.flatMap((rule) =>
    rule.on === on && isFor(writer, rule) ? rule.check(before, after) : [],
  );

/**
 * Why this stored gang is stopped, with admission's messages; undefined where it is not. The gang stays stopped until the
 * faults are repaired.
 */
export function stoppedBy(gang: PodGang): string | undefined {
  const faults = STOPS_STORED.flatMap((check) => check(gang));
  if (faults.length === 0) return undefined;
  const told = faults.map(({ field, message }) => `${field}: ${message}`);
  return listed(told, faults.length === 2 ? 'fault' : 'faults', 1);
}
