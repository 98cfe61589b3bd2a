import { fault } from '../../api/fault.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { checkGangName, checkGroups } from './check-spec.ts';
import { listed } from '../status-text.ts';

/**
 * What is wrong with a spec that was stored past the webhook, in admission's own words; undefined for nothing. Such a
 * gang stays as it is until somebody mends it: the webhook would refuse to have references written into it, and which
 * group a Pod is of may not be clear. References count for nothing here: the loop itself mends those.
 */
export function specFaults(gang: PodGang): string | undefined {
  const named = gang.spec.groups.map((group) => ({ ...group, podReferences: undefined }));
  const own = gang.spec.groups.flatMap(({ name, minReplicas }, index) => [
    ...(name === '' ? [fault('GroupNameInvalid', `spec.podgroups[${index}].name`, { value: name })] : []),
    ...(minReplicas < 0
      ? [fault('MinReplicasInvalid', `spec.podgroups[${index}].minReplicas`, { value: minReplicas })]
      : []),
  ]);
  const faults = [
    ...checkGangName(gang),
    ...checkGroups({ ...gang, spec: { ...gang.spec, groups: named } }),
    ...own,
  ];
  if (faults.length === 0) return undefined;
  return listed(
    faults.map(({ field, message }) => `${field}: ${message}`),
    faults.length === 2 ? 'fault' : 'faults',
    1,
  );
}
