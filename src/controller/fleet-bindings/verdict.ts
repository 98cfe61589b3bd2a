import { ownString, type Json } from '../../json/json.ts';
import { assign, SCHEDULED } from '../../fleet/assign/assign.ts';
import type { TargetCluster } from '../../fleet/assign/binding.ts';
import type { Estimates } from '../../fleet/assign/candidate.ts';
import {
  rescheduleReasonOf,
  keepsWhatRuns,
  sameClusters,
  type RescheduleReason,
} from '../../fleet/assign/reschedule-reason.ts';
import type { Strategies } from '../../fleet/assign/strategies.ts';
import { scheduledConditions, type ScheduledReason } from '../../fleet/bindings/scheduled-condition.ts';
import { ANNOTATION_APPLIED_PLACEMENT, type BindingRecord } from './binding-record.ts';
import type { Members } from './members.ts';
import { kubeTime } from '../../k8s/time.ts';
import {
  ANNOTATION_PLACED_COMPONENTS,
  placedComponentsText,
} from '../../fleet/assign/binding-annotations.ts';
import type { KubeCallOptions, KubeClient } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/client/resources.ts';
import { bindingTarget } from '../watch/binding-watches.ts';

/** The decision on a binding. */
export interface BindingVerdict {
  /** Why the binding was to be scheduled; undefined when it was not. */
  readonly due: RescheduleReason | undefined;
  /** The new `spec.clusters`, null to remove it; undefined to leave it unchanged. */
  readonly clusters: readonly TargetCluster[] | null | undefined;
  /** Whether the binding's placement is recorded as its applied placement. */
  readonly applies: boolean;
  readonly reason: ScheduledReason;
  readonly message: string;
  readonly affinityName: string;
  /** Whether the binding waits for capacity, or for more of it. */
  readonly waits: boolean;
}

/**
 * Decides where a binding goes from the binding and the reported clusters. A running gang is neither removed nor moved
 * because capacity is missing, unless its placement was changed or a reschedule was requested.
 */
export function verdictOn(
  record: BindingRecord,
  members: Members,
  strategies: Strategies,
  estimates?: Estimates,
): BindingVerdict {
  const { binding, faults } = record;
  const plugin = strategies.pluginOf(binding.strategy);
  const { stays } = members;
  const settled: BindingVerdict = {
    due: undefined,
    clusters: undefined,
    applies: true,
    reason: 'Success',
    message: saidOf(record),
    affinityName: binding.affinityName,
    waits: false,
  };
  if (faults.length > 0) {
    const message = faults.map(({ field, message: what }) => `${field}: ${what}`).join('; ');
    return { ...settled, due: 'placement', applies: false, reason: 'SchedulerError', message };
  }
  const due = reasonToSchedule(record, members, strategies);
  if (due === undefined) return settled;
  const gang = plugin?.room !== undefined || binding.minAvailable.size > 0 || binding.components.length > 1;
  const found = assign(binding, members.all(), strategies, estimates);
  const { reason, message, affinityName } = found;
  const held: BindingVerdict = { ...settled, due, applies: false, reason, message, waits: true };
  if (reason !== 'Success') {
    // A placed binding that only asked for more replicas keeps the ones it has.
    if (due === 'growth') return { ...settled, due, waits: true };
    const takenDown = reason === 'NoClusterFit' && binding.clusters.length > 0 && !gang;
    return takenDown ? { ...held, clusters: null, applies: true } : held;
  }
  const mayMove = due === 'placement' || due === 'fresh';
  if (gang && !mayMove && !keepsWhatRuns(binding, found.clusters, stays)) {
    if (due === 'growth') return { ...settled, due, waits: true };
    const why = 'no available scheduling results: it would have to move, and what runs is not moved';
    return { ...held, reason: 'Unschedulable', message: why };
  }
  const clusters = sameClusters(binding.clusters, found.clusters) ? undefined : found.clusters;
  const after = clusters === undefined ? binding : { ...binding, clusters };
  const waits = plugin !== undefined && rescheduleReasonOf(after, plugin, true, stays) === 'growth';
  return { ...settled, message, due, clusters, affinityName, waits };
}

/** The message of the condition `Scheduled`, which holds as long as the placement is unchanged. */
function saidOf({ conditions }: BindingRecord): string {
  const said = conditions.find((one) => ownString(one, 'type') === 'Scheduled');
  const message = ownString(said, 'message') ?? '';
  return ownString(said, 'status') === 'True' && message.startsWith(SCHEDULED) ? message : SCHEDULED;
}

/** Why a binding is to be scheduled; undefined when it is not. An unknown strategy always gives `placement`. */
export function reasonToSchedule(
  { binding, applied }: BindingRecord,
  { stays }: Members,
  strategies: Strategies,
): RescheduleReason | undefined {
  const plugin = strategies.pluginOf(binding.strategy);
  return plugin === undefined ? 'placement' : rescheduleReasonOf(binding, plugin, applied, stays);
}

/** The options of a write, and the binding that was read. */
interface Writing extends KubeCallOptions {
  readonly client: KubeClient;
  readonly now: Date;
}

/** The fields of a binding that a write needs from the write before it. */
interface State {
  readonly resourceVersion: string;
  readonly generation: number;
}

/**
 * Writes the clusters and the applied placement when they changed.
 * @returns the binding after the write
 * @throws ApiError 409 when the binding was changed since it was read, 403 when a quota is exceeded
 */
export async function writeClusters(
  record: BindingRecord,
  { clusters, applies }: BindingVerdict,
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
 * Writes the status. A failure changes only the condition: observedGeneration and lastScheduledTime describe the last
 * placement.
 * @returns whether anything had to be written
 * @throws ApiError 409 when the binding was changed since it was read
 */
export async function writeStatus(
  record: BindingRecord,
  { due, reason, message, affinityName }: Pick<BindingVerdict, 'due' | 'reason' | 'message' | 'affinityName'>,
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
      // Never before the requested reschedule time: with a slow clock the binding would be rescheduled for ever.
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
