import {
  ANNOTATION_EXPECTED_PODS,
  ANNOTATION_HOSTS,
  ANNOTATION_WORKLOAD_RESULT,
  ANNOTATION_WORKLOAD_UID,
} from '../../api/names.ts';
import { namedHosts } from '../../api/host-ranges.ts';
import { workloadTitle } from '../../api/pod-origin.ts';
import { workloadResult } from '../../gang/gang-workload.ts';
import { byAge, mayRun } from '../../gang/plan/census.ts';
import type { GangRecord, PodRecord } from '../../gang/records.ts';
import { isInitialized } from '../../gang/rules/initialized.ts';
import type { GangKind } from '../../workloads/kind.ts';
import { countsWhatIsLeft, gangKindOf } from '../../workloads/kinds.ts';
import { asksFor, groupsOfPart, type GangNumbers, type GroupNumbers } from '../../workloads/gang-numbers.ts';
import {
  expectedText,
  groupsFromSize,
  hostsOfMade,
  ownerOf,
  type GangGiven,
} from '../../workloads/made-gang.ts';
import { followed, onlyLeft, withinHosts } from './followed-minimum.ts';
import { isMade, gangNameFor, workloadIdOf, type WorkloadId } from './gang-subject.ts';

/** A workload, trimmed to the fields that its gang is made from. */
export interface WorkloadRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The API version that the workload was read in. */
  readonly version: string;
  readonly numbers: GangNumbers;
}

/** `unknown`: not listed yet. `unreadable`: Muster lacks the right, or the CRD is missing. */
export type WorkloadState = WorkloadRecord | 'unknown' | 'gone' | { readonly unreadable: string };

/** The cached objects around one gang name. */
export interface MadeState {
  readonly namespace: string;
  readonly name: string;
  readonly gang: GangRecord | undefined;
  /** All Pods that name the gang. */
  readonly pods: readonly PodRecord[];
  readonly workload: (kind: GangKind, name: string) => WorkloadState;
  /** Absent: the built-in kinds of workload. */
  readonly kinds?: readonly GangKind[] | undefined;
}

/** One action for a gang. Each write is conditional on what was read, so repeating it or doing it late does no harm. */
export type GangAction =
  | { readonly do: 'nothing'; readonly againMs?: number }
  | { readonly do: 'create'; readonly gang: Omit<GangGiven, 'backend'>; readonly like: PodRecord }
  | { readonly do: 'delete'; readonly gang: GangRecord; readonly why: string }
  | { readonly do: 'change'; readonly gang: GangRecord; readonly change: GangChange }
  | {
      readonly do: 'say';
      readonly pod: PodRecord;
      readonly reason: 'WorkloadUnreadable' | 'WorkloadInvalid';
      readonly message: string;
    };

export interface GangChange {
  /** The new minimums, by the index of the group. */
  readonly minimums: ReadonlyMap<number, number>;
  /** Absent key: unchanged. null: the annotation is removed. */
  readonly annotations: Readonly<Record<string, string | null>>;
}

const NOTHING: GangAction = { do: 'nothing' };
/** The watches of Pods and of workloads are out of step; both should show the same state soon. */
const BEHIND: GangAction = { do: 'nothing', againMs: 1_000 };

/** Plans the next action for the PodGang of this name, if Muster makes it. */
export function planMadeGang(state: MadeState): GangAction {
  const { gang } = state;
  // A PodGang that Muster did not make is used unchanged; a PodGang that is being deleted has to be gone first.
  if (gang !== undefined && (!isMade(gang) || gang.deletionTimestamp !== undefined)) return NOTHING;
  const running = state.pods.filter(isRunning);
  // A Pod whose label differs from its workload's gang name was relabelled by hand, so its origin is ignored.
  const newest = running
    .toSorted(byAge)
    .findLast(({ origin }) => origin && gangNameFor(origin) === state.name);
  const subject = newest?.origin ?? (gang && workloadIdOf(gang));
  const kind = subject && gangKindOf(subject.kind, state.kinds);
  if (subject === undefined || kind === undefined) return NOTHING;
  const known = state.workload(kind, subject.name);
  if (known === 'unknown') return NOTHING;
  if (known === 'gone') {
    if (newest !== undefined) return BEHIND;
    // Pods of a deleted workload may have been kept. Their gang has then lost its owner too, and only Muster deletes it.
    return gang === undefined ? NOTHING : { do: 'delete', gang, why: `${workloadTitle(subject)} is gone` };
  }
  if ('unreadable' in known) return planUnread(state, kind, newest, known.unreadable);
  return planRead(state, known, { workload: subject, kind, newest });
}

interface Read {
  readonly workload: WorkloadId;
  readonly kind: GangKind;
  /** The newest Pod that its workload still counts on. */
  readonly newest: PodRecord | undefined;
}

/** Plans for a workload that was read: its uid, its numbers and whether it is suspended decide. */
function planRead(state: MadeState, known: WorkloadRecord, { workload, kind, newest }: Read): GangAction {
  const { gang } = state;
  const stale = gang?.annotations.get(ANNOTATION_WORKLOAD_UID) ?? known.uid;
  if (gang !== undefined && stale !== known.uid) {
    return { do: 'delete', gang, why: `there is another ${workloadTitle(workload)} now` };
  }
  if ((newest?.origin?.uid ?? known.uid) !== known.uid) return BEHIND;
  const { numbers } = known;
  if (numbers.ended !== undefined) return planEnd(gang, numbers.ended);
  if (numbers.wrong !== undefined) {
    const message = `the gang of ${workloadTitle(workload)} cannot be made: ${numbers.wrong}`;
    return newest === undefined ? NOTHING : { do: 'say', pod: newest, reason: 'WorkloadInvalid', message };
  }
  const groups = groupsOfPart(numbers, kind, workload.part);
  const owner = ownerOf({ ...kind, version: known.version }, workload.name, known.uid);
  const idle =
    numbers.suspended ||
    // A label written on the Pods by something other than the workload is in no template.
    (newest === undefined && !asksFor(numbers, kind, workload.name, state.name)) ||
    // A workload with nothing left to do ends in a moment, and its gang with it.
    groups.every(
      ({ minReplicas, left }) => (gang === undefined ? Math.min(minReplicas, left) : minReplicas) === 0,
    );
  const origin = { ...workload, uid: known.uid };
  return planGroups(state, { groups, idle, newest, origin, owner, kind, policy: numbers.policy });
}

/** Whether the Pod's workload still counts on it. */
const isRunning = (pod: PodRecord): boolean => pod.origin !== undefined && mayRun(pod);

/** Plans for a workload that Muster may not read: the Pods may carry the number of Pods. */
function planUnread(
  state: MadeState,
  kind: GangKind,
  newest: PodRecord | undefined,
  why: string,
): GangAction {
  const { gang } = state;
  const origin = newest?.origin;
  if (newest === undefined || origin === undefined) return NOTHING;
  const uid = gang?.annotations.get(ANNOTATION_WORKLOAD_UID);
  if (gang !== undefined && (uid ?? origin.uid) !== origin.uid) {
    return { do: 'delete', gang, why: `there is another ${workloadTitle(origin)} now` };
  }
  const groups = origin.size === undefined ? undefined : groupsFromSize(origin.size);
  if (groups === undefined) {
    const given =
      origin.size === undefined ? '' : `, and muster.dev/gang-size says no numbers (leader=1,worker=7)`;
    const message = `the gang of ${workloadTitle(origin)} cannot be made: ${kind.plural} cannot be read (${why})${given}; give Muster the right (docs/workloads.md), or write muster.dev/gang-size on the Pod template`;
    return { do: 'say', pod: newest, reason: 'WorkloadUnreadable', message };
  }
  const { controller, uid: own = controller.uid } = origin;
  const owner = own === controller.uid ? controller : ownerOf(kind, origin.name, own);
  return planGroups(state, { groups, idle: false, newest, origin, owner, kind, policy: undefined });
}

function planEnd(gang: GangRecord | undefined, result: 'Succeeded' | 'Failed'): GangAction {
  return gang === undefined || workloadResult(gang) === result
    ? NOTHING
    : changing(gang, new Map(), { [ANNOTATION_WORKLOAD_RESULT]: result });
}

interface Wanted extends Pick<GangGiven, 'owner'> {
  readonly groups: readonly GroupNumbers[];
  /** Whether nothing of the workload is to run now. */
  readonly idle: boolean;
  readonly newest: PodRecord | undefined;
  readonly origin: WorkloadId & GangGiven['origin'];
  readonly kind: GangKind;
  /** The HPCPolicy that the templates name; undefined also where they cannot be read. */
  readonly policy: string | undefined;
}

function planGroups({ namespace, name, gang, pods }: MadeState, wanted: Wanted): GangAction {
  const { newest, origin, owner } = wanted;
  if (wanted.idle) {
    const why = `${workloadTitle(origin)} has no Pods to run: it gets a new gang once it has`;
    return gang === undefined || newest !== undefined ? NOTHING : { do: 'delete', gang, why };
  }
  const forms = gang === undefined || !isInitialized(gang);
  const groups = wanted.groups.map((group) => (forms ? onlyLeft(group) : group));
  if (gang === undefined) {
    if (newest === undefined) return NOTHING;
    const { priorityClassName } = newest;
    const prepared = preparation(wanted, newest);
    return {
      do: 'create',
      gang: { namespace, name, origin, owner, groups, priorityClassName, ...prepared },
      like: newest,
    };
  }
  const same =
    groups.length === gang.spec.groups.length &&
    groups.every((group, index) => group.name === gang.spec.groups[index]?.name);
  // The groups of a gang that has formed are fixed; a gang that has not formed is deleted and made again.
  if (!same) {
    return forms ? { do: 'delete', gang, why: `${workloadTitle(origin)} has other groups now` } : NOTHING;
  }
  const countsItself = countsWhatIsLeft(origin.kind);
  const minimums = new Map<number, number>();
  const hosts = namedHosts(gang).groups;
  const asked = groups.map((group, index) => {
    const minimum = gang.spec.groups[index]?.minReplicas ?? 0;
    const next = forms ? group : withinHosts(followed(group, minimum, { pods, countsItself }), hosts);
    if (next.minReplicas !== minimum) minimums.set(index, next.minReplicas);
    return next;
  });
  const expected = expectedText(asked);
  const other = expected !== gang.annotations.get(ANNOTATION_EXPECTED_PODS);
  const resumed = workloadResult(gang) !== undefined;
  const moved = forms ? otherHosts(gang, wanted) : undefined;
  if (minimums.size === 0 && !other && !resumed && moved === undefined) return NOTHING;
  return changing(gang, minimums, {
    ...moved,
    ...(other && { [ANNOTATION_EXPECTED_PODS]: expected ?? null }),
    ...(resumed && { [ANNOTATION_WORKLOAD_RESULT]: null }),
  });
}

/** The HPCPolicy of a new gang, with the hosts of all of its Pods, as what is done already was on some of them. */
function preparation(wanted: Wanted, { prepared }: PodRecord): Pick<GangGiven, 'policy' | 'hosts'> {
  // The mark of a Pod begins with the policy by which it was prepared.
  const policy = wanted.policy ?? prepared?.split('@', 1)[0];
  return { policy, hosts: policy === undefined ? undefined : hostsIn(wanted) };
}

const hostsIn = ({ kind, origin, groups }: Wanted): string | undefined =>
  hostsOfMade(kind, origin.name, groups, origin.part);

/** The hosts of a gang that has yet to form, where its workload has others now: programs that run read them once. */
function otherHosts({ annotations }: GangRecord, wanted: Wanted): Record<string, string> | undefined {
  const before = annotations.get(ANNOTATION_HOSTS);
  const now = before === undefined ? undefined : hostsIn(wanted);
  return now === undefined || now === before ? undefined : { [ANNOTATION_HOSTS]: now };
}

const changing = (
  gang: GangRecord,
  minimums: GangChange['minimums'],
  annotations: GangChange['annotations'],
): GangAction => ({ do: 'change', gang, change: { minimums, annotations } });
