import type { ClusterState } from './cluster-state.ts';
import type { Domain } from './domains.ts';
import type { PreemptionUnit } from './units.ts';
import { putBack, removed } from './verdicts.ts';

/**
 * The domains in which the room costs the lowest priority first: units go from the lowest priority up until a domain is
 * large enough. Of those that cost as much the one with more room as it is comes first, then the first by name.
 * @param units all gone from the state, as they are afterwards
 * @param roomIn how many Pods a domain takes now, as far as they are wanted
 * @param wanted so many make it large enough
 */
export function byPriorityToGo(
  domains: readonly Domain[],
  { state, units }: { readonly state: ClusterState; readonly units: readonly PreemptionUnit[] },
  { roomIn, wanted }: { readonly roomIn: (domain: Domain) => number; readonly wanted: number },
): Domain[] {
  for (const unit of units) putBack(unit, state);
  const ofNode = new Map(domains.flatMap((domain) => domain.nodes.map(({ node }) => [node.name, domain])));
  const free = new Map(domains.map((domain) => [domain, roomIn(domain)]));
  const cost = new Map<Domain, number>();
  const levels = [...Map.groupBy(units, ({ priority }) => priority)].sort(([a], [b]) => a - b);
  for (const [domain, room] of free) if (room >= wanted) cost.set(domain, -Infinity);
  for (const [priority, alike] of levels) {
    const touched = new Set<Domain>();
    for (const unit of alike) {
      removed(unit, state);
      for (const { nodeName } of unit.pods) {
        const domain = ofNode.get(nodeName);
        if (domain !== undefined && !cost.has(domain)) touched.add(domain);
      }
    }
    for (const domain of touched) if (roomIn(domain) >= wanted) cost.set(domain, priority);
  }
  const costOf = (domain: Domain): number => cost.get(domain) ?? Infinity;
  return [...domains].sort((a, b) =>
    costOf(a) === costOf(b) ? (free.get(b) ?? 0) - (free.get(a) ?? 0) : costOf(a) - costOf(b),
  );
}
