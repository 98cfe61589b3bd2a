import { own, ownList, ownString, type Json, type JsonObject } from '../json/json.ts';
import { path, valueAt } from '../workloads/path.ts';
import type { WorkloadKind } from '../workloads/workload-kind.ts';

/**
 * Whether a workload in a member cluster is healthy. A workload that runs to completion is healthy until it has failed:
 * waiting for capacity is no failure, and Karmada must not move a waiting gang as unhealthy. A workload that serves is
 * healthy when as many Pods are ready as its spec requests.
 */
export function isHealthy(object: JsonObject, { health }: WorkloadKind): boolean {
  const { phases, conditions, ready = [] } = health;
  if (phases.some(({ path: at, values }) => values.includes(textAt(object, at)))) return false;
  if (conditions.some((type) => isTrue(object, type))) return false;
  if (ready.length > 0 && isBehind(object)) return false;
  return ready.every(
    ({ has, wants, otherwise }) => numberAt(object, has, 0) >= numberAt(object, wants, otherwise),
  );
}

const textAt = (object: JsonObject, at: string): string => {
  const value = valueAt(object, path(at));
  return typeof value === 'string' ? value : '';
};

const numberAt = (object: JsonObject, at: string, otherwise: number): number => {
  const value = valueAt(object, path(at));
  return typeof value === 'number' ? value : otherwise;
};

const isTrue = (object: JsonObject, type: string): boolean =>
  (ownList(own(object, 'status'), 'conditions') ?? []).some(
    (condition: Json) => ownString(condition, 'type') === type && ownString(condition, 'status') === 'True',
  );

/** Whether the controller has not observed the current spec, so that the numbers in the status are outdated. */
function isBehind(object: JsonObject): boolean {
  const generation = own(own(object, 'metadata'), 'generation');
  const observed = own(own(object, 'status'), 'observedGeneration');
  return typeof generation === 'number' && typeof observed === 'number' && observed < generation;
}
