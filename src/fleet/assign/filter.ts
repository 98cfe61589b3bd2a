import { printable } from '../../text/printable.ts';
import { untolerated } from '../../k8s/taints.ts';
import { isWorkload, type Binding } from './binding.ts';
import type { Member } from './member.ts';
import type { ClusterAffinity, Placement, FieldRequirement } from './placement.ts';
import { holds, unmetRequirement } from '../../k8s/label-selector.ts';

/** Names of the affinity groups in the order in which they are tried; one empty name when the placement has no groups. */
export const groupsOf = (placement: Placement | undefined): readonly string[] =>
  placement === undefined || placement.affinity !== undefined || placement.affinities.length === 0
    ? ['']
    : placement.affinities.map(({ name }) => name);

/** Affinities by tier: the affinity of the placement or of the group, followed by its overflow affinities. */
export function tiersOf(binding: Binding, group: string): readonly ClusterAffinity[] | undefined {
  const { placement } = binding;
  if (placement?.affinity !== undefined) return [placement.affinity];
  const found = placement?.affinities.find(({ name }) => name === group);
  if (found === undefined) return undefined;
  return [found.affinity, ...(isWorkload(binding) ? found.overflow : [])];
}

/**
 * Karmada's message why the workload may not go to the cluster; undefined when it may. In a cluster where the workload is
 * already, missing APIs and taints do not exclude it: other controllers evict it.
 * @param tier index of the affinity that matches the cluster; -1 when none does
 */
export function obstacle(binding: Binding, member: Member, tier: number): string | undefined {
  const { placement, clusters, kind, evicting } = binding;
  const isThere = clusters.some(({ name }) => name === member.name);
  if (!isThere && !member.kinds.has(kind)) return 'cluster(s) did not have the API resource';
  const taint = isThere
    ? undefined
    : untolerated(member.taints, placement?.tolerations ?? [], ['NoSchedule', 'NoExecute']);
  if (taint !== undefined) {
    const value = taint.value === '' ? '' : `=${taint.value}`;
    return `cluster(s) had untolerated taint ${printable(`{${taint.key}${value}:${taint.effect}}`)}`;
  }
  if (tier < 0) return 'cluster(s) did not match the placement cluster affinity constraint';
  for (const { field } of placement?.spread ?? []) {
    if (field === 'provider' && member.provider === '') return 'cluster(s) did not have provider property';
    if (field === 'region' && member.region === '') return 'cluster(s) did not have region property';
    if (field === 'zone' && member.zones.length === 0) return 'cluster(s) did not have zones property';
  }
  return evicting.has(member.name) ? 'cluster(s) is in the process of eviction' : undefined;
}

/** Whether every part of the affinity matches the cluster. */
export const affinityMatches = (
  { labels, fields, names, exclude }: ClusterAffinity,
  member: Member,
): boolean =>
  !exclude.includes(member.name) &&
  (names.length === 0 || names.includes(member.name)) &&
  (labels === undefined || unmetRequirement(labels, member.labels) === undefined) &&
  fields.every((one) => fieldHolds(one, member));

function fieldHolds({ key, operator, values }: FieldRequirement, member: Member): boolean {
  if (key === 'zone') return zonesHold(operator, values, member.zones);
  const value = key === 'provider' ? member.provider : key === 'region' ? member.region : '';
  switch (operator) {
    case 'In':
    case 'NotIn':
    case 'Exists':
    case 'DoesNotExist':
      return holds(operator, value === '' ? undefined : value, values);
    default:
      return false;
  }
}

/** A cluster may span zones: In matches when one zone is listed, NotIn when none is. */
function zonesHold(operator: string, values: readonly string[], zones: readonly string[]): boolean {
  const some = zones.some((zone) => values.includes(zone));
  switch (operator) {
    case 'In':
      return some;
    case 'NotIn':
      return !some;
    case 'Exists':
      return zones.length > 0;
    case 'DoesNotExist':
      return zones.length === 0;
    default:
      return false;
  }
}
