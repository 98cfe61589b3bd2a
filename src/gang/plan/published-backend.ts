import type { PodGang } from '../../api/pod-gang.ts';
import { isInitialized } from '../rules/initialized.ts';
import type { BackendState } from '../records.ts';

/** The words in which the loop says in a gang's conditions what its backend lacks, or what the scheduler says. */
const NOT_READY = /\bbackend \S+ is not ready(?:: ([^]*))?$/;
const NO_OBJECTS = /\bwaiting for the scheduler's objects of backend \S+?(?:: ([^]*))?$/;
const SAYS = /; the scheduler says of the gang: ([^]*)$/;

/**
 * What the loop knows of a gang's backend, for those who see only what it has written: the conditions of the gang.
 * @param base what is known without them
 */
export function publishedBackend(gang: PodGang, base: BackendState): BackendState {
  const type = isInitialized(gang) ? 'Scheduled' : 'Initialized';
  const condition = gang.conditions.find((one) => one.type === type);
  if (condition?.status !== 'False') return base;
  const message = condition.message ?? '';
  const notReady = NOT_READY.exec(message);
  if (notReady !== null) return { ...base, ready: false, reason: notReady[1], objectsExist: false };
  const noObjects = NO_OBJECTS.exec(message);
  if (noObjects !== null) return { ...base, objectsExist: false, objectsWait: noObjects[1] };
  return { ...base, says: SAYS.exec(message)?.[1] };
}
