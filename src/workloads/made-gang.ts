import type { JsonObject } from '../json/json.ts';
import {
  ANNOTATION_EXPECTED_PODS,
  ANNOTATION_HOSTS,
  ANNOTATION_HPC_POLICY,
  ANNOTATION_WORKLOAD,
  ANNOTATION_WORKLOAD_UID,
  LABEL_MANAGED_BY,
  LABEL_SCHEDULER_NAME,
  MANAGED_BY_MUSTER,
  POD_GANG_API_VERSION,
  POD_GANG_KIND,
} from '../api/names.ts';
import { workloadTitle, type PodController, type PodOrigin } from '../api/pod-origin.ts';
import { groupVersionString } from '../k8s/resource.ts';
import { hostsAnnotation } from '../api/host-ranges.ts';
import type { GangKind, HostedGroup } from './kind.ts';
import type { GroupNumbers } from './gang-numbers.ts';

/** Input for a PodGang. */
export interface GangGiven {
  readonly namespace: string;
  readonly name: string;
  readonly origin: Pick<PodOrigin, 'kind' | 'name' | 'uid'>;
  /** Owner of the PodGang. Absent: its uid is unknown, as in a preview. */
  readonly owner?: PodController | undefined;
  readonly groups: readonly Pick<GroupNumbers, 'name' | 'minReplicas' | 'replicas'>[];
  readonly backend?: string | undefined;
  readonly priorityClassName?: string | undefined;
  /** The HPCPolicy of its Pods, and the value of the annotation with their host names. */
  readonly policy?: string | undefined;
  readonly hosts?: string | undefined;
}

/** The PodGang of a workload. */
export function madeGang(given: GangGiven): JsonObject {
  const { namespace, name, origin, owner, groups, backend, priorityClassName, policy, hosts } = given;
  const expected = expectedText(groups);
  return {
    apiVersion: POD_GANG_API_VERSION,
    kind: POD_GANG_KIND,
    metadata: {
      name,
      namespace,
      labels: {
        [LABEL_MANAGED_BY]: MANAGED_BY_MUSTER,
        ...(backend === undefined ? {} : { [LABEL_SCHEDULER_NAME]: backend }),
      },
      annotations: {
        [ANNOTATION_WORKLOAD]: workloadTitle(origin),
        ...(origin.uid === undefined ? {} : { [ANNOTATION_WORKLOAD_UID]: origin.uid }),
        ...(expected === undefined ? {} : { [ANNOTATION_EXPECTED_PODS]: expected }),
        ...(policy === undefined ? {} : { [ANNOTATION_HPC_POLICY]: policy }),
        ...(hosts === undefined ? {} : { [ANNOTATION_HOSTS]: hosts }),
      },
      ...(owner === undefined ? {} : { ownerReferences: [{ ...owner }] }),
    },
    spec: {
      podgroups: groups.map((group) => ({
        name: group.name,
        minReplicas: group.minReplicas,
        podReferences: [],
      })),
      ...(priorityClassName ? { priorityClassName } : {}),
    },
  };
}

/** The value of the annotation for groups that have more Pods than their minimum; undefined when there are none. */
export function expectedText(groups: GangGiven['groups']): string | undefined {
  const more = groups.filter(({ replicas, minReplicas }) => replicas > minReplicas);
  return more.length === 0 ? undefined : more.map(({ name, replicas }) => `${name}=${replicas}`).join(',');
}

/** The value of the annotation with the host names of a gang's Pods; undefined for a kind that has none. */
export const hostsOfMade = (
  { hosts }: Pick<GangKind, 'hosts'>,
  workload: string,
  groups: readonly HostedGroup[],
  part: string | undefined,
): string | undefined =>
  hosts && hostsAnnotation(groups.map((one) => ({ name: one.name, ranges: hosts(workload, one, part) })));

/** The owner of a workload's PodGang. */
export const ownerOf = (
  kind: Pick<GangKind, 'group' | 'version' | 'kind'>,
  name: string,
  uid: string,
): PodController => ({ apiVersion: groupVersionString(kind), kind: kind.kind, name, uid });

/** Most groups that are read; no workload has as many. */
const MOST_GROUPS = 256;

/** Groups of a size annotation `leader=1,worker=7` on a Pod; undefined when it cannot be read. */
export function groupsFromSize(size: string): GroupNumbers[] | undefined {
  const groups = new Map<string, number>();
  const entries = size.split(',', MOST_GROUPS + 1);
  for (const entry of entries) {
    const [, name = '', count = ''] =
      /^\s*([A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)\s*=\s*(\d{1,9})\s*$/.exec(entry) ?? [];
    if (name === '' || groups.has(name)) return undefined;
    groups.set(name, Number(count));
  }
  const found = [...groups].map(([name, replicas]) => ({
    ...{ name, replicas, minReplicas: replicas, left: replicas },
  }));
  return found.length <= MOST_GROUPS && found.some(({ replicas }) => replicas > 0) ? found : undefined;
}
