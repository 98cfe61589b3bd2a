import type { GangState, BackendState, PodRecord } from '../records.ts';
import { statusText, listed, quoted } from '../../text/printable.ts';
import { CONDITION_SCHEDULED, type Hold } from './conditions.ts';
import type { GroupCensus } from './census.ts';
import { CONDITION_INITIALIZED, type PodGang } from '../../api/pod-gang.ts';
import { isInitialized } from '../rules/initialized.ts';

/** The hold of a gang whose namespace is not wholly known; undefined where it is known. */
export const memoryHold = ({ memoryExceeded }: GangState): Hold | undefined =>
  memoryExceeded === undefined
    ? undefined
    : { reason: 'NamespaceTooLarge', message: statusText(memoryExceeded) };

/** The hold of a gang with Pods that are prepared for another scheduler. */
export const mismatchHold = (message: string): Hold => ({ reason: 'SchedulerMismatch', message });

/** The hold of a gang with a faulty spec; undefined where it has no faults. */
export const specHold = (faults: string | undefined): Hold | undefined =>
  faults === undefined ? undefined : { reason: 'PodGangPodsCreationPending', message: faults };

/** The most Pods and schedulers named in one sentence; there may be a thousand. */
const MAX_NAMED = 3;

/** The message about a Pod that is prepared for another scheduler than its gang's. */
export const misplacedPod = ({ name }: BackendState, { schedulerName }: PodRecord): string =>
  statusText(
    `it is prepared for scheduler ${quoted(schedulerName)}, its gang is served by backend ${name}: delete the Pod, so that it is made anew, without a schedulerName in its template`,
  );

/**
 * The message of a gang that is short of Pods and has Pods of another scheduler. Without it the gang would report Pods as
 * missing that everybody can see. undefined where no group is short for that reason.
 * @param wanted how many Pods of a group the gang waits for
 */
export function schedulerMismatch(
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

// The backend's own words come last in a condition's message, after one of these and a colon. `publishedBackend` reads them.
const NOT_READY = 'is not ready';
const NO_OBJECTS = "waiting for the scheduler's objects of backend";
/** Comes before the scheduler's own words about a gang. */
export const OF_THE_GANG = 'the scheduler says of the gang';

/** Comes before Pods of an earlier generation that the scheduler still counts. */
export const OF_THE_GENERATION_BEFORE = 'waiting for Pods of the generation before to go';

/** The hold of a gang whose backend is not ready, or whose scheduler objects do not exist; undefined where neither is so. */
export function backendHold(backend: BackendState): Hold | undefined {
  const { name, ready, reason, objectsExist, objectsWait } = backend;
  const because = (words: string | undefined): string => (words === undefined ? '' : `: ${words}`);
  if (!ready) return { reason: 'BackendNotReady', message: `backend ${name} ${NOT_READY}${because(reason)}` };
  if (objectsExist) return undefined;
  return { reason: 'WaitingForBackendObjects', message: `${NO_OBJECTS} ${name}${because(objectsWait)}` };
}

/**
 * Reads the state of a gang's backend from the conditions that the loop has written, for readers without the loop's memory:
 * the condition's reason tells what is wrong, and its message ends with the backend's words.
 * @param base the state where no condition says otherwise
 */
export function publishedBackend(gang: PodGang, base: BackendState): BackendState {
  const type = isInitialized(gang) ? CONDITION_SCHEDULED : CONDITION_INITIALIZED;
  const condition = gang.conditions.find((one) => one.type === type);
  if (condition?.status !== 'False') return base;
  const { reason, message = '' } = condition;
  switch (reason ?? '') {
    case 'BackendNotReady' satisfies Hold['reason']:
      return { ...base, ready: false, reason: wordsBehind(message, NOT_READY), objectsExist: false };
    case 'WaitingForBackendObjects' satisfies Hold['reason']:
      return { ...base, objectsExist: false, objectsWait: wordsBehind(message, NO_OBJECTS) };
    case 'Unschedulable' satisfies Hold['reason']:
      return { ...base, schedulerMessage: wordsBehind(message, OF_THE_GANG) };
    case 'NextGenerationForming' satisfies Hold['reason']:
      return { ...base, countsEnding: message.includes(OF_THE_GENERATION_BEFORE) };
    default:
      return base;
  }
}

/** Returns the rest of a message after the first colon that follows `part`. */
function wordsBehind(message: string, part: string): string | undefined {
  const place = message.indexOf(part);
  const colon = place < 0 ? -1 : message.indexOf(': ', place + part.length);
  return colon < 0 ? undefined : message.slice(colon + 2);
}
