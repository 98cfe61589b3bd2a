import { fault, keyed, type Fault } from '../../api/fault.ts';
import { isDnsLabel, isServiceName } from '../../k8s/name-syntax.ts';
import { indexInRanges, lastInRange, namedHosts } from '../../api/host-ranges.ts';
import {
  gangServiceName,
  hostDomain,
  hostList,
  hostNames,
  rangesOf,
  type HostGroup,
  type HpcGang,
} from './hosts.ts';
import type { PodPatch, PodReader } from '../preparer.ts';
import { ANNOTATION_EXPECTED_PODS, ANNOTATION_HOSTS } from '../../api/names.ts';
import { expectedPods } from '../../gang/expected-pods.ts';

/** DNS name by which the gang reaches this Pod. */
export interface HostName {
  readonly hostname: string;
  readonly subdomain: string;
  /** Index of the Pod among the hosts of its group; 0 while the gang is not made. */
  readonly index: number;
}

/**
 * The host name of a Pod. All Pods of a gang get the list of hosts before any Pod starts: the names of its annotation, or
 * `<group>-0`, `<group>-1` and so on. In the second case a Pod with another name gets such a host name by the number at the
 * end of its own name, since without a subdomain no DNS record had that name. A Pod with a subdomain keeps its name, because
 * others may use it; it is refused when it is not in the list. A Pod that comes before its gang keeps its name, after which
 * the gang names its hosts.
 */
export function hostNameOf(
  pod: PodReader,
  gang: HpcGang,
  group: string,
  groups: readonly HostGroup[],
): HostName | Fault {
  const given = textAt(pod, 'hostname');
  const ownDomain = textAt(pod, 'subdomain');
  const subdomain = ownDomain ?? gangServiceName(gang.name);
  const found = given ?? pod.name ?? '';
  if (gang.unmade === true) {
    // A name that is made up for one Pod may end with a number by chance.
    if (given === undefined) return fault('HpcHostRequired', 'spec.hostname');
    return { hostname: given, subdomain, index: 0 };
  }
  if (found === '') return fault('HpcHostRequired', 'spec.hostname');
  const own = groups.find((one) => one.group === group);
  if (own?.ranges !== undefined) {
    const at = indexInRanges(own.ranges, found);
    if (at !== undefined) return { hostname: found, subdomain, index: at };
    const where = given === undefined ? 'metadata.name' : 'spec.hostname';
    return fault('HpcHostUnlisted', where, { value: found, detail: `of ${group} they are ${hostList(own)}` });
  }
  const index = /-(0|[1-9][0-9]{0,5})$/.exec(found)?.[1];
  const hostname = `${group}-${index ?? '0'}`;
  const field = given === undefined ? 'metadata.name' : 'spec.hostname';
  if (index === undefined || (hostname !== found && ownDomain !== undefined)) {
    return fault('HpcHostUnlisted', field, { value: found, detail: `for one, ${hostname}` });
  }
  const hosts = own?.hosts ?? 0;
  if (Number(index) < hosts) return { hostname, subdomain, index: Number(index) };
  return fault('HpcHostUnlisted', field, { value: found, detail: `group ${group} has ${hosts} hosts` });
}

/** Faults of a Pod's host name and domain: they must be DNS names, not too long, and visible to other Pods. */
export function checkHostName(
  pod: PodReader,
  { hostname, subdomain }: HostName,
  clusterDomain: string,
): Fault[] {
  const faults: Fault[] = [];
  const override = textAt(pod, 'hostnameOverride');
  if (override !== undefined) {
    faults.push(fault('HpcNetworkForbidden', 'spec.hostnameOverride', { value: override }));
  }
  const field = hostname === pod.name ? 'metadata.name' : 'spec.hostname';
  const whole = `${hostname}.${hostDomain(subdomain, pod.namespace, clusterDomain)}`;
  const isDomain = isServiceName(subdomain) && whole.length <= 253;
  if (!isDnsLabel(hostname) || !isDomain) {
    faults.push(fault('HpcHostInvalid', field, { value: isDnsLabel(hostname) ? whole : hostname }));
  }
  return faults;
}

/**
 * Sets `hostname` and `subdomain` to the name that the other Pods know. `hostname` is set also where the Pod has that name
 * already: a cluster's DNS knows only hosts whose Pods have it in their spec.
 */
export function setHostName(pod: PodReader, { hostname, subdomain }: HostName, patch: PodPatch): void {
  if (textAt(pod, 'hostname') !== hostname) {
    patch.set('spec.hostname', hostname, 'the name by which the others are told of it');
  }
  if (textAt(pod, 'subdomain') !== subdomain) {
    patch.set('spec.subdomain', subdomain, 'the Pods of the gang find each other by this Service');
  }
}

function textAt(pod: PodReader, field: string): string | undefined {
  const value = pod.at(['spec', field]);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * All faults that prevent a fixed list of hosts for the gang, as far as they can be found without its Pods.
 * @param groups the gang's hosts, from `hostGroups`
 * @param subdomain of the gang's Pods, when they have their own
 */
export function checkHosts(
  gang: HpcGang,
  groups: readonly HostGroup[],
  { subdomain, clusterDomain }: { readonly subdomain: string | undefined; readonly clusterDomain: string },
): Fault[] {
  const service = gangServiceName(gang.name);
  return [
    ...checkExpected(gang),
    ...checkNamed(gang, groups),
    ...(groups.length === 0 ? [fault('HpcHostsNone', 'spec.podgroups')] : []),
    ...(subdomain !== undefined || isServiceName(service)
      ? []
      : [fault('HpcServiceNameInvalid', 'metadata.name', { value: gang.name })]),
    ...checkHostNames(gang, groups, hostDomain(subdomain ?? service, gang.namespace, clusterDomain)),
  ];
}

/** Faults in the expected Pods. Elsewhere they are warnings; here a wrong number leaves a host without a name. */
const checkExpected = (gang: HpcGang): Fault[] =>
  expectedPods(gang).faults.map((detail) =>
    fault('HpcExpectedInvalid', keyed('metadata.annotations', ANNOTATION_EXPECTED_PODS), { detail }),
  );

/** Faults in the annotation with the host names: it has to name a host for each expected Pod, and each once. */
function checkNamed(gang: HpcGang, groups: readonly HostGroup[]): Fault[] {
  const { faults } = namedHosts(gang);
  const { counts } = expectedPods(gang);
  const few = groups.flatMap(({ group, hosts, ranges }) => {
    const expected = counts[gang.spec.groups.findIndex(({ name }) => name === group)] ?? 0;
    return ranges === undefined || hosts >= expected
      ? []
      : [`${hosts} of group ${group}, of which ${expected} Pods are expected`];
  });
  const names = groups.some(({ ranges }) => ranges !== undefined) ? hostNames(groups) : [];
  const twice = new Set(names).size < names.length ? ['a host is named twice'] : [];
  return [...faults, ...few, ...twice].map((detail) =>
    fault('HpcHostsInvalid', keyed('metadata.annotations', ANNOTATION_HOSTS), { detail }),
  );
}

function checkHostNames(gang: HpcGang, groups: readonly HostGroup[], domain: string): Fault[] {
  return groups.flatMap((one) => {
    const index = gang.spec.groups.findIndex(({ name }) => name === one.group);
    const field =
      one.ranges === undefined
        ? `spec.podgroups[${index}].name`
        : keyed('metadata.annotations', ANNOTATION_HOSTS);
    const host = rangesOf(one)
      .map(lastInRange)
      .reduce((a, b) => (b.length > a.length ? b : a));
    if (!isDnsLabel(host)) {
      const detail = host.length > 63 ? `${host.length} characters` : 'of this group they would not be';
      return [fault('HpcHostNameInvalid', field, { value: host, detail })];
    }
    const { length } = `${host}.${domain}`;
    return length <= 253 ? [] : [fault('HpcDomainTooLong', field, { detail: `${length} characters` })];
  });
}
