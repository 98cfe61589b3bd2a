import { ANNOTATION_EXPECTED_PODS } from '../../api/names.ts';
import { fault, keyed, type Fault } from '../../api/fault.ts';
import { isDnsLabel, isServiceName } from '../../k8s/name-syntax.ts';
import { expectedPods } from '../../gang/expected-pods.ts';
import { gangServiceName } from './gang-service.ts';
import { hostDomain, type HostGroup, type HpcGang } from './hosts.ts';

/**
 * Everything by which the Pods of a gang cannot be told of each other beforehand, as far as it shows without them.
 * @param groups its hosts, of `hostGroups`
 * @param subdomain of its Pods, where they have one of their own
 */
export function checkHosts(
  gang: HpcGang,
  groups: readonly HostGroup[],
  { subdomain, clusterDomain }: { readonly subdomain: string | undefined; readonly clusterDomain: string },
): Fault[] {
  const service = gangServiceName(gang.name);
  return [
    ...checkExpected(gang),
    ...(groups.length === 0 ? [fault('HpcHostsNone', 'spec.podgroups')] : []),
    ...(subdomain !== undefined || isServiceName(service)
      ? []
      : [fault('HpcServiceNameInvalid', 'metadata.name', { value: gang.name })]),
    ...checkHostNames(gang, groups, hostDomain(subdomain ?? service, gang.namespace, clusterDomain)),
  ];
}

/** What is a warning elsewhere is a host without a name here. */
const checkExpected = (gang: HpcGang): Fault[] =>
  expectedPods(gang).faults.map((detail) =>
    fault('HpcExpectedInvalid', keyed('metadata.annotations', ANNOTATION_EXPECTED_PODS), { detail }),
  );

function checkHostNames(gang: HpcGang, groups: readonly HostGroup[], domain: string): Fault[] {
  return groups.flatMap(({ group, hosts }) => {
    const index = gang.spec.groups.findIndex(({ name }) => name === group);
    const field = `spec.podgroups[${index}].name`;
    const host = `${group}-${hosts - 1}`;
    if (!isDnsLabel(host)) {
      const detail = host.length > 63 ? `${host.length} characters` : 'of this group they would not be';
      return [fault('HpcHostNameInvalid', field, { value: host, detail })];
    }
    const { length } = `${host}.${domain}`;
    return length <= 253 ? [] : [fault('HpcDomainTooLong', field, { detail: `${length} characters` })];
  });
}
