import { isBound, isGated, byAge, type GroupCensus } from './census.ts';
import { CONDITION_READY, type WantedCondition } from './conditions.ts';
import type { Waiting } from './gang-plan.ts';
import { listed, oneLine } from '../../text/printable.ts';
import type { PodRecord, GangRecord, GangState } from '../records.ts';
import { initializedOf } from '../rules/initialized.ts';
import { OF_THE_GANG } from './holds.ts';

/** Pods named in one line. */
const MAX_NAMED = 3;

/** Pods with their nodes, as text. */
export const placed = (pods: readonly PodRecord[]): string =>
  listed(
    pods.map(({ name, nodeName }) => (nodeName === '' ? name : `${name} on ${nodeName}`)),
    'Pods',
    MAX_NAMED,
  );

/**
 * Why a gang is not Running, in one line: the condition's message, and details that are not in the condition since they
 * would cost each forming gang another write.
 */
export function whyOf(condition: WantedCondition | undefined, census: readonly GroupCensus[]): string {
  if (condition === undefined) return '';
  const pods = census.flatMap((group) => group.present);
  const more: string[] = [];
  if (condition.reason === 'PodsPending' && isUnanswered(pods)) {
    const done = pods.filter(({ phase }) => phase === 'Succeeded').length;
    const uncounted = `: where it counts none of the Pods that have succeeded (${done}), the minimum is not reached any more`;
    more.push(`no word of the scheduler yet${done === 0 ? '' : uncounted}`);
  }
  // A Pod that runs and is not ready: a container fails, or the node is lost.
  const silent = pods.filter((pod) => pod.phase === 'Running' && !pod.ready);
  if (condition.type === CONDITION_READY && silent.length > 0) more.push(`not ready: ${placed(silent)}`);
  return [condition.message, ...more].join('; ');
}

/** Why Pods wait in a gang that runs: they replace Pods or are added to it. */
export function waitingBeside(waiting: readonly Waiting[]): string {
  const held = waiting.filter(({ state }) => state !== 'starting');
  const [first] = held;
  if (first === undefined) return '';
  const names = listed(
    held.map(({ pod }) => pod),
    'Pods',
    MAX_NAMED,
  );
  return `${held.length === 1 ? 'a Pod waits' : `${held.length} Pods wait`}: ${names}: ${first.reason}`;
}

/**
 * Adds to the reason who manages the gang, where that is another operator. Once every group has its Pods and their gates are
 * removed, the gang waits for its scheduler alone and the operator is not named.
 * @param mover the sentence about the other operator; undefined for Muster's own gang
 */
export function whyOfAnothers(
  mover: string | undefined,
  census: readonly GroupCensus[],
  why: string,
): string {
  if (mover === undefined || why === '' || why.includes(mover)) return why;
  const isLetGo = census.every(
    ({ members, present, minReplicas }) => present.length >= minReplicas && !members.some(isGated),
  );
  return isLetGo ? why : `${why}; ${mover}`;
}

/** Whether all unbound Pods are without gates, and the scheduler has reported on none of them. */
function isUnanswered(pods: readonly PodRecord[]): boolean {
  const unbound = pods.filter((pod) => !isBound(pod));
  return (
    unbound.length > 0 &&
    unbound.every(
      ({ gates, podScheduled }) =>
        gates.length === 0 && (podScheduled === undefined || podScheduled.reason === 'SchedulingGated'),
    )
  );
}

/**
 * Milliseconds after gates were removed or Pods were created, during which a scheduler's message may still be about the
 * gated or missing Pods. To repeat such a message would raise an alarm for every gang that forms.
 */
const SETTLING_MS = 3_000;

/**
 * Why the scheduler does not place an unbound Pod, in its own words; undefined where it only reports that the Pod is gated,
 * or schedulable.
 */
export function schedulerWords(pod: PodRecord): string | undefined {
  const said = pod.podScheduled;
  if (isBound(pod) || said?.status !== 'False') return undefined;
  if (said.reason === 'SchedulingGated' || said.reason === 'Schedulable') return undefined;
  return oneLine(said.message ?? '') || said.reason;
}

export interface SchedulerWords {
  /** Why the scheduler does not place the gang; undefined where it has reported nothing that counts. */
  readonly words?: string;
  /** Milliseconds until the present message counts. */
  readonly countsAfterMs?: number;
}

/**
 * The scheduler's words about a gang that is not Scheduled: first those about the whole gang, with reasons that no Pod has
 * (a closed queue, a count that is not reached), then those about one Pod, if they differ.
 */
export function gangWords(
  { now, backend }: GangState,
  gang: GangRecord,
  census: readonly GroupCensus[],
): SchedulerWords {
  const left = (since: number): number => {
    const age = now - since;
    return age >= 0 && age < SETTLING_MS ? SETTLING_MS - age : 0;
  };
  const formed = timeOf(initializedOf(gang)?.lastTransitionTime);
  if (backend.schedulerMessage === undefined) return counting(podPart(census, undefined, left(formed)));
  // Only the oldest Pods of the minimum count, so that surplus Pods that keep coming do not delay the message.
  const minimum = census.map(({ present, minReplicas }) =>
    present.length <= minReplicas ? present : present.toSorted(byAge).slice(0, minReplicas),
  );
  // The times have one format, so the greatest text is the latest time.
  const born = minimum.flat().map((pod) => pod.creationTimestamp ?? '');
  const newest = Math.max(formed, timeOf(born.reduce((last, next) => (next > last ? next : last), '')));
  // While Pods are missing or gated a scheduler reports only that, in words that could be mistaken for another reason.
  const free = census.every(
    (group, index) =>
      (minimum[index] ?? []).filter((pod) => pod.gates.length === 0).length >= group.minReplicas,
  );
  const says = free ? oneLine(backend.schedulerMessage) : undefined;
  return counting([
    ...(says === undefined ? [] : [{ text: `${OF_THE_GANG}: ${says}`, wait: left(newest) }]),
    ...podPart(census, says, left(formed)),
  ]);
}

interface Part {
  readonly text: string;
  /** Milliseconds until the text counts. */
  readonly wait: number;
}

function counting(parts: readonly Part[]): SchedulerWords {
  const words = parts.filter((part) => part.wait === 0).map((part) => part.text);
  if (words.length > 0) return { words: words.join('; ') };
  return parts.length === 0 ? {} : { countsAfterMs: Math.min(...parts.map((part) => part.wait)) };
}

/** The scheduler's words about the first Pod for which they say more than those about the gang. */
function podPart(census: readonly GroupCensus[], says: string | undefined, wait: number): Part[] {
  for (const pod of census.flatMap((group) => group.present)) {
    const words = schedulerWords(pod);
    if (words === undefined || says?.includes(words) === true) continue;
    const head = says === undefined ? 'the scheduler says of' : 'of';
    return [{ text: `${head} ${pod.name}: ${words}`, wait }];
  }
  return [];
}

const timeOf = (text: string | undefined): number => Date.parse(text ?? '') || 0;
