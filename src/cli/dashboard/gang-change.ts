import { isGroveManaged } from '../../gang/gang-selection.ts';
import { parsePodGang } from '../../gang/parse-pod-gang.ts';
import { NO_TOPOLOGY } from '../../gang/rules/check-topology.ts';
import { refusedChange, refusedInSpec } from '../../gang/rules/rule-lists.ts';
import { isObject, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import type { GangStatus } from '../../status/gang-status.ts';
import { isThisGang } from '../plan/plan-of-gang.ts';

type GangName = Pick<GangStatus, 'namespace' | 'name'>;

/** A change of a group that is tried. */
export interface TriedMinimum {
  readonly group: string;
  readonly minReplicas: number;
  /** Pods that the group has. */
  readonly present: number;
}

/** The changes that are asked for; the name of a group that the gang has not, where one is. */
export function triedMinimums(
  { summary }: Pick<GangStatus, 'summary'>,
  minimums: ReadonlyMap<string, number>,
): readonly TriedMinimum[] | string {
  const tried: TriedMinimum[] = [];
  for (const [group, minReplicas] of minimums) {
    const known = summary?.groups.find(({ name }) => name === group);
    if (known === undefined) return group;
    if (known.minReplicas !== minReplicas) tried.push({ group, minReplicas, present: known.present });
  }
  return tried;
}

/** The objects of the cluster with the changed PodGang; or the sentence that says why there is nothing to plan. */
export function withTried(
  objects: readonly JsonObject[],
  gang: GangName,
  tried: readonly TriedMinimum[],
): readonly JsonObject[] | string {
  if (tried.length === 0) return objects;
  const title = `gang ${gang.namespace}/${gang.name}`;
  const refusals: string[] = [];
  const after = objects.map((object) => {
    if (!isThisGang(object, gang)) return object;
    const changed = withMinimums(object, tried);
    refusals.push(...refusalsOf(object, changed, gang.namespace));
    return changed;
  });
  if (refusals.length > 0) return `${title} may not be changed so: ${refusals.join('; ')}`;
  const few = tried.find(({ minReplicas, present }) => present < minReplicas);
  if (few === undefined) return after;
  const { group, minReplicas, present } = few;
  const pods = minReplicas === 1 ? 'Pod' : 'Pods';
  return `${title} would wait for ${minReplicas} ${pods} of group ${group}, which has ${present}: there is nothing to plan before they are there`;
}

/** How the sentence on a plan names a change: ` with minReplicas 2 of leader`; empty without one. */
export const triedWords = (tried: readonly TriedMinimum[]): string =>
  tried.length === 0
    ? ''
    : ` with minReplicas ${tried.map(({ group, minReplicas }) => `${minReplicas} of ${group}`).join(', ')}`;

function withMinimums(object: JsonObject, tried: readonly TriedMinimum[]): JsonObject {
  const spec = ownObject(object, 'spec');
  const podgroups = (ownList(spec, 'podgroups') ?? []).map((one) => {
    const change = tried.find(({ group }) => group === ownString(one, 'name'));
    return change === undefined || !isObject(one) ? one : { ...one, minReplicas: change.minReplicas };
  });
  return { ...object, spec: { ...spec, podgroups } };
}

/** What the rules of the spec refuse in the change, and not in the gang as it is. */
function refusalsOf(before: JsonObject, after: JsonObject, namespace: string): readonly string[] {
  const { gang: stored } = parsePodGang(before, namespace);
  const { gang: changed } = parsePodGang(after, namespace);
  const writer = { grove: isGroveManaged(stored), trusted: false };
  const faultsOf = (gang: typeof stored): string[] =>
    refusedInSpec(gang, NO_TOPOLOGY, writer).map(({ field, message }) => `${field}: ${message}`);
  const known = new Set(faultsOf(stored));
  const ofChange = refusedChange('change', stored, changed, writer);
  return [
    ...faultsOf(changed).filter((one) => !known.has(one)),
    ...ofChange.map(({ field, message }) => `${field}: ${message}`),
  ];
}
