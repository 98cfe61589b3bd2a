import { fault, type Fault } from '../api/fault.ts';
import { isObject, own, ownString, type Json, type JsonObject } from '../json/json.ts';
import { parseQuantity } from '../k8s/quantity.ts';
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

export interface AskedGpus {
  readonly resource: string;
  readonly count: number;
}

/** GPUs in the container's limits or requests, of any vendor's resource name. */
export function gpusOf(container: JsonObject): AskedGpus | undefined {
  for (const amounts of askedBy(container)) {
    const resource = Object.keys(amounts).find((name) => /gpu/i.test(name));
    const count = Number(own(amounts, resource ?? ''));
    if (resource !== undefined && Number.isInteger(count) && count > 0) return { resource, count };
  }
  return undefined;
}

/** Whole CPU cores in the container's limits or requests, at least 1. */
export function coresOf(container: JsonObject): number {
  const cpu = askedBy(container).find((amounts) => own(amounts, 'cpu') !== undefined);
  const billionths = parseQuantity(own(cpu, 'cpu')) ?? 0n;
  return Math.max(1, Number(billionths / 1_000_000_000n));
}

const askedBy = (container: JsonObject): JsonObject[] =>
  ['limits', 'requests'].map((part) => own(own(container, 'resources'), part)).filter(isObject);
