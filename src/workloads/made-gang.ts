import type { JsonObject } from '../json/json.ts';
import {
  ANNOTATION_EXPECTED_PODS,
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
import type { GangKind } from './kind.ts';
import type { GroupNumbers } from './gang-numbers.ts';

/** What a PodGang is made from. */
export interface GangGiven {
  readonly namespace: string;
  readonly name: string;
  readonly origin: Pick<PodOrigin, 'kind' | 'name' | 'uid'>;
  /** With whom it goes. Absent: nobody knows the uid yet, as in a preview. */
  readonly owner?: PodController | undefined;
  readonly groups: readonly Pick<GroupNumbers, 'name' | 'minReplicas' | 'replicas'>[];
  readonly backend?: string | undefined;
  readonly priorityClassName?: string | undefined;
}

/** The PodGang of a workload. */
export function madeGang(given: GangGiven): JsonObject {
  const { namespace, name, origin, owner, groups, backend, priorityClassName } = given;
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

/** The groups that have more Pods than their minimum, as the annotation says it; undefined for none. */
export function expectedText(groups: GangGiven['groups']): string | undefined {
  const more = groups.filter(({ replicas, minReplicas }) => replicas > minReplicas);
  return more.length === 0 ? undefined : more.map(({ name, replicas }) => `${name}=${replicas}`).join(',');
}

/** Who a gang of this origin goes with, where its uid is known. */
export const ownerOf = (
  kind: Pick<GangKind, 'group' | 'version' | 'kind'>,
  name: string,
  uid: string,
): PodController => ({ apiVersion: groupVersionString(kind), kind: kind.kind, name, uid });

/** Entries beyond this many are not read: no workload has as many groups. */
const MOST_GROUPS = 256;

/** `leader=1,worker=7`: what a Pod says of the numbers of its gang. Undefined where it says nothing that can be read. */
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
