import { fault, type Fault } from '../api/fault.ts';
import { isObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import type { PodReader } from './preparer.ts';

/** The container of a Pod that runs the gang's program. */
export interface ChosenContainer {
  readonly name: string;
  /** Path of the container, such as `spec.containers[0]`. */
  readonly path: string;
  readonly container: JsonObject;
}

export const containersOf = (pod: PodReader): readonly JsonObject[] => {
  const containers = pod.at(['spec', 'containers']);
  return Array.isArray(containers) ? (containers as readonly Json[]).filter(isObject) : [];
};

/**
 * The container with the configured name, else the one that has been prepared (other webhooks may have added containers
 * since), else the only one.
 * @param named name from the HPCPolicy
 */
export function containerOf(
  pod: PodReader,
  named: string | undefined,
  isPrepared: (container: JsonObject) => boolean,
): ChosenContainer | Fault {
  const all = containersOf(pod).map(chosenAt);
  const [only] = all;
  if (named === undefined && all.length === 1 && only !== undefined) return only;
  const found = all.filter(({ name, container }) =>
    named === undefined ? isPrepared(container) : name === named,
  );
  const [chosen, ...others] = found.length > 0 || named !== undefined ? found : all;
  if (chosen !== undefined && others.length === 0) return chosen;
  const names = `the Pod has ${all.map(({ name }) => name).join(', ') || 'no container'}`;
  const detail = named === undefined ? names : `${named} is named, ${names}`;
  return fault('HpcRunnerUnknown', 'spec.containers', { detail });
}

const chosenAt = (container: JsonObject, index: number): ChosenContainer => ({
  name: ownString(container, 'name') ?? '',
  path: `spec.containers[${index}]`,
  container,
});
