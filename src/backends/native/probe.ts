import { isDeepStrictEqual } from 'node:util';
import { own, ownObject } from '../../json/json.ts';
import type { ClusterProbe } from '../cluster.ts';
import { apiVersionOf, COMPOSITE_POD_GROUPS, markOf, SCHEDULING_GROUP, type GangApi } from './gang-api.ts';

/** Fields of a PodGroup that a feature gate of their own switches on; while it is off they are dropped without a word. */
export interface Fields {
  /** `priorityClassName` and `disruptionMode`: WorkloadAwarePreemption, part of GenericWorkload from 1.37 on. */
  readonly priority: boolean;
  /** `schedulingConstraints`: TopologyAwareWorkloadScheduling. */
  readonly topology: boolean;
}

export const NO_FIELDS: Fields = { priority: false, topology: false };
export const ALL_FIELDS: Fields = { priority: true, topology: true };

/**
 * The first of these APIs that the cluster serves, or undefined. That a version of the group is served says little:
 * v1beta1 was one of PriorityClass years before it had gangs.
 */
export async function servedApi(
  cluster: Pick<ClusterProbe, 'versions' | 'resources'>,
  apis: readonly GangApi[],
): Promise<GangApi | undefined> {
  const versions = await cluster.versions(SCHEDULING_GROUP);
  for (const api of apis) {
    if (!versions.includes(api.version)) continue;
    const resources = await cluster.resources(apiVersionOf(api));
    if (resources?.some(({ plural }) => plural === markOf(api).plural)) return api;
  }
  return undefined;
}

/** Whether the cluster serves CompositePodGroups beside these PodGroups. Where it does, PodGroups keep the name of a parent. */
export async function servesComposites(
  cluster: Pick<ClusterProbe, 'resources'>,
  api: GangApi,
): Promise<boolean> {
  if (!api.nests) return false;
  const { version, plural } = COMPOSITE_POD_GROUPS;
  const resources = await cluster.resources(`${SCHEDULING_GROUP}/${version}`);
  return resources?.some((one) => one.plural === plural) === true;
}

/** Which of the gated fields come back from a dry run; only so can it be seen. */
export async function keptFields(cluster: Pick<ClusterProbe, 'dryRunCreate'>, api: GangApi): Promise<Fields> {
  if (api.podGroups === undefined) return NO_FIELDS;
  const disruptionMode = api.disruptionMode?.gang ?? null;
  const stored = await cluster.dryRunCreate(api.podGroups, {
    metadata: { generateName: 'muster-probe-' },
    spec: {
      [api.policy]: { gang: { minCount: 1 } },
      schedulingConstraints: { topology: [{ key: 'kubernetes.io/hostname' }] },
      disruptionMode,
    },
  });
  const spec = own(stored, 'spec');
  return {
    priority: isDeepStrictEqual(own(spec, 'disruptionMode'), disruptionMode),
    topology: ownObject(spec, 'schedulingConstraints') !== undefined,
  };
}
