import { ClusterState } from './cluster-state.ts';
import { place, undo, type PodPlacement } from './place.ts';
import { placeInDomain } from './place-in-domain.ts';
import { preemptionUnderWay } from './nominations.ts';
import type { PreemptionPlan } from './search.ts';
import { planForGang } from './plan-gang.ts';
import { planInDomains } from './plan-in-domains.ts';
import { planForPod } from './plan-pod.ts';
import { counted, type Preemptor } from './preemptor.ts';
import type { Refusal } from './refusal.ts';
import type { Snapshot } from './snapshot.ts';
import { noNodeLargeEnough } from './shortage.ts';
import { preemptionUnitsOf, type PreemptionUnit } from './units.ts';
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
export function planPreemption(
  preemptor: Preemptor,
  snapshot: Snapshot,
  variant: Variant,
  mayGo: (unit: PreemptionUnit) => boolean = () => true,
): PreemptionPlan {
  const search = (confined: Preemptor, within: Snapshot): PreemptionPlan =>
    planAnywhere(confined, within, variant, mayGo);
  const { topology } = preemptor;
  const found =
    topology === undefined || BEHAVIOUR[variant].scheduler !== undefined
      ? search(preemptor, snapshot)
      : planInDomains(preemptor, topology, snapshot, search);
  if (found.feasible || (found.refusal !== undefined && CERTAIN.has(found.refusal.why))) return found;
  const refusal = noNodeLargeEnough(preemptor, snapshot) ?? found.refusal;
  return { ...found, refusal };
}

/** Refusals that stay even where another reason is found. */
const CERTAIN: ReadonlySet<Refusal['why']> = new Set(['PodsMissing', 'PodUnlikeGroup', 'EvictsInVain']);

function planAnywhere(
  preemptor: Preemptor,
  snapshot: Snapshot,
  variant: Variant,
  mayGo: (unit: PreemptionUnit) => boolean,
): PreemptionPlan {
  if (preemptor.untried !== undefined) return answer(variant, { refusal: preemptor.untried });
  const ways = BEHAVIOUR[variant];
  const state = new ClusterState(snapshot);
  const [scope] = preemptor.topology?.required ?? [];
  const placed = (): PodPlacement =>
    scope === undefined ? place(preemptor, state) : placeInDomain(preemptor, scope, { snapshot, state });
  const asItIs = placed();
  if (asItIs.fits) return answer(variant, { fits: true, placement: asItIs });
  undo(asItIs, state);
  const missing = preemptor.minimums.find((one) => counted(one, preemptor.pods) < one.count);
  if (missing !== undefined) {
    const { group, count } = missing;
    const given = counted(missing, preemptor.pods);
    return answer(variant, { refusal: { why: 'PodsMissing', group, count, given } });
  }
  if (scope !== undefined && !ways.preemptsInDomains)
    return answer(variant, { rejected: asItIs.rejected, refusal: { why: 'TopologyUnserved' } });
  if (!preemptor.preempts)
    return answer(variant, { rejected: asItIs.rejected, refusal: { why: 'NeverPreempts' } });
  const underWay = ways.waitsWhereNominated.includes(preemptor.kind)
    ? preemptionUnderWay(preemptor, snapshot, variant)
    : undefined;
  if (underWay !== undefined) return answer(variant, { rejected: asItIs.rejected, refusal: underWay });
  // kube-scheduler counts terminating Pods as possible victims.
  const leaving = ways.scheduler === undefined ? snapshot.pods.filter(({ terminating }) => terminating) : [];
  const awaited = leaving.map(({ key }) => key).sort();
  if (leaving.length > 0) {
    for (const pod of leaving) state.takeAway(pod);
    const later = place(preemptor, state);
    if (later.fits) return answer(variant, { placement: later, awaited });
    undo(later, state);
  }
  const below = preemptionUnitsOf(snapshot, preemptor, variant).filter(
    ({ priority }) => priority < preemptor.priority,
  );
  const units = below.filter(mayGo);
  if (units.length === 0) {
    const { priority } = preemptor;
    const refusal: Refusal = { why: below.length === 0 ? 'NothingBelow' : 'NothingMayGo', priority };
    return answer(variant, { rejected: asItIs.rejected, refusal });
  }
  const search = preemptor.kind === 'Gang' ? planForGang : planForPod;
  const found = search({ preemptor, state, units, budgets: snapshot.budgets, variant, placed });
  if ('rejected' in found) return answer(variant, { rejected: found.rejected });
  if (found.inVain === undefined) return answer(variant, { ...found, awaited });
  const { victims, reprieved, inVain } = found;
  const pods = victims.reduce((sum, { unit }) => sum + unit.pods.length, 0);
  return answer(variant, { victims, reprieved, refusal: { why: 'EvictsInVain', pods, clash: inVain } });
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
