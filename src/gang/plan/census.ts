import { GATE_POD_GANG_PENDING } from '../../api/names.ts';
import { isInitialized } from '../rules/initialized.ts';
import { isOfWorkload, workloadOf } from '../gang-workload.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { referencesOf } from '../rules/check-spec.ts';
import type { PodRecord } from '../records.ts';
import { printable, listed } from '../../text/printable.ts';

/** The Pods of one group, counted. */
export interface GroupCensus {
  readonly index: number;
  readonly name: string;
  readonly minReplicas: number;
  /** Live (not terminating) Pods of the group that the gang's scheduler places, sorted by name. */
  readonly members: readonly PodRecord[];
  /**
   * Live Pods of the group that are prepared for another scheduler, sorted by name. They do not count as Pods of the gang.
   */
  readonly misplaced: readonly PodRecord[];
  /** Pods of the group that are being deleted, sorted by name. */
  readonly leaving: readonly PodRecord[];
  /** The members that have not failed. */
  readonly present: readonly PodRecord[];
  /** Names of Pods that the observed spec refers to. */
  readonly referenced: ReadonlySet<string>;
  readonly bound: number;
  /** Members that are ready, or have succeeded: a Pod that has finished its work is not missing. */
  readonly ready: number;
}

export const NO_GROUPS = 'the gang has no groups';

export const isLive = (pod: PodRecord): boolean => pod.deletionTimestamp === undefined;
export const hasEnded = ({ phase }: PodRecord): boolean => phase === 'Succeeded' || phase === 'Failed';
/** Whether a Pod may still run: it has not ended and is not being deleted. */
export const mayRun = (pod: PodRecord): boolean => isLive(pod) && !hasEnded(pod);
export const isBound = (pod: PodRecord): boolean => pod.nodeName !== '';
export const isGated = (pod: PodRecord): boolean => pod.gates.includes(GATE_POD_GANG_PENDING);

/** The fields of a gang that are needed to count its Pods. */
type CountedGang = Pick<PodGang, 'namespace' | 'name' | 'spec'> &
  Partial<Pick<PodGang, 'annotations' | 'conditions'>>;

/** Sorts by code units, as Kubernetes lists do: `localeCompare` would depend on the machine. */
export const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

/** Whether the gang's scheduler places this Pod; true also where either scheduler is not known. */
export const isPlacedBy = (schedulerName: string | undefined, pod: PodRecord): boolean =>
  schedulerName === undefined || pod.schedulerName === undefined || pod.schedulerName === schedulerName;

/** Sorts the oldest first, so that a later Pod never replaces one that was chosen before. */
export const byAge = (a: PodRecord, b: PodRecord): number => {
  const [left, right] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  return left < right ? -1 : left > right ? 1 : byName(a, b);
};

const isReady = (pod: PodRecord): boolean => pod.ready || pod.phase === 'Succeeded';

/**
 * Counts the Pods of a gang per group, in the order of `spec.podgroups`. A Pod counts for the group that its label names;
 * where two groups of a spec have the same name, for the first. Pods of another namespace or gang are ignored. Pods of
 * another scheduler are counted apart, bound or not, since that scheduler places them without the gang.
 * @param schedulerName the scheduler of the gang's backend; undefined where it is not known or not Muster's to judge
 */
export function takeCensus(
  gang: CountedGang,
  pods: readonly PodRecord[],
  schedulerName?: string,
): GroupCensus[] {
  // While a gang forms, a Pod that succeeded in an earlier run does not count as one that starts with the others.
  const forms = workloadOf(gang) !== undefined && !isInitialized({ conditions: gang.conditions ?? [] });
  const byGroup = new Map<string, PodRecord[]>(gang.spec.groups.map((group) => [group.name, []]));
  for (const pod of pods) {
    if (isMember(gang, pod)) byGroup.get(pod.group)?.push(pod);
  }
  return gang.spec.groups.map((group, index) => {
    const every = (byGroup.get(group.name) ?? []).sort(byName);
    byGroup.delete(group.name);
    const all = every.filter(isLive);
    const members = all.filter((pod) => isPlacedBy(schedulerName, pod));
    const present = members.filter((pod) => pod.phase !== 'Failed' && !(forms && pod.phase === 'Succeeded'));
    return {
      index,
      name: group.name,
      minReplicas: Math.max(0, group.minReplicas),
      members,
      misplaced: all.length === members.length ? [] : all.filter((pod) => !isPlacedBy(schedulerName, pod)),
      leaving: all.length === every.length ? [] : every.filter((pod) => !isLive(pod)),
      present,
      referenced: new Set(
        referencesOf(group)
          .filter((reference) => reference.namespace === gang.namespace)
          .map((reference) => reference.name),
      ),
      bound: present.filter(isBound).length,
      ready: present.filter(isReady).length,
    };
  });
}

/**
 * Whether a Pod is a member of this gang: same namespace and gang, a group label, and the workload that the gang was made
 * for.
 */
export const isMember = (gang: Omit<CountedGang, 'spec'>, pod: PodRecord): boolean =>
  pod.namespace === gang.namespace &&
  pod.gang === gang.name &&
  pod.group !== '' &&
  isOfWorkload(gang, pod.origin);

/** Whether every group has its minimum of Pods bound; false for a gang without groups. */
export const isScheduled = (census: readonly GroupCensus[]): boolean =>
  census.length > 0 && census.every((group) => group.bound >= group.minReplicas);

/** Whether every group has its minimum of Pods ready. */
export const isReadyGang = (census: readonly GroupCensus[]): boolean =>
  census.length > 0 && census.every((group) => group.ready >= group.minReplicas);

const MAX_NAME_SHOWN = 63;

/** The groups that have fewer Pods than they want: `leader 0/1, workers 2/4`; '' where none has. */
export function shortfall(
  census: readonly GroupCensus[],
  have: (group: GroupCensus) => number,
  want: (group: GroupCensus) => number,
): string {
  const short = census.filter((group) => have(group) < want(group));
  return listed(
    short.map((group) => `${printable(group.name, MAX_NAME_SHOWN)} ${have(group)}/${want(group)}`),
    'groups',
  );
}

export const boundShortfall = (census: readonly GroupCensus[]): string =>
  shortfall(
    census,
    (group) => group.bound,
    (group) => group.minReplicas,
  );
