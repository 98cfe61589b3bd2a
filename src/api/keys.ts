import { keysOfConditions } from './condition-keys.ts';
import { keysOfFleets } from './fleet-keys.ts';
import { keysOfGangs } from './gang-keys.ts';
import type { Key } from './key.ts';
import { MUSTER_PREFIX } from './names.ts';
import { keysOfPreemption } from './preemption-keys.ts';
import { keysOfWorkloads } from './workload-keys.ts';

/**
 * Every label, annotation, finalizer, scheduling gate and condition of Muster's, and those of Grove, Kubernetes and Karmada
 * that Muster reads. docs/reference/labels.md and `muster explain` are generated from them. Keys that only one scheduler
 * reads are in the folder of its backend.
 */
export const keys: readonly Key[] = [
  ...keysOfGangs,
  ...keysOfWorkloads,
  ...keysOfPreemption,
  ...keysOfFleets,
  ...keysOfConditions,
];

/**
 * Keys with the prefix `muster.dev/` on Pods, gangs and workloads, and whether each is a label or an annotation. Any other
 * key with that prefix is reported as a slip. Of several entries for a key the first counts: a label of a Namespace is an
 * annotation on other objects.
 */
export const ownKeys: Readonly<Record<string, 'label' | 'annotation' | 'both'>> = Object.fromEntries(
  keys
    .filter((one, index) => one.key.startsWith(MUSTER_PREFIX) && isFirst(one.key, index))
    .map(({ key, as }) => [
      key,
      as === 'label or annotation' ? 'both' : as === 'label' ? 'label' : 'annotation',
    ]),
);

function isFirst(key: string, index: number): boolean {
  return keys.findIndex((one) => one.key === key) === index;
}
