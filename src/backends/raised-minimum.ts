import { CONDITION_INITIALIZED, type PodGang } from '../api/pod-gang.ts';
import { printable } from '../text/printable.ts';

/** So many groups are named in one warning. */
const MOST = 8;

/**
 * Groups of a gang that was let go, whose minimum an update puts above the Pods that the gang has: `worker 2 to 4 (has 2)`.
 * A scheduler counts them from then on, and what it does to the Pods that run is its own.
 * @returns undefined where there are none
 */
export function raisedMinimums(before: PodGang, after: PodGang): string | undefined {
  const letGo = before.conditions.some(
    ({ type, status }) => type === CONDITION_INITIALIZED && status === 'True',
  );
  if (!letGo) return undefined;
  const was = new Map(before.spec.groups.map(({ name, minReplicas }) => [name, minReplicas]));
  const raised = after.spec.groups.flatMap(({ name, minReplicas, podReferences = [] }) => {
    const former = was.get(name);
    const short = former !== undefined && minReplicas > former && minReplicas > podReferences.length;
    return short ? [`${printable(name, 63)} ${former} to ${minReplicas} (has ${podReferences.length})`] : [];
  });
  return raised.length === 0 ? undefined : raised.slice(0, MOST).join(', ');
}
