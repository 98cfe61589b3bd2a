import { ownString, type Json } from '../../json/json.ts';
import { kubeTime } from '../../k8s/time.ts';

/** Reasons of condition `Scheduled`, the same as those of Karmada's scheduler. */
export type ScheduledReason =
  'Success' | 'NoClusterFit' | 'Unschedulable' | 'QuotaExceeded' | 'SchedulerError';

const TYPE = 'Scheduled';

/**
 * The full list of conditions with the new condition `Scheduled`; undefined when nothing changes. The full list is needed,
 * because a merge patch of the status replaces lists.
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
