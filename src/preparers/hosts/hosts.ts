import type { PodGang } from '../../api/pod-gang.ts';
import { expectedPods } from '../../gang/expected-pods.ts';
import type { FluxSettings } from '../flux/settings.ts';
import type { JsonObject } from '../../json/json.ts';
import { LABEL_MANAGED_BY, LABEL_POD_GANG, MANAGED_BY_MUSTER } from '../../api/names.ts';

/** Fields of a PodGang that its objects are made from. */
export type HpcGang = Pick<PodGang, 'namespace' | 'name' | 'annotations' | 'spec'>;

/** Hosts of one group, `<group>-0` and so on: the host names in Indexed Jobs, StatefulSets and Grove's Pods. */
export interface HostGroup {
  readonly group: string;
  readonly hosts: number;
}

/**
 * Hosts of all expected Pods, whether or not they exist, since the list of a running broker cannot grow. The lead's group is
 * first, because the first host has rank 0; the other groups keep their order. Groups without Pods are left out.
 */
export function hostGroups(gang: HpcGang, leadGroup?: string): HostGroup[] {
  const { counts } = expectedPods(gang);
  const all = gang.spec.groups.map(({ name }, index) => ({ group: name, hosts: counts[index] ?? 0 }));
  const led = all.filter(({ group }) => group === leadGroup);
  const rest = all.filter(({ group }) => group !== leadGroup);
  return [...led, ...rest].filter(({ hosts }) => hosts > 0);
}

/** Number of hosts before the first host of a group. */
export const hostsBefore = (groups: readonly HostGroup[], group: string): number =>
  hostCount(
    groups.slice(
      0,
      groups.findIndex((one) => one.group === group),
    ),
  );

/** DNS domain in which the Pods of a gang find each other by host name. */
export const hostDomain = (subdomain: string, namespace: string, clusterDomain: string): string =>
  `${subdomain}.${namespace}.svc.${clusterDomain}`;

/** `0` or `0-3`. @throws RangeError for a count below 1, which has no such form */
export function rangeOf(count: number): string {
  if (count < 1) throw new RangeError('a range of nothing');
  return count === 1 ? '0' : `0-${count - 1}`;
}

/** Hosts in Flux's notation (RFC 29): `g-leader-0`, `g-worker-[0-3]`. */
export const hostList = ({ group, hosts }: HostGroup): string =>
  hosts === 1 ? `${group}-0` : `${group}-[${rangeOf(hosts)}]`;

export const leadHost = (groups: readonly HostGroup[]): string => `${groups[0]?.group ?? ''}-0`;

export const hostCount = (groups: readonly HostGroup[]): number =>
  groups.reduce((sum, { hosts }) => sum + hosts, 0);

/** Number of Pods that must exist before gates come off. */
export const minimumPods = ({ spec }: HpcGang): number =>
  spec.groups.reduce((sum, { minReplicas }) => sum + Math.max(0, minReplicas), 0);

/** Number of brokers that must be connected before the program starts; the program runs on that many Pods. */
export const quorumOf = (gang: HpcGang, { quorum }: FluxSettings): number => quorum ?? minimumPods(gang);

/** Name of a gang's headless Service, which is also the subdomain of Pods that have none. */
export const gangServiceName = (gang: string): string => gang;

/** Metadata of every object of a gang. */
export const objectMetadata = (gang: HpcGang, name: string): JsonObject => ({
  namespace: gang.namespace,
  name,
  labels: { [LABEL_MANAGED_BY]: MANAGED_BY_MUSTER, [LABEL_POD_GANG]: gang.name },
});

/**
 * The Service by which Pods of a gang find each other, unless they have a subdomain of their own.
 * @param subdomain of the Pods; undefined: they have none of their own
 */
export function gangService(
  gang: HpcGang,
  subdomain: string | undefined,
  { name, port }: { readonly name: string; readonly port: number },
): JsonObject[] {
  const service = gangServiceName(gang.name);
  if (subdomain !== undefined && subdomain !== service) return [];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: objectMetadata(gang, service),
      spec: {
        clusterIP: 'None',
        // Pods look each other up before any of them is ready.
        publishNotReadyAddresses: true,
        selector: { [LABEL_POD_GANG]: gang.name },
        ports: [{ name, protocol: 'TCP', port, targetPort: port }],
      },
    },
  ];
}
