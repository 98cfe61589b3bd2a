import { ANNOTATION_EXPECTED_PODS } from '../api/names.ts';
import { fault, keyed, type Fault } from '../api/fault.ts';
import { isDnsLabel, isServiceName } from '../api/name-syntax.ts';
import { didYouMean } from '../api/nearest-key.ts';
import { expectedPods } from '../gang/plan/expected-pods.ts';
import { fluxDomain, fluxServiceName } from './flux-names.ts';
import type { FluxSettings } from './flux-settings.ts';
import { hostCount, hostGroups, quorumOf, type FluxGang, type HostGroup } from './hosts.ts';

/**
 * Everything by which a gang cannot run under Flux with these settings, as far as it shows without its Pods. Fields of
 * settings are those of the HPCPolicy, all others those of the PodGang.
 * @param subdomain of its Pods, where they have one of their own
 */
export function checkFluxGang(gang: FluxGang, settings: FluxSettings, subdomain?: string): Fault[] {
  const groups = hostGroups(gang, settings);
  return [
    ...checkExpected(gang),
    ...(groups.length === 0 ? [fault('HpcHostsNone', 'spec.podgroups')] : []),
    ...checkService(gang, subdomain),
    ...checkHostNames(gang, settings, groups, subdomain ?? fluxServiceName(gang.name)),
    ...checkLead(gang, settings, groups),
    ...checkQuorum(gang, settings, groups),
  ];
}

const setting = (name: string): string => keyed('spec.hpc.settings', name);

/** What is a warning elsewhere is a broker without a name here. */
const checkExpected = (gang: FluxGang): Fault[] =>
  expectedPods(gang).faults.map((detail) =>
    fault('HpcExpectedInvalid', keyed('metadata.annotations', ANNOTATION_EXPECTED_PODS), { detail }),
  );

const checkService = ({ name }: FluxGang, subdomain: string | undefined): Fault[] =>
  subdomain !== undefined || isServiceName(fluxServiceName(name))
    ? []
    : [fault('HpcServiceNameInvalid', 'metadata.name', { value: name })];

function checkHostNames(
  gang: FluxGang,
  settings: FluxSettings,
  groups: readonly HostGroup[],
  subdomain: string,
): Fault[] {
  return groups.flatMap(({ group, hosts }) => {
    const index = gang.spec.groups.findIndex(({ name }) => name === group);
    const field = `spec.podgroups[${index}].name`;
    const host = `${group}-${hosts - 1}`;
    if (!isDnsLabel(host)) {
      const detail = host.length > 63 ? `${host.length} characters` : 'of this group they would not be';
      return [fault('HpcHostNameInvalid', field, { value: host, detail })];
    }
    const { length } = `${host}.${fluxDomain(subdomain, gang.namespace, settings)}`;
    return length <= 253 ? [] : [fault('HpcDomainTooLong', field, { detail: `${length} characters` })];
  });
}

function checkLead(gang: FluxGang, { leadGroup }: FluxSettings, groups: readonly HostGroup[]): Fault[] {
  if (leadGroup === undefined || groups.some(({ group }) => group === leadGroup)) return [];
  const names = gang.spec.groups.map(({ name }) => name);
  const detail = names.includes(leadGroup) ? undefined : didYouMean(leadGroup, names);
  return [fault('HpcLeadGroupUnknown', setting('lead-group'), { value: leadGroup, detail })];
}

function checkQuorum(gang: FluxGang, settings: FluxSettings, groups: readonly HostGroup[]): Fault[] {
  const [quorum, hosts] = [quorumOf(gang, settings), hostCount(groups)];
  if (quorum <= hosts && quorum > 0) return [];
  // Without a quorum of its own that is the minimum, which is never more than what is expected.
  if (settings.quorum === undefined) {
    return hosts === 0 ? [] : [fault('HpcHostsNone', 'spec.podgroups', { detail: 'every minimum is 0' })];
  }
  return [
    fault('HpcQuorumTooLarge', setting('quorum'), { value: String(quorum), detail: `${hosts} are expected` }),
  ];
}
