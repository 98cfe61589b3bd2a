import { quoted } from '../../text/printable.ts';
import type { GroupCensus } from './census.ts';
import type { BackendState, PodRecord } from '../records.ts';
import { listed, statusText } from '../status-text.ts';

/** Pods and schedulers named in one sentence; there may be a thousand. */
const MAX_NAMED = 3;

/** What is said of a Pod that is prepared for another scheduler than its gang's. */
export const misplacedPod = ({ name }: BackendState, { schedulerName }: PodRecord): string =>
  statusText(
    `it is prepared for scheduler ${quoted(schedulerName)}, its gang is served by backend ${name}: delete the Pod, so that it is made anew, without a schedulerName in its template`,
  );

/**
 * What a gang says that lacks Pods of its own scheduler and has some of another: without these words it would say that
 * Pods are missing which everybody can see. undefined where no group is short for that reason.
 * @param wanted how many Pods of a group the gang waits for
 */
export function mismatch(
  { name }: BackendState,
  census: readonly GroupCensus[],
  wanted: (group: GroupCensus) => number,
): string | undefined {
  const pods = census
    .filter((group) => group.present.length < wanted(group))
    .flatMap((group) => group.misplaced);
  if (pods.length === 0) return undefined;
  const names = listed(
    pods.map((pod) => pod.name),
    'Pods',
    MAX_NAMED,
  );
  const schedulers = [...new Set(pods.map((pod) => quoted(pod.schedulerName)))];
  const one = pods.length === 1;
  const are = one ? `Pod ${names} is` : `Pods ${names} are`;
  const anew = one ? 'it, so that it is made anew' : 'them, so that they are made anew';
  return `${are} prepared for scheduler ${schedulers.slice(0, MAX_NAMED).join(', ')}, the gang is served by backend ${name}: delete ${anew}, without a schedulerName in the template`;
}
