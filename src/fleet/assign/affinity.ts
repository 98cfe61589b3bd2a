import { holds, unmetRequirement } from '../../k8s/label-selector.ts';
import type { Member } from './member.ts';
import type { ClusterAffinity, FieldRequirement } from './placement.ts';

/** Whether the affinity takes the cluster: every part of it has to hold. */
export const takes = ({ labels, fields, names, exclude }: ClusterAffinity, member: Member): boolean =>
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

/** A cluster may span zones: one of them is enough for In, none may be there for NotIn. */
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
