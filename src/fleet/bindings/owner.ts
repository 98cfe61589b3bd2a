import { own, ownString, type JsonObject } from '../../json/json.ts';

/** The scheduler of a binding that names none. */
const KARMADA_DEFAULT_SCHEDULER = 'default-scheduler';

/** Labels by which Karmada knows a binding of its own making; one of them is on each. */
const MANAGED = [
  'propagationpolicy.karmada.io/permanent-id',
  'clusterpropagationpolicy.karmada.io/permanent-id',
  'binding.karmada.io/managed-by',
];

/** Which scheduler a binding is for, as its policy says. */
export const schedulerOf = (binding: JsonObject): string =>
  ownString(own(binding, 'spec'), 'schedulerName') || KARMADA_DEFAULT_SCHEDULER;

/** Whether scheduling of it is suspended. */
export const isSuspended = (binding: JsonObject): boolean =>
  own(own(own(binding, 'spec'), 'suspension'), 'scheduling') === true;

/** Whether Karmada made it for a policy; no scheduler places others. */
export const isManaged = (binding: JsonObject): boolean => {
  const labels = own(own(binding, 'metadata'), 'labels');
  return MANAGED.some((label) => (ownString(labels, label) ?? '') !== '');
};
