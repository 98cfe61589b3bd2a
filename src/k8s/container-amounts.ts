import { isObject, own, ownList, type Json, type JsonObject } from '../json/json.ts';
import { parseQuantity } from './quantity.ts';

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

/** Whole CPU cores in the container's limits or requests, at least 1; undefined where it asks for none. */
export function coresAsked(container: JsonObject): number | undefined {
  const cpu = askedBy(container).find((amounts) => own(amounts, 'cpu') !== undefined);
  return cpu === undefined ? undefined : wholeCores(own(cpu, 'cpu'));
}

/** Whole CPU cores that the container is limited to, at least 1; undefined without a limit. */
export function coresLimited(container: JsonObject): number | undefined {
  const cpu = own(own(own(container, 'resources'), 'limits'), 'cpu');
  return cpu === undefined ? undefined : wholeCores(cpu);
}

const wholeCores = (cpu: Json | undefined): number =>
  Math.max(1, Number((parseQuantity(cpu) ?? 0n) / 1_000_000_000n));

const askedBy = (container: JsonObject): JsonObject[] =>
  ['limits', 'requests'].map((part) => own(own(container, 'resources'), part)).filter(isObject);

/** Cores and GPUs of a container, such as `4 2`; `-` for cores that it leaves open. */
export const amountsText = (container: JsonObject): string =>
  `${coresAsked(container) ?? '-'} ${gpusOf(container)?.count ?? 0}`;

/** The container of a Pod's spec whose command contains `word`; undefined where none does. */
export const containerRunning = (spec: JsonObject | undefined, word: string): JsonObject | undefined =>
  (ownList(spec, 'containers') ?? [])
    .filter(isObject)
    .find((one) => (ownList(one, 'command') ?? []).includes(word));
