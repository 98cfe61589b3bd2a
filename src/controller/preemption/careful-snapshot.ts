import { own, ownString, type JsonObject } from '../../api/json.ts';
import { titleOf, type ObjectFault } from '../../gang/reading.ts';
import type { PodContext } from '../../preemption/read/read-pod.ts';
import { readSnapshot } from '../../preemption/read/read-snapshot.ts';
import { keyOf, type Snapshot } from '../../preemption/snapshot.ts';
import type { Unit } from '../../preemption/units.ts';

/** A snapshot to act upon, with what is not to be touched because of it something cannot be read. */
export interface CarefulSnapshot {
  readonly snapshot: Snapshot;
  readonly context: PodContext;
  readonly faults: readonly ObjectFault[];
  /** Whether all is known that decides about the unit. */
  readonly isClear: (unit: Unit) => boolean;
}

/**
 * What cannot be read stops nobody else's plan, and nobody is evicted on the strength of it: a node with such a Pod takes
 * nobody, Pods of such a gang stay, and so do all in a namespace with such a budget.
 */
export function carefulSnapshot(objects: readonly JsonObject[]): CarefulSnapshot {
  const first = readSnapshot(objects);
  const { faults } = first;
  if (faults.length === 0) return { ...first, isClear: () => true };
  const wrong = new Set(faults.map(({ object }) => object));
  const [nodes, groups, namespaces] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const object of objects) {
    const kind = ownString(object, 'kind') ?? '';
    if (!wrong.has(titleOf(object, kind))) continue;
    const metadata = own(object, 'metadata');
    const [name = '', namespace = ''] = [ownString(metadata, 'name'), ownString(metadata, 'namespace')];
    if (kind === 'Node') nodes.add(name);
    else if (kind === 'Pod') nodes.add(ownString(own(object, 'spec'), 'nodeName') ?? '');
    else if (kind === 'PodDisruptionBudget') namespaces.add(namespace);
    else groups.add(keyOf(namespace, name));
  }
  const known = objects.filter(
    (object) =>
      own(object, 'kind') !== 'Node' || !nodes.has(ownString(own(object, 'metadata'), 'name') ?? ''),
  );
  const { snapshot, context } = readSnapshot(known);
  return {
    snapshot,
    context,
    faults,
    isClear: ({ pods }) =>
      pods.every(
        ({ namespace, gang, podGroup }) =>
          !namespaces.has(namespace) &&
          !groups.has(keyOf(namespace, gang)) &&
          !groups.has(keyOf(namespace, podGroup)),
      ),
  };
}
