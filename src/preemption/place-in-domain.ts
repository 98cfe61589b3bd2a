import type { ClusterState } from './cluster-state.ts';
import { domainsOf, domainsWith, outsideDomains, type Domain } from './topology.ts';
import { place, redo, undo, type PodPlacement } from './place.ts';
import type { Preemptor } from './preemptor.ts';
import { mostAllocated } from './scores.ts';
import type { Pod, Scope, Snapshot } from './snapshot.ts';

const MAX = 100;

/**
 * Places a gang that has a topology constraint as kube-scheduler does.
 *
 * 1. Try each domain of the label by itself, or only the one in which members run.
 * 2. Score a domain in which the gang fits by how many of the gang's Pods it holds, relative to the domain that holds the
 *    most, and by how full it is then.
 * 3. Take the highest score; of several domains, of which kube-scheduler takes one at random, the domain of the first node
 *    by name.
 */
export function placeInDomain(
  preemptor: Preemptor,
  scope: Scope,
  { snapshot, state }: { readonly snapshot: Snapshot; readonly state: ClusterState },
): PodPlacement {
  const running = snapshot.pods.filter((pod) => preemptor.owns(pod));
  const domains = domainsFor(running, scope, state);
  const fitting = domains.flatMap((domain) => {
    const placement = place(preemptor, state, domain.nodes);
    undo(placement, state);
    return placement.fits ? [{ domain, placement }] : [];
  });
  const inAll = ({ nodes }: PodPlacement): number => running.length + nodes.size;
  const most = Math.max(...fitting.map(({ placement }) => inAll(placement)));
  let best: { readonly chosen: (typeof fitting)[number]; readonly score: number } | undefined;
  for (const chosen of fitting) {
    const { domain, placement } = chosen;
    const score =
      Math.trunc((MAX * inAll(placement)) / most) +
      mostAllocated(domain.nodes, placement.nodes.keys(), state);
    if (best === undefined || score > best.score) best = { chosen, score };
  }
  if (best === undefined) {
    const inside = new Set(domains.flatMap(({ nodes }) => nodes.map(({ node }) => node.name)));
    const rejected = outsideDomains(scope, snapshot, inside);
    return { fits: false, nodes: new Map(), without: preemptor.pods, rejected };
  }
  const { domain, placement } = best.chosen;
  redo(placement, state);
  return { ...placement, domain: { scope, value: domain.value } };
}

/**
 * The domains in the order of their first nodes. None where members of the gang run in several domains, or outside of all.
 */
function domainsFor(running: readonly Pod[], { key }: Scope, state: ClusterState): Domain[] {
  const chosen = domainsWith(running, key, state);
  if (chosen.size > 1) return [];
  const first = ({ nodes: [node] }: Domain): number => (node === undefined ? -1 : state.nodes.indexOf(node));
  return domainsOf(key, state)
    .filter(({ value }) => chosen.size === 0 || chosen.has(value))
    .sort((a, b) => first(a) - first(b));
}
