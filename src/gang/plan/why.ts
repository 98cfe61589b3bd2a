import { isBound, isGated, type GroupCensus } from './census.ts';
import { CONDITION_READY, type WantedCondition } from './conditions.ts';
import type { Waiting } from './gang-plan.ts';
import { listed } from '../status-text.ts';
import type { PodRecord } from '../records.ts';

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
