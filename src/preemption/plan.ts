import { ClusterState } from './cluster-state.ts';
import { place, undo, type PodPlacement } from './place.ts';
import { placeInDomain } from './place-in-domain.ts';
import { preemptionUnderWay } from './nominations.ts';
import { putBack, type PreemptionPlan } from './search.ts';
import { planForGang } from './plan-gang.ts';
import { planInDomains } from './plan-in-domains.ts';
import { planForPod } from './plan-pod.ts';
import { counted, type Preemptor } from './preemptor.ts';
import type { Refusal } from './refusal.ts';
import type { Pod, Snapshot } from './snapshot.ts';
import { noNodeLargeEnough } from './shortage.ts';
import { byImportance, preemptionUnitsOf, type PreemptionUnit } from './units.ts';
import { BEHAVIOUR, type Variant } from './variants.ts';

/**
 * Plans a preemption for a gang or a Pod. Pure: the same snapshot always gives the same plan.
 *
 * 1. A preemptor that fits now, or once terminating Pods are gone, needs no victims.
 * 2. A preemptor may not preempt while Pods of it are missing, its policy is Never, or another preemption for it is under
 *    way.
 * 3. Every unit of lower priority that may be evicted is a possible victim ({@link planForGang}, {@link planForPod}).
 * 4. A gang with a topology constraint is planned domain by domain ({@link planInDomains}); kube-scheduler's variants do
 *    that while they place the gang.
 * 5. If preemption does not help because a single Pod is larger than any node, the plan says so.
 * @param variant `kep`: the document's algorithm; `kube-1.36`, `kube-1.37`: that of this kube-scheduler release
 * @param mayGo whether a unit below the preemptor may be evicted; by default all may
 */
export const planPreemption = (...given: Parameters<typeof plannerFor>): PreemptionPlan =>
  plannerFor(...given)(new Set());

/** Plans as if the units with these Pods could not be evicted. */
export type KeepingPlanner = (kept: ReadonlySet<Pod>) => PreemptionPlan;

/** For several plans that differ only in the units that are kept: what they have in common is computed once. */
export function plannerFor(
  preemptor: Preemptor,
  snapshot: Snapshot,
  variant: Variant,
  mayGo: (unit: PreemptionUnit) => boolean = () => true,
): KeepingPlanner {
  const { topology } = preemptor;
  const search: KeepingPlanner =
    topology === undefined || BEHAVIOUR[variant].scheduler !== undefined
      ? plannerAnywhere(preemptor, snapshot, variant, mayGo)
      : (kept) =>
          planInDomains(preemptor, topology, snapshot, (confined, within) =>
            plannerAnywhere(confined, within, variant, mayGo)(kept),
          );
  return (kept) => {
    const found = search(kept);
    if (found.feasible || (found.refusal !== undefined && CERTAIN.has(found.refusal.why))) return found;
    const refusal = noNodeLargeEnough(preemptor, snapshot) ?? found.refusal;
    return { ...found, refusal };
  };
}

/** Refusals that stay even where another reason is found. */
const CERTAIN: ReadonlySet<Refusal['why']> = new Set(['PodsMissing', 'PodUnlikeGroup', 'EvictsInVain']);

function plannerAnywhere(
  preemptor: Preemptor,
  snapshot: Snapshot,
  variant: Variant,
  mayGo: (unit: PreemptionUnit) => boolean,
): KeepingPlanner {
  const always = (found: Parameters<typeof answer>[1]): KeepingPlanner => {
    const plan = answer(variant, found);
    return () => plan;
  };
  if (preemptor.untried !== undefined) return always({ refusal: preemptor.untried });
  const ways = BEHAVIOUR[variant];
  const state = new ClusterState(snapshot);
  const [scope] = preemptor.topology?.required ?? [];
  const placed = (): PodPlacement =>
    scope === undefined ? place(preemptor, state) : placeInDomain(preemptor, scope, { snapshot, state });
  const asItIs = placed();
  if (asItIs.fits) return always({ fits: true, placement: asItIs });
  undo(asItIs, state);
  const missing = preemptor.minimums.find((one) => counted(one, preemptor.pods) < one.count);
  if (missing !== undefined) {
    const { group, count } = missing;
    const given = counted(missing, preemptor.pods);
    return always({ refusal: { why: 'PodsMissing', group, count, given } });
  }
  if (scope !== undefined && !ways.preemptsInDomains)
    return always({ rejected: asItIs.rejected, refusal: { why: 'TopologyUnserved' } });
  if (!preemptor.preempts) return always({ rejected: asItIs.rejected, refusal: { why: 'NeverPreempts' } });
  const underWay = ways.waitsWhereNominated.includes(preemptor.kind)
    ? preemptionUnderWay(preemptor, snapshot, variant)
    : undefined;
  if (underWay !== undefined) return always({ rejected: asItIs.rejected, refusal: underWay });
  // kube-scheduler counts terminating Pods as possible victims.
  const leaving = ways.scheduler === undefined ? snapshot.pods.filter(({ terminating }) => terminating) : [];
  const awaited = leaving.map(({ key }) => key).sort();
  if (leaving.length > 0) {
    for (const pod of leaving) state.takeAway(pod);
    const later = place(preemptor, state);
    if (later.fits) return always({ placement: later, awaited });
    undo(later, state);
  }
  const below = preemptionUnitsOf(snapshot, preemptor, variant).filter(
    ({ priority }) => priority < preemptor.priority,
  );
  const removable = below.filter(mayGo).sort(byImportance);
  return (kept) => {
    const units =
      kept.size === 0 ? removable : removable.filter(({ pods }) => !pods.some((pod) => kept.has(pod)));
    if (units.length === 0) {
      const { priority } = preemptor;
      const refusal: Refusal = { why: below.length === 0 ? 'NothingBelow' : 'NothingMayGo', priority };
      return answer(variant, { rejected: asItIs.rejected, refusal });
    }
    const search = preemptor.kind === 'Gang' ? planForGang : planForPod;
    const found = search({ preemptor, state, units, budgets: snapshot.budgets, variant, placed });
    // The next plan needs the state as it was.
    if ('rejected' in found) {
      for (const unit of units) putBack(unit, state);
      return answer(variant, { rejected: found.rejected });
    }
    const { victims, reprieved, placement, inVain } = found;
    undo(placement, state);
    for (const { unit } of victims) putBack(unit, state);
    if (inVain === undefined) return answer(variant, { ...found, awaited });
    const pods = victims.reduce((sum, { unit }) => sum + unit.pods.length, 0);
    return answer(variant, { victims, reprieved, refusal: { why: 'EvictsInVain', pods, clash: inVain } });
  };
}

function answer(
  variant: Variant,
  found: Partial<Omit<PreemptionPlan, 'variant' | 'feasible' | 'placement'>> & {
    readonly placement?: PodPlacement;
  },
): PreemptionPlan {
  const { fits = false, placement, victims = [], reprieved = [], awaited = [], rejected = [] } = found;
  return {
    variant,
    fits,
    feasible: placement !== undefined,
    placement: new Map([...(placement?.nodes ?? [])].map(([pod, node]) => [pod.key, node.node.name])),
    victims,
    reprieved,
    awaited,
    rejected,
    refusal: found.refusal,
    domains: placement?.domain === undefined ? [] : [{ ...placement.domain, required: true }],
  };
}
