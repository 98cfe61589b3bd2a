import { ownString, type Json } from '../../json/json.ts';
import { kubeTime } from '../../k8s/time.ts';

/** Of condition `Scheduled`; those of Karmada's own scheduler. */
export type ScheduledReason =
  'Success' | 'NoClusterFit' | 'Unschedulable' | 'QuotaExceeded' | 'SchedulerError';

const TYPE = 'Scheduled';

/**
 * The whole list with condition `Scheduled` as it is to be: the status is merged, so a list with one condition would be
 * all there is. undefined where it says so already.
 */
export function scheduledConditions(
  conditions: readonly Json[],
  said: { readonly reason: ScheduledReason; readonly message: string },
  now: Date,
): readonly Json[] | undefined {
  const status = said.reason === 'Success' ? 'True' : 'False';
  const before = conditions.find((one) => ownString(one, 'type') === TYPE);
  const same = (key: string, value: string): boolean => ownString(before, key) === value;
  if (same('status', status) && same('reason', said.reason) && same('message', said.message))
    return undefined;
  const since = same('status', status) ? ownString(before, 'lastTransitionTime') : undefined;
  const condition: Json = {
    type: TYPE,
    status,
    reason: said.reason,
    message: said.message,
    lastTransitionTime: since ?? kubeTime(now.getTime()),
  };
  return before === undefined
    ? [...conditions, condition]
    : conditions.map((one) => (one === before ? condition : one));
}
