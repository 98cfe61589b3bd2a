import { own, ownString, type JsonObject } from '../../json/json.ts';
import { objectTitle } from '../../k8s/reading.ts';
import type { PreemptionUnit } from '../units.ts';
import { namespacedKey } from '../snapshot.ts';
import { readSnapshot, type ReadSnapshot } from './read-snapshot.ts';

/** A snapshot to go by although something in it cannot be read. */
export interface CarefulSnapshot extends ReadSnapshot {
  /** Whether all is known that decides about the unit: another one is not to be touched. */
  readonly isClear: (unit: PreemptionUnit) => boolean;
}

/**
 * What cannot be read stops nobody else's plan. It is left out, and a node with such a Pod takes nobody, since nobody knows
 * what is left there. Who acts upon the plan leaves Pods of such a gang alone, and all in a namespace with such a budget.
 * @param namespace of objects that name none
 */
export function carefulSnapshot(objects: readonly JsonObject[], namespace?: string): CarefulSnapshot {
  const first = readSnapshot(objects, namespace);
  const { faults } = first;
  if (faults.length === 0) return { ...first, isClear: () => true };
  const wrong = new Set(faults.map(({ object }) => object));
  const [nodes, groups, namespaces] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const object of objects) {
    const kind = ownString(object, 'kind') ?? '';
    if (!wrong.has(objectTitle(object, kind))) continue;
    const metadata = own(object, 'metadata');
    const [name = '', at = ''] = [ownString(metadata, 'name'), ownString(metadata, 'namespace')];
    if (kind === 'Node') nodes.add(name);
    else if (kind === 'Pod') nodes.add(ownString(own(object, 'spec'), 'nodeName') ?? '');
    else if (kind === 'PodDisruptionBudget') namespaces.add(at);
    else groups.add(namespacedKey(at, name));
  }
  const known = objects.filter((object) => {
    const kind = ownString(object, 'kind') ?? '';
    if (kind === 'Node') return !nodes.has(ownString(own(object, 'metadata'), 'name') ?? '');
    return !LEFT_OUT.has(kind) || !wrong.has(objectTitle(object, kind));
  });
  return {
    ...readSnapshot(known, namespace),
    faults,
    isClear: ({ pods }) =>
      pods.every(
        ({ namespace: at, gang, podGroup }) =>
          !namespaces.has(at) &&
          !groups.has(namespacedKey(at, gang)) &&
          !groups.has(namespacedKey(at, podGroup)),
      ),
  };
}

/** Half of one says something else than all of it. Of a PodGang the rest still tells whether its Pods go together. */
const LEFT_OUT: ReadonlySet<string> = new Set(['PodDisruptionBudget', 'PodGroup']);
