import { LABEL_MANAGED_BY } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import type { Fault } from '../api/fault.ts';
import { own, ownObject, type JsonObject } from '../json/json.ts';
import type { Resource } from '../k8s/resource.ts';
import type { SyncContext } from './cluster.ts';

/**
 * The gang's labels, for its objects to be found by. Who manages the gang does not manage them: on an object of
 * Muster's that label says so.
 */
export const inheritedLabels = (gang: Pick<PodGang, 'labels'>): Record<string, string> =>
  Object.fromEntries([...gang.labels].filter(([key]) => key !== LABEL_MANAGED_BY));

/** `spec` of a gang's object as last seen; undefined where there is no such object. */
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
 * Stops the sync of a gang that the scheduler cannot hold: Grove's gangs pass no admission, and others were admitted under
 * another configuration.
 * @throws Error with every fault
 */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0)
    throw new Error(faults.map(({ field, message }) => `${field}: ${message}`).join('; '));
}
