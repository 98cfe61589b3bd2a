import type { NamespacedName } from '../../api/pod-gang.ts';
import { referencesOf } from '../rules/check-spec.ts';
import { isLive, isMember, isPlacedBy, type GroupCensus } from './census.ts';
import type { ReferencesWrite } from './gang-plan.ts';
import type { GangRecord, PodRecord } from '../records.ts';
import { sameReferences } from '../rules/references.ts';

/** Every group has as many working Pods as it waits for, and some group waits for one. */
export const isComplete = (census: readonly GroupCensus[], expected: readonly number[]): boolean =>
  expected.some((count) => count > 0) &&
  census.every((group, index) => group.present.length >= (expected[index] ?? 0));

/** As {@link isComplete}, of Pods that the observed spec refers to: the word on which gates may come off. */
export const isFullyReferenced = (census: readonly GroupCensus[], expected: readonly number[]): boolean =>
  expected.some((count) => count > 0) &&
  census.every(
    (group, index) =>
      group.present.filter((pod) => group.referenced.has(pod.name)).length >= (expected[index] ?? 0),
  );

/**
 * The references as they should be, where they are not. Until the gang is complete only what is wrong is taken
 * out: filling the lists Pod by Pod would cost a write and a new generation each, and nobody may act on them yet.
 */
export function planReferences(
  gang: GangRecord,
  census: readonly GroupCensus[],
  fill: boolean,
): ReferencesWrite | undefined {
  const groups = gang.spec.groups.flatMap((group, index) => {
    const members = census[index]?.members ?? [];
    const kept = fill ? members : members.filter((pod) => census[index]?.referenced.has(pod.name));
    const references = kept.map((pod): NamespacedName => ({ namespace: gang.namespace, name: pod.name }));
    return sameReferences(referencesOf(group), references) ? [] : [{ index, name: group.name, references }];
  });
  return groups.length === 0 ? undefined : { uid: gang.uid, resourceVersion: gang.resourceVersion, groups };
}

/** A name that a write takes out of a group. */
export interface DroppedReference {
  readonly group: string;
  readonly pod: string;
}

/**
 * The names that a write takes out. To be read from the API server before, since a leader whose watch of Pods lags
 * behind that of PodGangs finds names in the references, written by another, of Pods that it has not heard of yet.
 */
export function droppedReferences(gang: GangRecord, write: ReferencesWrite): DroppedReference[] {
  return write.groups.flatMap(({ index, name: group, references }) => {
    const kept = new Set(references.map((reference) => reference.name));
    const before = gang.spec.groups[index] === undefined ? [] : referencesOf(gang.spec.groups[index]);
    return before
      .filter(({ namespace, name }) => namespace === gang.namespace && !kept.has(name))
      .map(({ name }) => ({ group, pod: name }));
  });
}

/**
 * Whether one of these names should not be taken out after all, going by its Pod as the API server has it now: then what
 * was judged by is old.
 */
export const takesOutTheLiving = (
  gang: GangRecord,
  schedulerName: string | undefined,
  dropped: readonly DroppedReference[],
  pods: readonly PodRecord[],
): boolean =>
  dropped.some((reference) =>
    pods.some(
      (pod) =>
        pod.name === reference.pod &&
        pod.group === reference.group &&
        isMember(gang, pod) &&
        isLive(pod) &&
        isPlacedBy(schedulerName, pod),
    ),
  );

/** What a write of references changes, for an Event: `workers 4 (+2 -1)`. */
export function describeReferences(gang: GangRecord, write: ReferencesWrite): string[] {
  return write.groups.map(({ index, name, references }) => {
    const before = new Set((gang.spec.groups[index]?.podReferences ?? []).map((entry) => entry.name));
    const after = new Set(references.map((entry) => entry.name));
    const added = [...after].filter((entry) => !before.has(entry)).length;
    const removed = [...before].filter((entry) => !after.has(entry)).length;
    const changes = [...(added > 0 ? [`+${added}`] : []), ...(removed > 0 ? [`-${removed}`] : [])].join(' ');
    return `${name} ${after.size}${changes === '' ? '' : ` (${changes})`}`;
  });
}
