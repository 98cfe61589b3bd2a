import type { NamespacedName } from '../../api/pod-gang.ts';
import { referencesOf } from '../rules/check-spec.ts';
import { isLive, isMember, isPlacedBy, type GroupCensus } from './census.ts';
import type { ReferencesWrite } from './gang-plan.ts';
import type { GangRecord, PodRecord } from '../records.ts';
import { sameReferences } from '../rules/references.ts';

/** Whether every group has as many working Pods as it waits for, and some group waits for one. */
export const isComplete = (census: readonly GroupCensus[], expected: readonly number[]): boolean =>
  expected.some((count) => count > 0) &&
  census.every((group, index) => group.present.length >= (expected[index] ?? 0));

/**
 * Whether the gang is {@link isComplete} counting only Pods that the observed spec refers to. Only then may gates be
 * removed.
 */
export const isFullyReferenced = (census: readonly GroupCensus[], expected: readonly number[]): boolean =>
  expected.some((count) => count > 0) &&
  census.every(
    (group, index) =>
      group.present.filter((pod) => group.referenced.has(pod.name)).length >= (expected[index] ?? 0),
  );

/**
 * The references to write, where they differ from the stored ones. Until the gang is complete only wrong names are removed:
 * adding each Pod as it comes would cost a write and a generation per Pod, and nothing may act on an incomplete list.
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

/** A name that a write removes from a group. */
export interface DroppedReference {
  readonly group: string;
  readonly pod: string;
}

/**
 * The names that a write removes. Their Pods must be read from the API server first: a leader whose watch of Pods lags
 * behind its watch of PodGangs sees references, written by the leader before it, to Pods that its cache does not have yet.
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
 * Whether the API server still has a live Pod of the gang for one of these names; the plan was then made from an old state.
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
