import { ANNOTATION_HOSTS, GATE_POD_GANG_PENDING } from '../../api/names.ts';
import type { PodRecord } from '../../gang/records.ts';
import { hostGroups, hostList, hostNames } from '../../preparers/hosts/hosts.ts';
import type { HpcGang, HpcPolicy } from '../../preparers/preparer-factory.ts';

/**
 * Why one of the gang's Pods that still have a gate cannot start with the others: it is not prepared by the policy as it is,
 * or it came before its gang and has a host name that the gang does not list.
 */
export function unfitPod(
  gang: HpcGang,
  { name: policy, managed }: Pick<HpcPolicy, 'name' | 'managed'>,
  mark: string,
  pods: readonly PodRecord[],
): string | undefined {
  const gated = pods.filter(({ gates }) => gates.includes(GATE_POD_GANG_PENDING));
  const wrong = gated.find(({ prepared }) => prepared !== mark);
  if (wrong !== undefined)
    return `Pod ${wrong.name} is not prepared by HPCPolicy ${policy} as it is now: delete it, so that it is made anew`;
  // Only another workload manager itself knows the hosts of its program.
  if (managed !== undefined || !gang.annotations.has(ANNOTATION_HOSTS)) return undefined;
  for (const group of hostGroups(gang)) {
    const hosts = new Set(hostNames([group]));
    const stranger = gated.find((pod) => pod.group === group.group && !hosts.has(pod.hostname ?? ''));
    if (stranger !== undefined)
      return `Pod ${stranger.name} has the host name ${stranger.hostname ?? ''}, and ${ANNOTATION_HOSTS} of the gang says ${hostList(group)} for its group`;
  }
  return undefined;
}
