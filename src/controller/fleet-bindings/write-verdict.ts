import type { Json } from '../../json/json.ts';
import { kubeTime } from '../../k8s/time.ts';
import { ANNOTATION_PLACED_COMPONENTS, placedComponentsText } from '../../fleet/assign/placed-components.ts';
import { scheduledConditions } from '../../fleet/bindings/scheduled-condition.ts';
import type { CallOptions, KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/client/resources.ts';
import { bindingTarget } from '../watch/binding-watches.ts';
import { ANNOTATION_APPLIED_PLACEMENT, type BindingRecord } from './binding-record.ts';
import type { Verdict } from './verdict.ts';

/** What a write needs, and what it goes by: the binding as it was read. */
interface Writing extends CallOptions {
  readonly client: KubeClient;
  readonly now: Date;
}

/** As much of a binding as a write has to know of the one before it. */
interface State {
  readonly resourceVersion: string;
  readonly generation: number;
}

/**
 * Writes clusters and the placement that they come from, where they are others.
 * @returns the binding as it is now
 * @throws ApiError 409 where it is not as it was read, 403 where a quota is exceeded
 */
export async function writeClusters(
  record: BindingRecord,
  { clusters, applies }: Verdict,
  { client, signal }: Writing,
): Promise<State> {
  const appliesAnew = applies && !record.applied;
  if (clusters === undefined && !appliesAnew) return record;
  const components = placedComponentsText(clusters ?? record.binding.clusters);
  const patch = {
    metadata: {
      resourceVersion: record.resourceVersion,
      annotations: {
        ...(appliesAnew && { [ANNOTATION_APPLIED_PLACEMENT]: record.placement }),
        ...(components !== undefined && { [ANNOTATION_PLACED_COMPONENTS]: components }),
      },
    },
    ...(clusters !== undefined && { spec: { clusters } }),
  };
  const { metadata } = await client.mergePatch<KubeObject>(bindingTarget(record), patch, {
    signal,
    answer: 'metadata',
  });
  return { resourceVersion: metadata.resourceVersion ?? '', generation: metadata.generation ?? 0 };
}

/**
 * Writes what became of it. Of a failure the condition alone: observedGeneration and lastScheduledTime tell of what was
 * placed.
 * @returns whether anything was to be written
 * @throws ApiError 409 where it is not as it was read
 */
export async function writeStatus(
  record: BindingRecord,
  { due, reason, message, affinityName }: Pick<Verdict, 'due' | 'reason' | 'message' | 'affinityName'>,
  after: State,
  { client, now, signal }: Writing,
): Promise<boolean> {
  const status: Record<string, Json> = {};
  const conditions = scheduledConditions(record.conditions, { reason, message }, now);
  if (conditions !== undefined) status['conditions'] = conditions;
  if (reason === 'Success') {
    if (record.observedGeneration !== after.generation)
      status['schedulerObservedGeneration'] = after.generation;
    const anew = after !== record || due === 'fresh' || due === 'placement';
    if (anew || Number.isNaN(record.scheduledAt)) {
      // Not before it was told to: by a clock that runs behind it would be placed anew for ever.
      const at = Math.max(now.getTime(), Number.isNaN(record.triggeredAt) ? 0 : record.triggeredAt);
      status['lastScheduledTime'] = kubeTime(at);
    }
    if (affinityName !== record.binding.affinityName) status['schedulerObservingAffinityName'] = affinityName;
  }
  if (Object.keys(status).length === 0) return false;
  const patch = { metadata: { resourceVersion: after.resourceVersion }, status };
  await client.patchStatus(bindingTarget(record), patch, { signal, answer: 'nothing' });
  return true;
}
