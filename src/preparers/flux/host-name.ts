import { fault, type Fault } from '../../api/fault.ts';
import { hostGroups } from '../../hpc/hosts.ts';
import type { FluxSettings } from '../../hpc/flux-settings.ts';
import { fluxServiceName } from '../../hpc/flux-names.ts';
import type { HpcGang } from '../preparation.ts';
import type { PodReader } from '../preparer.ts';

/** By what the other brokers of its gang find a Pod. */
export interface HostName {
  readonly hostname: string;
  readonly subdomain: string;
}

/**
 * Every broker has a list of all of them, made before there are Pods: the hosts of a group are `<group>-0`, `<group>-1` and so
 * on. A Pod that is called otherwise gets such a name, by the number at the end of its own: without a subdomain no DNS
 * knew the name that it had. One with a subdomain keeps its name, as others may know it by that.
 */
export function hostNameOf(
  pod: PodReader,
  gang: HpcGang,
  group: string,
  settings: FluxSettings,
): HostName | Fault {
  const given = textAt(pod, 'hostname');
  const ownDomain = textAt(pod, 'subdomain');
  const subdomain = ownDomain ?? fluxServiceName(gang.name);
  const found = given ?? pod.name ?? '';
  if (found === '') return fault('HpcHostRequired', 'spec.hostname');
  const index = /-(0|[1-9][0-9]{0,5})$/.exec(found)?.[1];
  const hostname = `${group}-${index ?? '0'}`;
  const field = given === undefined ? 'metadata.name' : 'spec.hostname';
  if (index === undefined || (hostname !== found && ownDomain !== undefined)) {
    return fault('HpcHostUnlisted', field, { value: found, detail: `for one, ${hostname}` });
  }
  const hosts = hostGroups(gang, settings).find((one) => one.group === group)?.hosts ?? 0;
  if (Number(index) < hosts) return { hostname, subdomain };
  return fault('HpcHostUnlisted', field, { value: found, detail: `group ${group} has ${hosts} hosts` });
}

export function textAt(pod: PodReader, field: string): string | undefined {
  const value = pod.at(['spec', field]);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
