import { ClusterState, type NodeState } from './cluster-state.ts';
import type { Plan } from './planned.ts';
import { cheaper, costOf } from './plan-pod.ts';
import { place, undo } from './place.ts';
import type { Rejection } from './predicates/predicates.ts';
import type { Preemptor } from './preemptor.ts';
import { unitsOf } from './units.ts';
import { compareText, type Constraints, type Snapshot } from './snapshot.ts';

/** Of so many domains in which room could be made the cheapest is taken; each is a search of its own. */
const MOST_SEARCHED = 16;

interface Domain {
  readonly value: string;
  readonly nodes: readonly NodeState[];
}

/**
 * A gang whose Pods need the same value of a node label: in the first domain, by name, in which it fits as it is; else in
 * the one where making room costs least, compared as the nodes for a single Pod are. Members that run already have chosen.
 * @param search plans for a preemptor that may be anywhere
 */
export function planInOneDomain(
  preemptor: Preemptor,
  key: string,
  snapshot: Snapshot,
  search: (confined: Preemptor) => Plan,
): Plan {
  const state = new ClusterState(snapshot);
  const domains = domainsOf(state, key, preemptor, snapshot);
  const fitsIn = ({ nodes }: Domain): boolean => {
    const placement = place(preemptor, state, nodes);
    undo(placement, state);
    return placement.fits;
  };
  const now = domains.find(fitsIn);
  if (now !== undefined) return search(confined(preemptor, key, now.value));
  // Whatever is below goes: where the gang does not fit even then, nothing has to be searched.
  if (preemptor.preempts)
    for (const { priority, pods } of unitsOf(snapshot, preemptor, 'kep'))
      if (priority < preemptor.priority) for (const pod of pods) state.takeAway(pod);
  for (const pod of snapshot.pods) if (pod.terminating) state.takeAway(pod);
  const possible = domains.filter(fitsIn).slice(0, MOST_SEARCHED);
  let best: { readonly plan: Plan; readonly cost: readonly number[] } | undefined;
  for (const { value } of possible) {
    const plan = search(confined(preemptor, key, value));
    if (!plan.feasible) continue;
    const found = { plan, cost: costOf(plan) };
    if (best === undefined || cheaper(found, best)) best = found;
  }
  if (best !== undefined) return best.plan;
  const first = search(confined(preemptor, key, domains[0]?.value ?? ''));
  return { ...first, rejected: rejectedBy(domains, key, snapshot) };
}

function domainsOf(
  state: ClusterState,
  key: string,
  preemptor: Preemptor,
  snapshot: Snapshot,
): readonly Domain[] {
  const byValue = new Map<string, NodeState[]>();
  for (const one of state.nodes) {
    const value = one.node.labels.get(key);
    if (value === undefined) continue;
    const nodes = byValue.get(value);
    if (nodes === undefined) byValue.set(value, [one]);
    else nodes.push(one);
  }
  const chosen = new Set(
    snapshot.pods
      .filter((pod) => preemptor.owns(pod))
      .map(({ nodeName }) => state.byName.get(nodeName)?.node.labels.get(key)),
  );
  return [...byValue]
    .filter(([value]) => chosen.size === 0 || chosen.has(value))
    .map(([value, nodes]) => ({ value, nodes }))
    .sort((a, b) => compareText(a.value, b.value));
}

/** The same gang, whose Pods may be in one domain only. Pods that share their constraints still do. */
function confined(preemptor: Preemptor, key: string, value: string): Preemptor {
  const known = new Map<Constraints, Constraints>();
  const within = (constraints: Constraints): Constraints => {
    const found = known.get(constraints);
    if (found !== undefined) return found;
    const nodeSelector = new Map([...constraints.nodeSelector, [key, value] as const]);
    const narrowed = { ...constraints, nodeSelector };
    known.set(constraints, narrowed);
    return narrowed;
  };
  const pods = preemptor.pods.map((pod) => ({ ...pod, constraints: within(pod.constraints) }));
  return { ...preemptor, pods, topology: undefined };
}

/** Why no node will do: it is in no domain, or in one that is too small for the whole gang. */
function rejectedBy(domains: readonly Domain[], key: string, { nodes }: Snapshot): Rejection[] {
  const inside = new Set(domains.flatMap((domain) => domain.nodes.map(({ node }) => node.name)));
  return nodes.map(({ name }) => ({
    node: name,
    predicate: 'TopologyConstraint',
    messages: [
      inside.has(name)
        ? `node(s) in a domain of ${key} without room for the whole gang`
        : `node(s) in no domain of ${key} that the gang may use`,
    ],
  }));
}
