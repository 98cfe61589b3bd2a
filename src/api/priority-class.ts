import { own, ownString, type JsonObject } from '../json/json.ts';
import {
  ANNOTATION_PREEMPTION_POLICY,
  ANNOTATION_PREEMPTION_PRIORITY_FOR,
  PREEMPTION_POLICIES,
  type PreemptionPolicy,
} from './preemption-terms.ts';

/** A PriorityClass (scheduling.k8s.io), with the fields that Muster uses. */
export interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly globalDefault: boolean;
  /** False with `preemptionPolicy: Never`. */
  readonly preempts: boolean;
  /** Whether gangs of the class preempt, by its annotation; absent: as its Pods do. */
  readonly ofGangs?: PreemptionPolicy;
  /**
   * Scheduling classes whose gangs may name this one as their preemption class, beside those with the same or a higher
   * priority; `*`: all.
   */
  readonly standsFor?: readonly string[];
}

/** Whether gangs of the class preempt as a whole. */
export const letsGangsPreempt = ({ preempts, ofGangs }: PriorityClass): boolean =>
  ofGangs === undefined ? preempts : ofGangs !== 'Never';

/**
 * Whether a gang of class `scheduling` may name the preemption class `cost`. A preemption priority above the scheduling
 * priority protects the gang from preemptors between the two, so the class has to allow it.
 */
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

/** The PriorityClasses of a cluster, as they are in memory. */
export interface PriorityClasses {
  /**
   * False until all classes were listed once, which never happens without the right to list them; then no class is checked.
   */
  readonly known: boolean;
  get(name: string): PriorityClass | undefined;
  values(): Iterable<PriorityClass>;
  /** The class of Pods and gangs that name none; undefined: they have the priority 0. */
  readonly byDefault: PriorityClass | undefined;
}

/** Whether the class has a name that Kubernetes reserves for itself. */
export const isOfSystem = (name: string): boolean => name.startsWith('system-');

/** Reads a PriorityClass as the API server stores it. */
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

/** The default class. If a race has left several, the API server takes the one with the lowest value. */
export function defaultClass(classes: Iterable<PriorityClass>): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const one of classes)
    if (one.globalDefault && (found === undefined || one.value < found.value)) found = one;
  return found;
}
