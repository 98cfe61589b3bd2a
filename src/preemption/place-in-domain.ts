import { ClusterState, type NodeState } from './cluster-state.ts';
import { place, undo, type Placement } from './place.ts';
import type { Plan } from './planned.ts';
import type { Preemptor } from './preemptor.ts';
import { compareText, type Scope, type Snapshot, type Topology } from './snapshot.ts';
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
    refusal: fits ? undefined : 'kube-scheduler 1.36 preempts for no gang with a topology constraint',
    domains: best === undefined ? [] : [{ scope, required: true, value: best.value }],
  };
}

interface Domain {
  readonly value: string;
  readonly nodes: readonly NodeState[];
}

/** By name. None where members run in several, or outside of all. */
function domainsFor(
  preemptor: Preemptor,
  { key }: Scope,
  given: { readonly state: ClusterState; readonly snapshot: Snapshot },
): Domain[] {
  const { state, snapshot } = given;
  const chosen = new Set(
    snapshot.pods
      .filter((pod) => preemptor.owns(pod))
      .map(({ nodeName }) => state.byName.get(nodeName)?.node.labels.get(key)),
  );
  if (chosen.size > 1) return [];
  const byValue = new Map<string, NodeState[]>();
  for (const one of state.nodes) {
    const value = one.node.labels.get(key);
    if (value === undefined || (chosen.size === 1 && !chosen.has(value))) continue;
    const nodes = byValue.get(value);
    if (nodes === undefined) byValue.set(value, [one]);
    else nodes.push(one);
  }
  return [...byValue]
    .map(([value, nodes]) => ({ value, nodes }))
    .sort((a, b) => compareText(a.value, b.value));
}
