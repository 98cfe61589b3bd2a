import { byAge, isGated, isScheduled, type GroupCensus } from './census.ts';
import type { ReleaseOrder } from '../records.ts';

/**
 * The Pods whose turn it is, by name. `all-at-once`: every one. `minimum-first`: where the scheduler knows one flat
 * count for several groups, that count is reached by the wrong Pods (four workers and no leader) unless exactly the
 * minimum of every group is let go first; the rest follows once every group has its minimum bound.
 *
 * `optional-groups-last`: where the scheduler counts each group by itself, and one without a minimum for none of the
 * others: its Pods would take the room of those that have to start.
 *
 * Pods let go before count, so a replacement takes the place of the one it replaces, and nothing more is let go for
 * a Pod that is slow to be bound. A Failed Pod has no place.
 */
export function podsInTurn(census: readonly GroupCensus[], order: ReleaseOrder): Set<string> {
  const all = order === 'all-at-once' || isScheduled(census);
  return new Set(
    census.flatMap((group) => {
      const optional = group.minReplicas === 0;
      if (all || (order === 'optional-groups-last' && !optional))
        return group.members.filter(isGated).map((pod) => pod.name);
      const released = group.present.filter((pod) => !isGated(pod)).length;
      const places = Math.max(0, group.minReplicas - released);
      return group.present
        .filter((pod) => isGated(pod) && group.referenced.has(pod.name))
        .sort(byAge)
        .slice(0, places)
        .map((pod) => pod.name);
    }),
  );
}
