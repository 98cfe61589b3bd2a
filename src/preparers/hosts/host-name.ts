import { fault, type Fault } from '../../api/fault.ts';
import { isDnsLabel, isServiceName } from '../../k8s/name-syntax.ts';
import { gangServiceName } from './gang-service.ts';
import { hostDomain, type HostGroup, type HpcGang } from './hosts.ts';
import type { PodPatch, PodReader } from '../preparer.ts';

/** By what the other Pods of its gang find a Pod. */
export interface HostName {
  readonly hostname: string;
  readonly subdomain: string;
  /** Of the Pod in its group: the number at the end of its host name. */
  readonly index: number;
}

/**
 * What is told to all Pods of a gang is told before there are any: the hosts of a group are `<group>-0`, `<group>-1` and so
 * on. A Pod that is called otherwise gets such a name, by the number at the end of its own: without a subdomain no DNS
 * knew the name that it had. One with a subdomain keeps its name, as others may know it by that.
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
  if (found === '') return fault('HpcHostRequired', 'spec.hostname');
  const index = /-(0|[1-9][0-9]{0,5})$/.exec(found)?.[1];
  const hostname = `${group}-${index ?? '0'}`;
  const field = given === undefined ? 'metadata.name' : 'spec.hostname';
  if (index === undefined || (hostname !== found && ownDomain !== undefined)) {
    return fault('HpcHostUnlisted', field, { value: found, detail: `for one, ${hostname}` });
  }
  const hosts = groups.find((one) => one.group === group)?.hosts ?? 0;
  if (Number(index) < hosts) return { hostname, subdomain, index: Number(index) };
  return fault('HpcHostUnlisted', field, { value: found, detail: `group ${group} has ${hosts} hosts` });
}

/** What a Pod calls itself and its domain are DNS names, not too long, and what the others see. */
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

/** Gives the Pod the name by which the others are told of it. */
export function setHostName(pod: PodReader, { hostname, subdomain }: HostName, patch: PodPatch): void {
  if ((textAt(pod, 'hostname') ?? pod.name) !== hostname) {
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
