import { own, ownString, type JsonObject } from '../json/json.ts';
import {
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_FOR,
  PREEMPTION_POLICIES,
  type PreemptionPolicy,
} from './preemption-terms.ts';

/** A PriorityClass (scheduling.k8s.io), as much of it as decides something. */
export interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly globalDefault: boolean;
  /** False with `preemptionPolicy: Never`. */
  readonly preempts: boolean;
  /** What its annotation says that gangs of it do; absent: as each of its Pods. */
  readonly ofGangs?: PreemptionPolicy;
  /** Scheduling classes whose gangs may name this one as what it costs to preempt them, beside those at or above it; `*`: all. */
  readonly standsFor?: readonly string[];
}

/** Whether gangs of the class preempt, all Pods together. */
export const letsGangsPreempt = ({ preempts, ofGangs }: PriorityClass): boolean =>
  ofGangs === undefined ? preempts : ofGangs !== 'Never';

/** Whether a gang of `scheduling` may name `cost`: who costs more than it may preempt is kept from whoever is between the two. */
export function mayCost(cost: PriorityClass, scheduling: PriorityClass | undefined): boolean {
  if (cost.name === scheduling?.name) return true;
  if (isOfSystem(cost.name)) return false;
  const { standsFor = [] } = cost;
  return (
    cost.value <= (scheduling?.value ?? 0) ||
    standsFor.includes('*') ||
    (scheduling !== undefined && standsFor.includes(scheduling.name))
  );
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
  const annotations = own(own(object, 'metadata'), 'annotations');
  const policy = ownString(annotations, ANNOTATION_PREEMPTION_POLICY);
  const ofGangs = PREEMPTION_POLICIES.find((one) => one === policy);
  const standsFor = ownString(annotations, ANNOTATION_PREEMPTION_PRIORITY_FOR);
  return {
    name: ownString(own(object, 'metadata'), 'name') ?? '',
    value: typeof value === 'number' ? value : 0,
    globalDefault: own(object, 'globalDefault') === true,
    preempts: ownString(object, 'preemptionPolicy') !== 'Never',
    ...(ofGangs !== undefined && { ofGangs }),
    ...(standsFor !== undefined && { standsFor: standsFor.split(',').map((name) => name.trim()) }),
  };
}

/** Of several that a race has left the one with the lowest value, as the API server has it. */
export function defaultClass(classes: Iterable<PriorityClass>): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const one of classes)
    if (one.globalDefault && (found === undefined || one.value < found.value)) found = one;
  return found;
}
