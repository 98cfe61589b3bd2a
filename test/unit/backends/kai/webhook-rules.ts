import { own, ownList, ownString, type Json, type JsonObject } from '../../../../src/json/json.ts';

/**
 * What `podgroup-validation.kai.scheduler` of 0.15 and later says of a PodGroup on CREATE, in its order; the last one
 * it only warns of, and the gang is never placed.
 */
export function webhookFaults(spec: JsonObject): string[] {
  const subGroups = ownList(spec, 'subGroups') ?? [];
  const names = subGroups.map(nameOf);
  const duplicates = names.filter((name, index) => names.indexOf(name) !== index);
  if (duplicates.length > 0) return duplicates.map((name) => `duplicate subgroup name ${name}`);
  const missing = subGroups.filter(
    (one) => parentOf(one) !== undefined && !names.includes(parentOf(one) ?? ''),
  );
  if (missing.length > 0)
    return missing.map((one) => `parent ${parentOf(one) ?? ''} of ${nameOf(one)} was not found`);
  if (subGroups.some((one) => isInCycle(one, subGroups))) return ['cycle detected in subgroups'];
  const roots = subGroups.filter((one) => parentOf(one) === undefined).length;
  return [
    ...(has(spec, 'minMember') && has(spec, 'minSubGroup')
      ? ['minMember and minSubGroup are mutually exclusive']
      : []),
    ...tooMany('', spec, roots),
    ...subGroups.flatMap((one) => {
      const name = nameOf(one);
      const children = subGroups.filter((other) => parentOf(other) === name).length;
      if (children > 0) {
        return [
          ...(has(one, 'minMember')
            ? [`subgroup "${name}": minMember cannot be set on a mid-level SubGroup (has child SubGroups)`]
            : []),
          ...tooMany(`subgroup "${name}": `, one, children),
        ];
      }
      return [
        ...(has(one, 'minSubGroup')
          ? [`subgroup "${name}": minSubGroup cannot be set on a leaf SubGroup`]
          : []),
        ...(has(one, 'minMember') ? [] : [`subgroup ${name}: minMember is required`]),
      ];
    }),
  ];
}

const nameOf = (subGroup: Json): string => ownString(subGroup, 'name') ?? '';
const parentOf = (subGroup: Json): string | undefined => ownString(subGroup, 'parent');
const has = (value: Json, key: string): boolean => own(value, key) !== undefined;

function tooMany(where: string, value: Json, children: number): string[] {
  const wanted = own(value, 'minSubGroup');
  return typeof wanted === 'number' && wanted > children
    ? [`${where}minSubGroup (${wanted}) exceeds the number of direct child SubGroups (${children})`]
    : [];
}

function isInCycle(start: Json, all: readonly Json[]): boolean {
  const seen = new Set<string>();
  for (let at: Json | undefined = start; at !== undefined;) {
    if (seen.has(nameOf(at))) return true;
    seen.add(nameOf(at));
    const parent = parentOf(at);
    at = parent === undefined ? undefined : all.find((one) => nameOf(one) === parent);
  }
  return false;
}
