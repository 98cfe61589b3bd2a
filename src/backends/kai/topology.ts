import { isGroveManaged } from '../../gang/gang-selection.ts';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../json/json.ts';
import type { PackConstraint, PodGang } from '../../api/pod-gang.ts';
import { constraintsOf } from '../../gang/rules/check-topology.ts';
import type { ClusterSyncContext, OwnedObject } from '../cluster.ts';
import { TOPOLOGY, TOPOLOGY_ANNOTATIONS } from './names.ts';
import { inTheWay, type FoundTopology } from './probe.ts';

/** Name of the Topology of a gang's levels; undefined when neither the gang nor the configuration names one. */
export function topologyNameOf(
  { annotations }: Pick<PodGang, 'annotations'>,
  fallback: string | undefined,
): string | undefined {
  for (const key of TOPOLOGY_ANNOTATIONS) {
    const name = annotations.get(key);
    if (name) return name;
  }
  return fallback;
}

/** A constraint in KAI's form; undefined when no level is requested, since a Topology alone has no effect. */
export function constraintOn(
  topology: string | undefined,
  pack: PackConstraint | undefined,
): JsonObject | undefined {
  if (topology === undefined || (!pack?.required && !pack?.preferred)) return undefined;
  return {
    topology,
    ...(pack.required && { requiredTopologyLevel: pack.required }),
    ...(pack.preferred && { preferredTopologyLevel: pack.preferred }),
  };
}

/**
 * The gang without its constraints when topologyAwareScheduling is off. Grove's gangs stay unchanged: the Grove operator has
 * a setting of its own and removes the constraints itself.
 */
export function heeded(gang: PodGang, enabled: boolean): PodGang {
  if (enabled || isGroveManaged(gang)) return gang;
  const bare = <T extends object>(part: T): T => ({ ...part, pack: undefined });
  const { groups, groupConfigs } = gang.spec;
  const spec = { ...bare(gang.spec), groups: groups.map(bare), groupConfigs: groupConfigs.map(bare) };
  return { ...gang, spec };
}

/** Each level that a gang requests, once, with the path of its first request. */
export function levelsAskedFor(gang: PodGang): Map<string, string> {
  const levels = new Map<string, string>();
  for (const { path, pack } of constraintsOf(gang)) {
    for (const field of ['required', 'preferred'] as const) {
      const key = pack[field];
      if (key && !levels.has(key)) levels.set(key, `${path}.${field}`);
    }
  }
  return levels;
}

/**
 * Keeps the Topology of the configured levels. KAI does not allow a change of the list of node labels, so a changed list is
 * written by deletion and creation: gangs with topology constraints wait in between, and bound Pods are not affected. A
 * Topology that is not Muster's is not changed, and is used when its levels are the same.
 * @throws Error when it is not Muster's and has other levels
 */
export async function keepTopology(
  context: ClusterSyncContext,
  name: string,
  levels: readonly string[],
  found: FoundTopology | undefined,
): Promise<void> {
  const same = found === undefined || isDeepStrictEqual(found.levels, levels);
  if (found !== undefined && !found.ours) {
    if (same) return;
    throw new Error(inTheWay(name, found, levels));
  }
  if (!same) await context.remove(TOPOLOGY, name);
  await context.apply(topologyObject(name, levels));
}

const topologyObject = (name: string, levels: readonly string[]): OwnedObject => ({
  resource: TOPOLOGY,
  name,
  spec: { levels: levels.map((nodeLabel) => ({ nodeLabel })) },
});
