import { ClusterState } from './cluster-state.ts';
import { domainsOf, domainsWith, type Domain } from './domains.ts';
import { place, undo, type Placement } from './place.ts';
import type { Plan } from './planned.ts';
import type { Preemptor } from './preemptor.ts';
import type { Scope, Snapshot, Topology } from './snapshot.ts';
import { outsideDomains } from './topology.ts';

/**
 * What kube-scheduler 1.36 does with a gang that has a topology constraint: it tries each domain of the label by itself,
 * or only the one in which members run, and takes the one that holds the most Pods; of several, which it leaves to chance,
 * the first by name. It preempts nobody for such a gang.
 */
export function placeInDomain(preemptor: Preemptor, { required }: Topology, snapshot: Snapshot): Plan {
  const state = new ClusterState(snapshot);
  const [scope = { groups: undefined, key: '' }] = required;
  const domains = domainsFor(preemptor, scope, { state, snapshot });
  let best: { readonly value: string; readonly placement: Placement } | undefined;
  for (const { value, nodes } of domains) {
    const placement = place(preemptor, state, nodes);
    undo(placement, state);
    const most = best?.placement.nodes.size ?? 0;
    if (placement.fits && placement.nodes.size > most) best = { value, placement };
  }
  const inside = new Set(domains.flatMap(({ nodes }) => nodes.map(({ node }) => node.name)));
  const fits = best !== undefined;
  return {
    ...{ variant: 'kube-1.36', fits, feasible: fits, victims: [], reprieved: [], awaited: [] },
    placement: new Map([...(best?.placement.nodes ?? [])].map(([pod, { node }]) => [pod.key, node.name])),
    rejected: fits ? [] : outsideDomains(scope, snapshot, inside),
    refusal: fits ? undefined : { why: 'TopologyUnserved' },
    domains: best === undefined ? [] : [{ scope, required: true, value: best.value }],
  };
}

/** By name. None where members run in several, or outside of all. */
function domainsFor(
  preemptor: Preemptor,
  { key }: Scope,
  given: { readonly state: ClusterState; readonly snapshot: Snapshot },
): Domain[] {
  const { state, snapshot } = given;
  const chosen = domainsWith(
    snapshot.pods.filter((pod) => preemptor.owns(pod)),
    key,
    state,
  );
  if (chosen.size > 1) return [];
  return domainsOf(key, state).filter(({ value }) => chosen.size === 0 || chosen.has(value));
}
