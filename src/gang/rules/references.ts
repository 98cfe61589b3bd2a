import { isDeepStrictEqual } from 'node:util';
import type { NamespacedName, PodGang } from '../../api/pod-gang.ts';
import { referencesOf } from './check-spec.ts';

export const sameReferences = (
  a: readonly NamespacedName[] | undefined,
  b: readonly NamespacedName[] | undefined,
): boolean =>
  a?.length === b?.length &&
  (a ?? []).every((item, index) => item.namespace === b?.[index]?.namespace && item.name === b[index].name);

/** Whether an update changes references and nothing else of the spec. */
export function onlyReferencesDiffer(before: PodGang, after: PodGang): boolean {
  const bare = ({ spec }: PodGang): unknown => ({
    ...spec,
    groups: spec.groups.map((group) => ({ ...group, podReferences: undefined })),
  });
  return isDeepStrictEqual(bare(before), bare(after));
}

/** The references to write into one group, and why. */
export interface ReferenceRepair {
  readonly index: number;
  readonly references: readonly NamespacedName[];
  readonly why: string;
  /** Whether the author sent references that are dropped, which is worth a warning. */
  readonly untaken?: boolean;
}

/**
 * The references to put back before a PodGang is stored. Only the loop writes references: a user who applies the manifest
 * again sends `[]` or nothing, and that must not clear them. A new group gets none, since the loop would have to look for
 * each Pod that a user invents.
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
    const untaken = !trusted && group.podReferences !== undefined && group.podReferences.length > 0;
    return group.podReferences === undefined || untaken
      ? [{ index, references: [], why: `group ${group.name} starts without references`, untaken }]
      : [];
  });
}
