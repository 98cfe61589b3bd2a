import { fault, type Fault } from '../../api/fault.ts';
import type { NamespacedName, PodGang } from '../../api/pod-gang.ts';
import { referencesOf } from './check-spec.ts';
import { isInitialized } from './initialized.ts';

export const sameReferences = (
  a: readonly NamespacedName[] | undefined,
  b: readonly NamespacedName[] | undefined,
): boolean =>
  a?.length === b?.length &&
  (a ?? []).every((item, index) => item.namespace === b?.[index]?.namespace && item.name === b[index].name);

/** What to write into one group's `podReferences`, and why. */
export interface ReferenceRepair {
  readonly index: number;
  readonly references: readonly NamespacedName[];
  readonly why: string;
}

/**
 * The references that must be put back before a PodGang is stored. References are the loop's: whoever applies the
 * manifest again sends `[]` or nothing, and that must never clear them.
 * @param before the stored PodGang; undefined on CREATE
 * @param trusted whether this account may change references
 */
export function repairReferences(
  before: PodGang | undefined,
  after: PodGang,
  trusted: boolean,
): ReferenceRepair[] {
  const stored = new Map(before?.spec.groups.map((group) => [group.name, referencesOf(group)]));
  return after.spec.groups.flatMap((group, index): ReferenceRepair[] => {
    const kept = stored.get(group.name);
    if (kept !== undefined && (group.podReferences === undefined || !trusted)) {
      return sameReferences(kept, group.podReferences)
        ? []
        : [{ index, references: kept, why: `group ${group.name} keeps the references it has` }];
    }
    return group.podReferences === undefined
      ? [{ index, references: [], why: `group ${group.name} starts without references` }]
      : [];
  });
}

/** Once a gang is Initialized only trusted accounts change its references. */
export function checkReferencesKept(before: PodGang, after: PodGang): Fault[] {
  if (!isInitialized(before)) return [];
  const stored = new Map(before.spec.groups.map((group) => [group.name, referencesOf(group)]));
  return after.spec.groups.flatMap((group, index) => {
    const kept = stored.get(group.name);
    return kept === undefined || sameReferences(kept, referencesOf(group))
      ? []
      : [fault('ReferencesProtected', `spec.podgroups[${index}].podReferences`)];
  });
}
