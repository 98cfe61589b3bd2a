import type { GangState, BackendState, PodRecord } from '../records.ts';
import { statusText, listed, quoted } from '../../text/printable.ts';
import { CONDITION_SCHEDULED, type Hold } from './conditions.ts';
import type { GroupCensus } from './census.ts';
import { CONDITION_INITIALIZED, type PodGang } from '../../api/pod-gang.ts';
import { isInitialized } from '../rules/initialized.ts';

/** Not all of the gang's namespace is known. */
export const memoryHold = ({ memoryExceeded }: GangState): Hold | undefined =>
  memoryExceeded === undefined
    ? undefined
    : { reason: 'NamespaceTooLarge', message: statusText(memoryExceeded) };

/** Pods of it are prepared for another scheduler. */
export const mismatchHold = (message: string): Hold => ({ reason: 'SchedulerMismatch', message });

/** Its groups make no sense. */
export const specHold = (faults: string | undefined): Hold | undefined =>
  faults === undefined ? undefined : { reason: 'PodGangPodsCreationPending', message: faults };

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

// What a backend says stands last in a condition's message, behind one of these and a colon.
const NOT_READY = 'is not ready';
const NO_OBJECTS = "waiting for the scheduler's objects of backend";
/** What the scheduler says of a gang, in its own words. */
export const OF_THE_GANG = 'the scheduler says of the gang';

/** What is said of Pods that the scheduler still counts. */
export const OF_THE_GENERATION_BEFORE = 'waiting for Pods of the generation before to go';

/** What keeps the backend from answering for the gang; undefined for nothing. */
export function backendHold(backend: BackendState): Hold | undefined {
  const { name, ready, reason, objectsExist, objectsWait } = backend;
  const because = (words: string | undefined): string => (words === undefined ? '' : `: ${words}`);
  if (!ready) return { reason: 'BackendNotReady', message: `backend ${name} ${NOT_READY}${because(reason)}` };
  if (objectsExist) return undefined;
  return { reason: 'WaitingForBackendObjects', message: `${NO_OBJECTS} ${name}${because(objectsWait)}` };
}

/**
 * What the loop knows of a gang's backend, for those who see only what it has written: the reason of the condition tells
 * what is the matter, and the words are those of the backend.
 * @param base what is known without them
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

/** The rest of a message behind the first colon after this part of it. */
function wordsBehind(message: string, part: string): string | undefined {
  const place = message.indexOf(part);
  const colon = place < 0 ? -1 : message.indexOf(': ', place + part.length);
  return colon < 0 ? undefined : message.slice(colon + 2);
}
