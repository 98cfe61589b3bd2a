import { LABEL_MANAGED_BY } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Fault } from '../api/fault.ts';
import { own, ownObject, type JsonObject } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import type { SyncContext } from './cluster.ts';

/**
 * The gang's labels, copied to its objects for finding them. `app.kubernetes.io/managed-by` is left out: Muster manages the
 * objects, whoever manages the gang.
 */
export const inheritedLabels = (gang: Pick<PodGang, 'labels'>): Record<string, string> =>
  Object.fromEntries([...gang.labels].filter(([key]) => key !== LABEL_MANAGED_BY));

/** `spec` of a gang's object as last seen; undefined when there is no such object. */
export const lastSeenSpec = (
  context: Pick<SyncContext, 'owned'>,
  resource: Resource,
  name: string,
): JsonObject | undefined =>
  ownObject(
    context.owned(resource).find((object) => own(ownObject(object, 'metadata'), 'name') === name),
    'spec',
  );

/**
 * Stops the sync of a gang that the scheduler cannot express. Such gangs exist because Grove's gangs pass no admission, and
 * the configuration may have changed since admission.
 * @throws Error with every fault
 */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0)
    throw new Error(faults.map(({ field, message }) => `${field}: ${message}`).join('; '));
}
