import { ClusterState } from './cluster-state.ts';
import { DomainChoices } from './domain-choices.ts';
import { partsOf } from './part-of-cluster.ts';
import { cheaper, costOf } from './plan-pod.ts';
import type { PreemptionPlan, PlannedDomain } from './search.ts';
import type { Preemptor } from './preemptor.ts';
import type { Scope, Snapshot, Topology } from './snapshot.ts';
import { confined, nowhere, outsideDomains, type DomainChoice } from './topology.ts';
import { preemptionUnitsOf, type PreemptionUnit } from './units.ts';

/** The most choices of domains of several scopes. Of one scope for the whole gang every domain is a choice. */
const MOST_CHOICES = 16;
/** The most choices for a preferred domain. */
const MOST_PREFERRED = 4;
/** The most Pods and nodes that the searches visit together. All domains of one scope are no more than the cluster itself. */
const MOST_LOOKED_AT = 250_000;

interface Found {
  readonly choice: DomainChoice;
  readonly plan: PreemptionPlan;
  readonly cost: readonly number[];
}

/** Plans for a preemptor without topology constraints, in all of the cluster or in a part of it. */
type SearchIn = (confined: Preemptor, within: Snapshot) => PreemptionPlan;

/**
 * Plans for a gang with Pods that must be in one domain: all Pods, or those of some groups.
 *
 * 1. If the gang fits without preemption, take the first choice of domains by name, and add each preferred domain with which
 *    it still fits.
 * 2. Otherwise empty the cluster of everything below the gang's priority, and list choices of domains in which the gang
 *    would fit ({@link DomainChoices}). Running members fix their domains.
 * 3. Search victims for each choice, up to {@link MOST_LOOKED_AT}, and take the cheapest, compared as kube-scheduler compares
 *    nodes for a single Pod ({@link costOf}). The search looks at the nodes of the choice alone where no others matter
 *    ({@link partsOf}), and leaves out a choice that cannot cost less ({@link DomainChoices.needsAbove}).
 * 4. Add preferred domains one after the other, each only where the victims cost no more than without it.
 * 5. If no choice is feasible, name the first constraint that cannot be met.
 * @param search plans for a preemptor without topology constraints
 * @param most see {@link MOST_LOOKED_AT}
 */
export function planInDomains(
  preemptor: Preemptor,
  topology: Topology,
  snapshot: Snapshot,
  search: SearchIn,
  most = MOST_LOOKED_AT,
): PreemptionPlan {
  const choice = fittingNow(preemptor, topology, snapshot);
  if (choice !== undefined)
    return withDomains(search(confined(preemptor, choice), snapshot), choice, topology);
  const emptied = emptiedFor(preemptor, snapshot);
  const choices = new DomainChoices(preemptor, emptied.state, snapshot, emptied.units);
  const within = partsOf(preemptor, snapshot, emptied);
  /** The choices that were not searched, with so much looked at before. */
  let unsearched: DomainChoice[] = [];
  const cheapest = (scopes: readonly Scope[], mostChoices: number): Found | undefined => {
    let [best, looked]: [Found | undefined, number] = [undefined, 0];
    unsearched = [];
    for (const one of choices.for(scopes, mostChoices)) {
      if (best !== undefined && choices.needsAbove(one, highestOf(best))) continue;
      const part = within(one);
      looked += part.pods.length + part.nodes.length;
      if (best !== undefined && looked > most) unsearched.push(one);
      else {
        const plan = search(confined(preemptor, one), part);
        const found = { choice: one, plan, cost: costOf(plan) };
        if (plan.feasible && (best === undefined || cheaper(found, best))) best = found;
      }
    }
    return best;
  };
  const isWhole = topology.required.length === 1 && topology.required[0]?.groups === undefined;
  let best = cheapest(topology.required, isWhole ? Number.POSITIVE_INFINITY : MOST_CHOICES);
  const leftOut = new Map(
    topology.required.map((scope) => {
      const dropped = new Set(
        unsearched.flatMap((one) => one.find((chosen) => chosen.scope === scope)?.value ?? []),
      );
      return [scope, choices.leftOut(scope, best && highestOf(best)) + dropped.size];
    }),
  );
  if (best === undefined && topology.required.length > 0)
    return rejectedDomains(preemptor, topology, { snapshot, search, choices });
  if (best === undefined) return withDomains(search(confined(preemptor, []), snapshot), [], topology);
  for (const scope of topology.preferred) {
    const kept = cheapest([...best.choice.map((one) => one.scope), scope], MOST_PREFERRED);
    if (kept !== undefined && !cheaper(withoutAge(best), withoutAge(kept))) best = kept;
  }
  return withDomains(best.plan, best.choice, topology, leftOut);
}

/** The domains in which the gang fits without preemption, with as many of the preferred ones as possible. */
function fittingNow(
  preemptor: Preemptor,
  { required, preferred }: Topology,
  snapshot: Snapshot,
): DomainChoice | undefined {
  const choices = new DomainChoices(preemptor, new ClusterState(snapshot), snapshot);
  let [choice] = choices.for(required, 1);
  if (choice === undefined) return undefined;
  for (const scope of preferred) {
    const [kept] = choices.for([...choice.map((one) => one.scope), scope], 1);
    choice = kept ?? choice;
  }
  return choice;
}

/** The cluster without units below the preemptor's priority and without terminating Pods. */
function emptiedFor(
  preemptor: Preemptor,
  snapshot: Snapshot,
): { readonly state: ClusterState; readonly units: readonly PreemptionUnit[] } {
  const state = new ClusterState(snapshot);
  const units = preemptor.preempts
    ? preemptionUnitsOf(snapshot, preemptor, 'kep').filter(({ priority }) => priority < preemptor.priority)
    : [];
  for (const { pods } of units) for (const pod of pods) state.takeAway(pod);
  for (const pod of snapshot.pods) if (pod.terminating) state.takeAway(pod);
  return { state, units };
}

/** The highest priority of a victim; a choice that breaks a budget can be beaten by any other. */
const highestOf = ({ cost: [broken = 0, highest = 0] }: Found): number =>
  broken > 0 ? Number.POSITIVE_INFINITY : highest;

/** The cost without the age of victims: a preferred domain may change which age counts, but nothing else. */
const withoutAge = ({ cost }: Found): { readonly cost: readonly number[] } => ({ cost: cost.slice(0, -1) });

function withDomains(
  plan: PreemptionPlan,
  choice: DomainChoice,
  { required, preferred }: Topology,
  leftOut: ReadonlyMap<Scope, number> = new Map(),
): PreemptionPlan {
  const domain = (scope: Scope, isRequired: boolean): PlannedDomain => ({
    scope,
    required: isRequired,
    value: choice.find((one) => one.scope === scope)?.value,
    ...((leftOut.get(scope) ?? 0) > 0 && { leftOut: leftOut.get(scope) ?? 0 }),
  });
  const domains = [
    ...required.map((scope) => domain(scope, true)),
    ...preferred.map((scope) => domain(scope, false)),
  ];
  return plan.feasible ? { ...plan, domains } : plan;
}

/**
 * Rejects every node, for the first scope that cannot be met: the node is outside its domains, or in one that is too small.
 */
function rejectedDomains(
  preemptor: Preemptor,
  { required }: Topology,
  given: {
    readonly snapshot: Snapshot;
    readonly search: SearchIn;
    readonly choices: DomainChoices;
  },
): PreemptionPlan {
  const { snapshot, search, choices } = given;
  const plan = search(nowhere(preemptor), snapshot);
  const at = required.findIndex((_, index) => choices.for(required.slice(0, index + 1), 1).length === 0);
  const scope = required[Math.max(at, 0)];
  if (scope === undefined) return plan;
  const inside = new Set(choices.allowed(scope).flatMap(({ nodes }) => nodes.map(({ node }) => node.name)));
  return { ...plan, rejected: outsideDomains(scope, snapshot, inside, at > 0 ? BESIDE : '') };
}

const BESIDE = ' where the rest of the gang may be';
