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

/** What is to be done for a binding. */
export interface BindingVerdict {
  /** Why it was judged; undefined where there was nothing to judge. */
  readonly due: RescheduleReason | undefined;
  /** What `spec.clusters` is to be, null for nothing; undefined where it stays. */
  readonly clusters: readonly TargetCluster[] | null | undefined;
  /** Whether its placement counts as the one by which it is placed. */
  readonly applies: boolean;
  readonly reason: ScheduledReason;
  readonly message: string;
  readonly affinityName: string;
  /** Whether it waits for room, or for more of it. */
  readonly waits: boolean;
}

/**
 * Where a binding goes, of what it is and what clusters say. What runs stays: a gang is neither taken down nor moved because
 * something cannot be had, unless its placement was changed or somebody told it to go.
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
    // What runs, and only wanted more, is as well as before.
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

/** What was told when it was placed holds as long as it stays so. */
function saidOf({ conditions }: BindingRecord): string {
  const said = conditions.find((one) => ownString(one, 'type') === 'Scheduled');
  const message = ownString(said, 'message') ?? '';
  return ownString(said, 'status') === 'True' && message.startsWith(SCHEDULED) ? message : SCHEDULED;
}

/** Why it is to be judged; undefined where there is nothing to judge. Nobody can say by a strategy that nobody knows. */
export function reasonToSchedule(
  { binding, applied }: BindingRecord,
  { stays }: Members,
  strategies: Strategies,
): RescheduleReason | undefined {
  const plugin = strategies.pluginOf(binding.strategy);
  return plugin === undefined ? 'placement' : rescheduleReasonOf(binding, plugin, applied, stays);
}

/** What a write needs, and what it goes by: the binding as it was read. */
interface Writing extends KubeCallOptions {
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
 * Writes what became of it. Of a failure the condition alone: observedGeneration and lastScheduledTime tell of what was
 * placed.
 * @returns whether anything was to be written
 * @throws ApiError 409 where it is not as it was read
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
