import type { ObjectFault } from '../../k8s/field-reader.ts';

/** More lines than this nobody reads. */
const MOST_TOLD = 5;

/** What becomes of an object of somebody else that cannot be counted with, by its kind. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['Node', 'it takes nobody here'],
  ['Pod', 'its node takes nobody here'],
  ['PodDisruptionBudget', 'nobody of its namespace is touched here'],
  ['PodGang', 'its Pods are left alone here'],
  ['PodGroup', 'its Pods are left alone here'],
]);

/** One line for each object, and one for those that are too many. */
export function leftOut(faults: readonly ObjectFault[]): string[] {
  const byObject = new Map<string, ObjectFault>();
  for (const fault of faults) byObject.getOrInsert(fault.object, fault);
  const told = [...byObject.values()].slice(0, MOST_TOLD).map((fault) => {
    const { object, field, message } = fault;
    return `${object}: ${field}: ${message}; until then ${insteadOf(fault)}`;
  });
  const more = byObject.size - told.length;
  if (more > 0)
    told.push(`${more} more ${more === 1 ? 'object' : 'objects'} that cannot be counted with, treated alike`);
  return told;
}

function insteadOf({ object }: ObjectFault): string {
  const [kind = ''] = object.split(' ', 1);
  return INSTEAD.get(kind) ?? 'it counts as not there';
}
