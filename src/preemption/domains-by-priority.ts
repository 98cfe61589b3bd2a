import type { ClusterState } from './cluster-state.ts';
import { putBack, removed } from './search.ts';
import type { Domain } from './topology.ts';
import type { PreemptionUnit } from './units.ts';

/**
 * Sorts domains by the priority that has to be preempted to make them large enough: units are taken from the lowest priority
 * up until the domain is, so nothing can be evicted for less. Of domains with the same cost the one with more free capacity
 * comes first, then the first by name.
 * @param units units that were all taken out of the state; they are out of it afterwards as well
 * @param capacityIn how many of the wanted Pods a domain takes now
 * @param wanted how many Pods make a domain large enough
 */
export function byPriorityToGo(
  domains: readonly Domain[],
  { state, units }: { readonly state: ClusterState; readonly units: readonly PreemptionUnit[] },
  { capacityIn, wanted }: { readonly capacityIn: (domain: Domain) => number; readonly wanted: number },
): { readonly sorted: readonly Domain[]; readonly levels: ReadonlyMap<string, number> } {
  for (const unit of units) putBack(unit, state);
  const ofNode = new Map(domains.flatMap((domain) => domain.nodes.map(({ node }) => [node.name, domain])));
  const free = new Map(domains.map((domain) => [domain, capacityIn(domain)]));
  const cost = new Map<Domain, number>();
  const levels = [...Map.groupBy(units, ({ priority }) => priority)].sort(([a], [b]) => a - b);
  for (const [domain, capacity] of free) if (capacity >= wanted) cost.set(domain, -Infinity);
  for (const [priority, alike] of levels) {
    const touched = new Set<Domain>();
    for (const unit of alike) {
      removed(unit, state);
      for (const { nodeName } of unit.pods) {
        const domain = ofNode.get(nodeName);
        if (domain !== undefined && !cost.has(domain)) touched.add(domain);
      }
    }
    for (const domain of touched) if (capacityIn(domain) >= wanted) cost.set(domain, priority);
  }
  const costOf = (domain: Domain): number => cost.get(domain) ?? Infinity;
  const sorted = domains.toSorted((a, b) =>
    costOf(a) === costOf(b) ? (free.get(b) ?? 0) - (free.get(a) ?? 0) : costOf(a) - costOf(b),
  );
  return { sorted, levels: new Map(domains.map((domain) => [domain.value, costOf(domain)])) };
}
