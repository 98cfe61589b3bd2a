import { own, ownString, type JsonObject } from '../../json/json.ts';

/** Name of the scheduler for a binding that names none. */
const KARMADA_DEFAULT_SCHEDULER = 'default-scheduler';

/** Labels that Karmada sets on bindings of its own; each such binding has one of them. */
const MANAGED = [
  'propagationpolicy.karmada.io/permanent-id',
  'clusterpropagationpolicy.karmada.io/permanent-id',
  'binding.karmada.io/managed-by',
];

/** Name of the scheduler for a binding, set by its policy. */
export const schedulerOf = (binding: JsonObject): string =>
  ownString(own(binding, 'spec'), 'schedulerName') || KARMADA_DEFAULT_SCHEDULER;

/** Whether scheduling of the binding is suspended. */
export const isSuspended = (binding: JsonObject): boolean =>
  own(own(own(binding, 'spec'), 'suspension'), 'scheduling') === true;

/** Whether Karmada created the binding for a policy; schedulers ignore all others. */
export const isManaged = (binding: JsonObject): boolean => {
  const labels = own(own(binding, 'metadata'), 'labels');
  return MANAGED.some((label) => (ownString(labels, label) ?? '') !== '');
};
