import { CONDITION_INITIALIZED, type PodGang } from '../../api/pod-gang.ts';
import { isInitialized } from '../rules/initialized.ts';
import type { BackendState } from '../records.ts';
import { CONDITION_SCHEDULED } from './conditions.ts';
import type { Hold } from './reasons.ts';

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
