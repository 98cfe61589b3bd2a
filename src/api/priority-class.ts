import { own, ownString, type JsonObject } from './json.ts';

/** A PriorityClass (scheduling.k8s.io), as much of it as decides something. */
export interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly globalDefault: boolean;
  /** False with `preemptionPolicy: Never`. */
  readonly preempts: boolean;
}

/** What is known from memory of a cluster's PriorityClasses. */
export interface PriorityClasses {
  /** False until all were listed once, which may be never where the right is missing: then nothing is said of any class. */
  readonly known: boolean;
  get(name: string): PriorityClass | undefined;
  values(): Iterable<PriorityClass>;
  /** The class of whoever names none; undefined: such have the priority 0. */
  readonly byDefault: PriorityClass | undefined;
}

/** Kubernetes keeps these names for itself. */
export const isOfSystem = (name: string): boolean => name.startsWith('system-');

/** As the API server has stored it. */
export function readPriorityClass(object: JsonObject): PriorityClass {
  const value = own(object, 'value');
  return {
    name: ownString(own(object, 'metadata'), 'name') ?? '',
    value: typeof value === 'number' ? value : 0,
    globalDefault: own(object, 'globalDefault') === true,
    preempts: ownString(object, 'preemptionPolicy') !== 'Never',
  };
}

/** Of several that a race has left the one with the lowest value, as the API server has it. */
export function defaultClass(classes: Iterable<PriorityClass>): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const one of classes)
    if (one.globalDefault && (found === undefined || one.value < found.value)) found = one;
  return found;
}
