import type { PodGang } from '../../api/pod-gang.ts';
import { expectedPods } from '../../gang/expected-pods.ts';
import type { FluxSettings } from '../flux/settings.ts';
import type { JsonObject } from '../../json/json.ts';
import { countInRanges, namedHosts, namesInRange, rangeText, type HostRange } from '../../api/host-ranges.ts';
import { LABEL_MANAGED_BY, LABEL_POD_GANG, MANAGED_BY_MUSTER } from '../../api/names.ts';

/** Fields of a PodGang that its objects are made from. */
export interface HpcGang extends Pick<PodGang, 'namespace' | 'name' | 'annotations' | 'spec'> {
  /** Set while Muster has yet to make the PodGang of a workload from its Pods: the groups are unknown. */
  readonly unmade?: true;
}

/** Hosts of one group. */
export interface HostGroup {
  readonly group: string;
  readonly hosts: number;
  /** Absent: `<group>-0` and so on, the host names in Indexed Jobs, StatefulSets and Grove's Pods named as the group. */
  readonly ranges?: readonly HostRange[];
}

export const rangesOf = ({ group, hosts, ranges }: HostGroup): readonly HostRange[] =>
  ranges ?? [{ prefix: `${group}-`, from: 0, count: hosts }];

/** Names of all hosts, in the order of their ranks. */
export const hostNames = (groups: readonly HostGroup[]): string[] =>
  groups.flatMap((group) => rangesOf(group).flatMap(namesInRange));

/**
 * Hosts of all expected Pods, whether or not they exist, since the list of a running broker cannot grow. The lead's group is
 * first, because the first host has rank 0; the other groups keep their order. Groups without Pods are left out.
 */
export function hostGroups(gang: HpcGang, leadGroup?: string): HostGroup[] {
  const { counts } = expectedPods(gang);
  const named = namedHosts(gang).groups;
  const all = gang.spec.groups.map(({ name: group }, index): HostGroup => {
    const ranges = named.get(group);
    return ranges === undefined
      ? { group, hosts: counts[index] ?? 0 }
      : { group, hosts: countInRanges(ranges), ranges };
  });
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

/** Hosts in Flux's notation (RFC 29): `g-leader-0`, `g-worker-[0-3]`. */
export const hostList = (group: HostGroup): string => rangesOf(group).map(rangeText).join(',');

export const leadHost = ([first]: readonly HostGroup[]): string => {
  const [range] = first === undefined ? [] : rangesOf(first);
  return range === undefined ? '-0' : `${range.prefix}${range.from}`;
};

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
