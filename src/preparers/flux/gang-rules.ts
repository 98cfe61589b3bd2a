import { fault, keyed, type Fault } from '../../api/fault.ts';
import { didYouMean } from '../../text/nearest-key.ts';
import type { FluxSettings } from './settings.ts';
import { checkHosts } from '../hosts/host-rules.ts';
import { hostCount, hostGroups, quorumOf, type HpcGang, type HostGroup } from '../hosts/hosts.ts';

/**
 * Everything by which a gang cannot run under Flux with these settings, as far as it shows without its Pods. Fields of
 * settings are those of the HPCPolicy, all others those of the PodGang.
 * @param subdomain of its Pods, where they have one of their own
 */
export function checkFluxGang(gang: HpcGang, settings: FluxSettings, subdomain?: string): Fault[] {
  const groups = hostGroups(gang, settings.leadGroup);
  return [
    ...checkHosts(gang, groups, { subdomain, clusterDomain: settings.clusterDomain }),
    ...checkLead(gang, settings, groups),
    ...checkQuorum(gang, settings, groups),
  ];
}

const setting = (name: string): string => keyed('spec.hpc.settings', name);

function checkLead(gang: HpcGang, { leadGroup }: FluxSettings, groups: readonly HostGroup[]): Fault[] {
  if (leadGroup === undefined || groups.some(({ group }) => group === leadGroup)) return [];
  const names = gang.spec.groups.map(({ name }) => name);
  const detail = names.includes(leadGroup) ? undefined : didYouMean(leadGroup, names);
  return [fault('HpcLeadGroupUnknown', setting('lead-group'), { value: leadGroup, detail })];
}

function checkQuorum(gang: HpcGang, settings: FluxSettings, groups: readonly HostGroup[]): Fault[] {
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
