import type { GangState } from '../records.ts';
import { statusText } from '../status-text.ts';
import type { Hold } from './reasons.ts';

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
