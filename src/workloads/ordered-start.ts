import { keyed } from '../api/fault.ts';
import { own, ownString, type Json, type JsonObject } from '../json/json.ts';
import type { OrderedStart } from './kind.ts';
import { path, placeOf, valueAt, type Path } from './path.ts';
import type { OneByOne } from './workload-kind.ts';

/** A field of a workload with the value to write instead; '': the field should be removed. */
export function orderedBy(workload: JsonObject, { field, instead }: OneByOne): OrderedStart {
  const key = field.slice(field.lastIndexOf('.') + 1);
  const advice = instead === '' ? `leave ${key} out` : `write ${key}: ${instead}`;
  return { field, value: valueAt(workload, path(field)), advice };
}

/**
 * Items of the list at `field` whose `key` names other items of the same gang.
 * @param isMember whether the Pods of an item are in that gang
 */
export function orderedByList(
  workload: JsonObject,
  {
    field,
    key = 'dependsOn',
    isMember,
    namesIn,
  }: {
    readonly field: string;
    readonly key?: string;
    readonly isMember: (item: Json) => boolean;
    readonly namesIn: (value: Json | undefined) => readonly (Json | undefined)[];
  },
): OrderedStart[] {
  const list = valueAt(workload, path(field));
  const items = Array.isArray(list) ? (list as readonly Json[]) : [];
  const names = new Set<Json | undefined>(items.filter(isMember).map((item) => ownString(item, 'name')));
  return items.flatMap((item, index) =>
    isMember(item) && namesIn(own(item, key)).some((name) => names.has(name))
      ? [orderedBy(workload, { field: `${field}[${index}].${key}`, instead: '' })]
      : [],
  );
}

/**
 * The annotation `key` of the object at `at`, by which a controller delays Pods until another Pod of the gang has a node.
 */
export function orderedByTopology(workload: JsonObject, at: Path, key: string): OrderedStart[] {
  const value = ownString(own(own(valueAt(workload, at), 'metadata'), 'annotations'), key);
  if (value === undefined) return [];
  const advice = 'leave it out, and say the topology in a PodGang that you write';
  return [{ field: keyed(placeOf([...at, 'metadata', 'annotations']), key), value, advice }];
}
