import type { ClusterState } from './cluster-state.ts';
import { isMinded } from './fit.ts';
import type { Preemptor } from './preemptor.ts';
import { speaksOf, type Pod, type Snapshot } from './snapshot.ts';
import type { DomainChoice } from './topology.ts';
import type { PreemptionUnit } from './units.ts';

/**
 * Gives for a choice of domains the part of the cluster that decides about it, so that a search in a rack does not look at all
 * nodes: the nodes of the domains, with the Pods on them and the other Pods of the units that these belong to. It is the
 * whole cluster where some Pods may be outside of the domains, or where inter-Pod constraints look beyond them.
 * @param units of which the Pods below the preemptor consist
 */
export function partsOf(
  preemptor: Preemptor,
  snapshot: Snapshot,
  { state, units }: { readonly state: ClusterState; readonly units: readonly PreemptionUnit[] },
): (choice: DomainChoice) => Snapshot {
  if (!mindsTheDomainOnly(preemptor.pods) || isMinded(preemptor, state)) return () => snapshot;
  const members = [...new Map(preemptor.pods.map((pod) => [pod.group, pod])).values()];
  const onNode = Map.groupBy(snapshot.pods, ({ nodeName }) => nodeName);
  const together = new Map<Pod, readonly Pod[]>();
  for (const { pods } of units) if (pods.length > 1) for (const pod of pods) together.set(pod, pods);
  return (choice) => {
    const bound = members.map((pod) => choice.filter(({ scope }) => speaksOf(scope, pod)));
    if (bound.some((own) => own.length === 0)) return snapshot;
    const nodes = snapshot.nodes.filter(({ labels }) =>
      bound.some((own) => own.every(({ scope, value }) => labels.get(scope.key) === value)),
    );
    const pods = new Set<Pod>();
    for (const { name } of nodes)
      for (const pod of onNode.get(name) ?? []) for (const one of together.get(pod) ?? [pod]) pods.add(one);
    return { ...snapshot, nodes, pods: [...pods] };
  };
}

/** Whether the Pods' own inter-Pod constraints count no Pod outside: a spread that honours affinity counts in the domain alone. */
const mindsTheDomainOnly = (pods: readonly Pod[]): boolean =>
  pods.every(
    ({ constraints: { affinity, antiAffinity, spread } }) =>
      affinity.length + antiAffinity.length === 0 && spread.every(({ honoursAffinity }) => honoursAffinity),
  );
