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

/** Whom a rule is not for: Muster's own accounts, or PodGangs that the Grove operator keeps. */
type Spared = 'trusted' | 'grove';

/** A rule of the spec as it is. `references`: it holds also where a write changes references alone. */
interface SpecRule {
  readonly on: 'spec' | 'references';
  readonly check: (gang: PodGang, levels: TopologyLevels) => Fault[];
  readonly spares?: readonly Spared[];
}

/** A rule of priorities, which also looks at the classes of the cluster; of a new gang and of what an update changes. */
interface PriorityRule {
  readonly on: 'priority';
  readonly check: (gang: PodGang, before: PodGang | undefined, known: PriorityKnowledge) => Fault[];
  readonly spares?: readonly Spared[];
}

/** A rule of what an update may change: of the spec, of the labels, or of the status. */
interface ChangeRule {
  readonly on: 'change' | 'labels' | 'status';
  readonly check: (before: PodGang, after: PodGang) => Fault[];
  readonly spares?: readonly Spared[];
}

/**
 * What is refused when a PodGang is written, in the order in which an answer lists it. A rule that is added here says
 * nothing of gangs that are stored already.
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
 * What stops a gang that is stored, past the webhook or before the rule was made: the webhook would refuse to have
 * references written into it, or which group a Pod is of is not clear. A rule that is added here stops gangs that run, so
 * that is for CHANGELOG. References are in none of these: the loop itself mends those.
 */
export const STOPS_STORED: readonly ((gang: PodGang) => Fault[])[] = [
  checkGangName,
  checkGroupNames,
  checkPriorityClass,
  checkGroupsNamed,
  checkMinimums,
];

/** Who writes, and whose gang it is. */
export type Writer = Readonly<Record<Spared, boolean>>;

const isFor = (writer: Writer, { spares = [] }: SpecRule | PriorityRule | ChangeRule): boolean =>
  !spares.some((who) => writer[who]);

/** @param onlyReferences whether nothing else of the spec is written */
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

/** @param before the stored gang; undefined for a new one */
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

/** What stops this stored gang, in admission's own words; undefined for nothing. It stays as it is until it is mended. */
export function stoppedBy(gang: PodGang): string | undefined {
  const faults = STOPS_STORED.flatMap((check) => check(gang));
  if (faults.length === 0) return undefined;
  const told = faults.map(({ field, message }) => `${field}: ${message}`);
  return listed(told, faults.length === 2 ? 'fault' : 'faults', 1);
}
