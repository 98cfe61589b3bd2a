import { formatCount } from '../k8s/quantity.ts';
import type { PreemptionPlan } from './search.ts';
import type { Preemptor } from './preemptor.ts';
import { nameFor, otherNamespaceFor, mayName, refusalText, type Audience } from './refusal.ts';
import { largestNow, shortageOf, sumUp } from './shortage.ts';
import type { Snapshot } from './snapshot.ts';
import type { PreemptionUnit } from './units.ts';

/** A plan, with the details that messages about it need. */
export interface PlanOutcome {
  readonly preemptor: Preemptor;
  readonly plan: PreemptionPlan;
  readonly snapshot: Snapshot;
  /** The amount of each resource that is short where preemption does not help, as quantities. */
  readonly shortfall: Readonly<Record<string, string>>;
  /**
   * The largest gang of this shape that fits now, by group; undefined where the whole gang fits, or not even one Pod does.
   */
  readonly largest: ReadonlyMap<string, number> | undefined;
}

export function outcomeOf(preemptor: Preemptor, plan: PreemptionPlan, snapshot: Snapshot): PlanOutcome {
  // The shortage in the cluster would mislead: in one domain other resources may be short.
  const confined = (preemptor.topology?.required.length ?? 0) > 0;
  const missing =
    plan.feasible || confined ? new Map<string, number>() : shortageOf(preemptor, snapshot, plan.variant);
  const shortfall = [...missing].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    preemptor,
    plan,
    snapshot,
    shortfall: Object.fromEntries(shortfall.map(([name, amount]) => [name, formatCount(name, amount)])),
    largest: plan.fits || preemptor.kind === 'Pod' || confined ? undefined : largestNow(preemptor, snapshot),
  };
}

/** The outcome in one line. */
export function planVerdict(
  { plan, preemptor, shortfall }: PlanOutcome,
  reader: Audience = 'operator',
): string {
  if (plan.fits) return 'fits as it is';
  if (plan.feasible && plan.victims.length + plan.awaited.length === 0)
    return 'fits beside all that runs, though not where it is tried first; nobody has to make room';
  if (plan.feasible && plan.victims.length === 0)
    return `fits once ${podCount(plan.awaited.length)} on the way out ${plan.awaited.length === 1 ? 'is' : 'are'} gone; nothing else is touched`;
  if (plan.feasible) {
    const pods = plan.victims.reduce((sum, { unit }) => sum + unit.pods.length, 0);
    const units = plan.victims.map(({ unit }) => unit);
    return `would fit if ${podCount(pods)} ${whose(units, reader)} made room; nothing else is touched`;
  }
  // More of this resource in the cluster would not help: a single node needs it.
  const tooMuch = plan.refusal?.why === 'NoNodeLargeEnough' ? plan.refusal.resource : undefined;
  const short = Object.entries(shortfall).flatMap(([name, amount]) =>
    name === tooMuch ? [] : [`${amount} ${name}`],
  );
  const missing = short.length === 0 ? '' : `; short of ${short.join(', ')}`;
  const even =
    plan.refusal === undefined
      ? 'does not fit, even with preemption'
      : `does not fit, and ${refusalText(plan.refusal, reader)}`;
  const nodes = plan.rejected.length === 0 ? '' : `: ${sumUp(plan.rejected)}`;
  return `${even}${nodes}${preemptor.pods.length === 0 ? '' : missing}`;
}

function whose(units: readonly PreemptionUnit[], reader: Audience): string {
  const [first] = units;
  if (units.length !== 1 || first === undefined) return `of ${units.length} units`;
  const { kind, namespace, name, priority } = first;
  if (kind === 'Pod') {
    const called = mayName(reader, first) ? `${namespace}/${name}` : otherNamespaceFor(reader).trim();
    return `(${called === '' ? '' : `${called}, `}priority ${priority})`;
  }
  return `of ${nameFor(reader, kind === 'PodGang' ? 'gang' : 'PodGroup', first)} (priority ${priority})`;
}

/** `1 Pod`, `4 Pods`. */
export const podCount = (count: number): string => (count === 1 ? '1 Pod' : `${count} Pods`);
