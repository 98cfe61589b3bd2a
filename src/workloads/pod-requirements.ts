import { add, containerSum, countOfText, formatCount, isBytes } from '../k8s/quantity.ts';
import { isObject, own, ownList, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { quoted } from '../text/printable.ts';
import type { Path } from './path.ts';
import type { WorkloadReading } from './workload-reading.ts';

/** Nodes that a Pod may run on. */
export interface NodeClaim {
  readonly hardNodeAffinity?: JsonObject;
  readonly nodeSelector?: JsonObject;
  readonly tolerations?: readonly Json[];
}

/** Needs of one Pod, in the format of Karmada's `ReplicaRequirements`. */
export interface Requirements {
  readonly nodeClaim?: NodeClaim;
  readonly resourceRequest?: Readonly<Record<string, string>>;
  readonly priorityClassName?: string;
}

/**
 * Bytes are rounded up to Ki: Karmada compares byte amounts in binary units and would read an amount without a unit as a
 * thousand times as much.
 */
const KIBI = 1024;

/** The amounts as text, sorted by name, without zeros. */
export const requestText = (counts: ReadonlyMap<string, number>): Record<string, string> =>
  Object.fromEntries(
    [...counts]
      .filter(([, count]) => count > 0)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => [
        name,
        formatCount(name, isBytes(name) ? Math.ceil(count / KIBI) * KIBI : count),
      ]),
  );

/** Requirements of a template's Pod, computed as in kube-scheduler; undefined when the Pod has none. */
export function requirementsOf(
  template: JsonObject | undefined,
  at: Path,
  reading: WorkloadReading,
): Requirements | undefined {
  const spec = ownObject(template, 'spec');
  if (spec === undefined) return undefined;
  const requests = containerSum(spec, (container, field) => {
    const resources = own(container, 'resources');
    const where = [...at, `${field}.resources`];
    const counts = amounts(own(resources, 'limits'), [...where, 'limits'], reading);
    for (const [name, count] of amounts(own(resources, 'requests'), [...where, 'requests'], reading))
      counts.set(name, count);
    return counts;
  });
  // Pod-level resources replace the sum of the containers' requests.
  const resources = ownObject(spec, 'resources');
  for (const field of ['limits', 'requests'])
    for (const [name, count] of amounts(own(resources, field), [...at, 'spec', 'resources', field], reading))
      requests.set(name, count);
  add(requests, amounts(own(spec, 'overhead'), [...at, 'spec', 'overhead'], reading));
  const resourceRequest = requestText(requests);
  const nodeClaim = nodeClaimOf(spec);
  const priorityClassName = ownString(spec, 'priorityClassName') ?? '';
  if (Object.keys(resourceRequest).length === 0 && nodeClaim === undefined && priorityClassName === '')
    return undefined;
  return {
    ...(nodeClaim && { nodeClaim }),
    ...(Object.keys(resourceRequest).length > 0 && { resourceRequest }),
    ...(priorityClassName !== '' && { priorityClassName }),
  };
}

function amounts(value: Json | undefined, at: Path, reading: WorkloadReading): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [name, amount] of isObject(value) ? Object.entries(value) : []) {
    const count = countOfText(name, amount);
    if (count !== undefined) counts.set(name, count);
    else reading.wrongAt([...at, name], `${quoted(amount)} is no amount of it; write it as 500m, 2 or 12Gi`);
  }
  return counts;
}

function nodeClaimOf(spec: JsonObject): NodeClaim | undefined {
  const affinity = ownObject(ownObject(spec, 'affinity'), 'nodeAffinity');
  const hardNodeAffinity = ownObject(affinity, 'requiredDuringSchedulingIgnoredDuringExecution');
  const nodeSelector = ownObject(spec, 'nodeSelector');
  const tolerations = ownList(spec, 'tolerations');
  const claim: NodeClaim = {
    ...(hardNodeAffinity && { hardNodeAffinity }),
    ...(nodeSelector && Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(tolerations && tolerations.length > 0 && { tolerations }),
  };
  return Object.keys(claim).length > 0 ? claim : undefined;
}
