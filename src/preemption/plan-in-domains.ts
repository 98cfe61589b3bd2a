import { ClusterState } from './cluster-state.ts';
import { DomainChoices } from './domain-choices.ts';
import { cheaper, costOf } from './plan-pod.ts';
import type { PreemptionPlan, PlannedDomain } from './search.ts';
import type { Preemptor } from './preemptor.ts';
import type { Scope, Snapshot, Topology } from './snapshot.ts';
import { confined, nowhere, outsideDomains, type DomainChoice } from './topology.ts';
import { preemptionUnitsOf, type PreemptionUnit } from './units.ts';

/** Of so many choices of domains in which room could be made the cheapest is taken; each is a search of its own. */
const MOST_SEARCHED = 16;
/** And of so many for a wish. */
const MOST_FOR_A_WISH = 4;

interface Found {
  readonly choice: DomainChoice;
  readonly plan: PreemptionPlan;
  readonly cost: readonly number[];
}

/**
 * A gang of which all Pods, or those of some groups, belong into one domain: into the first, by name, in which it fits as
 * it is; else where making room costs least, compared as the nodes for a single Pod are. Members that run have chosen
 * already. What is only preferred comes after that, one wish after the other: it is kept where the gang still fits, and
 * where it costs nobody anything.
 * @param search plans for a preemptor that may be anywhere
 */
export function planInDomains(
  preemptor: Preemptor,
  topology: Topology,
  snapshot: Snapshot,
  search: (confined: Preemptor) => PreemptionPlan,
): PreemptionPlan {
  const choice = fittingNow(preemptor, topology, snapshot);
  if (choice !== undefined) return told(search(confined(preemptor, choice)), choice, topology);
  const emptied = emptiedFor(preemptor, snapshot);
  const choices = new DomainChoices(preemptor, emptied.state, snapshot, emptied.units);
  const cheapest = (scopes: readonly Scope[], most: number): Found | undefined => {
    let best: Found | undefined;
    for (const one of choices.for(scopes, most)) {
      const plan = search(confined(preemptor, one));
      const found = { choice: one, plan, cost: costOf(plan) };
      if (plan.feasible && (best === undefined || cheaper(found, best))) best = found;
    }
    return best;
  };
  let best = cheapest(topology.required, MOST_SEARCHED);
  const leftOut = new Map(topology.required.map((scope) => [scope, choices.leftOut(scope)]));
  if (best === undefined && topology.required.length > 0)
    return rejected(preemptor, topology, { snapshot, search, choices });
  if (best === undefined) return told(search(confined(preemptor, [])), [], topology);
  for (const wish of topology.preferred) {
    const kept = cheapest([...best.choice.map(({ scope }) => scope), wish], MOST_FOR_A_WISH);
    if (kept !== undefined && !cheaper(withoutAge(best), withoutAge(kept))) best = kept;
  }
  return told(best.plan, best.choice, topology, leftOut);
}

/** Where it fits as it is, with as many wishes as can be kept. */
function fittingNow(
  preemptor: Preemptor,
  { required, preferred }: Topology,
  snapshot: Snapshot,
): DomainChoice | undefined {
  const choices = new DomainChoices(preemptor, new ClusterState(snapshot), snapshot);
  let [choice] = choices.for(required, 1);
  if (choice === undefined) return undefined;
  for (const wish of preferred) {
    const [kept] = choices.for([...choice.map(({ scope }) => scope), wish], 1);
    choice = kept ?? choice;
  }
  return choice;
}

/** Whatever is below it gone, and what is on its way out. */
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

/** For a wish somebody may go who started earlier, but nobody more, and nobody of a higher priority. */
const withoutAge = ({ cost }: Found): { readonly cost: readonly number[] } => ({ cost: cost.slice(0, -1) });

function told(
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

/** Why no node will do: it is in no domain of the first scope for which there is none, or in one that is too small. */
function rejected(
  preemptor: Preemptor,
  { required }: Topology,
  given: {
    readonly snapshot: Snapshot;
    readonly search: (confined: Preemptor) => PreemptionPlan;
    readonly choices: DomainChoices;
  },
): PreemptionPlan {
  const { snapshot, search, choices } = given;
  const plan = search(nowhere(preemptor));
  const at = required.findIndex((_, index) => choices.for(required.slice(0, index + 1), 1).length === 0);
  const scope = required[Math.max(at, 0)];
  if (scope === undefined) return plan;
  const inside = new Set(choices.allowed(scope).flatMap(({ nodes }) => nodes.map(({ node }) => node.name)));
  return { ...plan, rejected: outsideDomains(scope, snapshot, inside, at > 0 ? BESIDE : '') };
}

const BESIDE = ' where the rest of the gang may be';
