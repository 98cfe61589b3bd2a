import { isBound, isGated, byAge, type GroupCensus } from './census.ts';
import { CONDITION_READY, type WantedCondition } from './conditions.ts';
import type { Waiting } from './gang-plan.ts';
import { listed, oneLine } from '../../text/printable.ts';
import type { PodRecord, GangRecord, GangState } from '../records.ts';
import { initializedOf } from '../rules/initialized.ts';
import { OF_THE_GANG } from './holds.ts';

/** Pods named in one line. */
const MAX_NAMED = 3;

/** A Pod and where it is. */
export const placed = (pods: readonly PodRecord[]): string =>
  listed(
    pods.map(({ name, nodeName }) => (nodeName === '' ? name : `${name} on ${nodeName}`)),
    'Pods',
    MAX_NAMED,
  );

/**
 * Why a gang is not Running, in one line: the words of the condition that says so, and what would cost every gang that
 * forms a write if it stood there too.
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
  // Running and not ready: a container that fails, or a node that is lost.
  const silent = pods.filter((pod) => pod.phase === 'Running' && !pod.ready);
  if (condition.type === CONDITION_READY && silent.length > 0) more.push(`not ready: ${placed(silent)}`);
  return [condition.message, ...more].join('; ');
}

/** Why Pods wait of a gang of which nothing else is to be said: it runs, and these replace or join others. */
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
 * The same of a gang that somebody else moves, who is named until every group has its Pods and all of them were let go: from
 * then on it waits for its scheduler alone.
 * @param mover undefined where it is ours
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

/** Whether all that is not bound was let go, and the scheduler has not said a word. */
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
 * For so long (ms) after Pods were let go, or came, what the scheduler says may still be about the time before, when they
 * were gated or missing. Whoever repeated it would raise an alarm over every gang that forms.
 */
const SETTLING_MS = 3_000;

/** What the scheduler says of an unbound Pod that it does not place. That it is gated, or fits, is no reason. */
export function schedulerWords(pod: PodRecord): string | undefined {
  const said = pod.podScheduled;
  if (isBound(pod) || said?.status !== 'False') return undefined;
  if (said.reason === 'SchedulingGated' || said.reason === 'Schedulable') return undefined;
  return oneLine(said.message ?? '') || said.reason;
}

export interface SchedulerWords {
  /** Why the scheduler does not place the gang; undefined where it has said nothing that counts. */
  readonly words?: string;
  /** Milliseconds until what it says now counts. */
  readonly countsAfterMs?: number;
}

/**
 * What the scheduler says of a gang that is not scheduled: first what it says of the whole, which names what no Pod does
 * (a closed queue, a count that is not reached), then of one Pod, where that is something else.
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
  // Surplus Pods that keep coming must not put it off.
  const minimum = census.map(({ present, minReplicas }) =>
    present.length <= minReplicas ? present : present.toSorted(byAge).slice(0, minReplicas),
  );
  // Times of one form: the greatest text is the latest.
  const born = minimum.flat().map((pod) => pod.creationTimestamp ?? '');
  const newest = Math.max(formed, timeOf(born.reduce((last, next) => (next > last ? next : last), '')));
  // Of a gang whose Pods are missing or gated it only says that, in words that would be taken for something else.
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
  /** Milliseconds until it counts. */
  readonly wait: number;
}

function counting(parts: readonly Part[]): SchedulerWords {
  const words = parts.filter((part) => part.wait === 0).map((part) => part.text);
  if (words.length > 0) return { words: words.join('; ') };
  return parts.length === 0 ? {} : { countsAfterMs: Math.min(...parts.map((part) => part.wait)) };
}

/** Of the first Pod of which it says more than of the gang. */
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
