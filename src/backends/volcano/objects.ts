import { isGroveManaged } from '../../gang/gang-selection.ts';
import { isObject, own, ownList, ownObject, ownString, type JsonObject } from '../../json/json.ts';
import { LABEL_POD_CLIQUE } from '../../api/names.ts';
import type { PodGang, PodGroup } from '../../api/pod-gang.ts';
import type { Resource } from '../../k8s/resource.ts';
import { totalMinimum } from '../../gang/rules/check-spec.ts';
import type { OwnedObject, SyncContext } from '../cluster.ts';
import { inheritedLabels } from '../gang-objects.ts';
import { minResourcesOf } from '../min-resources.ts';
import { networkTopology, type VolcanoConfig } from './config.ts';
import { keyed } from '../../api/fault.ts';
import { quoted } from '../../text/printable.ts';

export const VOLCANO_POD_GROUPS: Resource = {
  group: 'scheduling.volcano.sh',
  version: 'v1beta1',
  plural: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
};

/** Input of a gang's PodGroup beside the gang. */
export interface VolcanoPodGroupState {
  readonly config: VolcanoConfig;
  /** `spec` of the stored PodGroup; undefined when there is none. */
  readonly spec: JsonObject | undefined;
  /** Whether a Pod of the gang has a node. */
  readonly bound: boolean;
}

/** The PodGroup of a gang, with the gang's name. Only `spec`: the status of the same resource belongs to the scheduler. */
export function volcanoPodGroup(gang: PodGang, { config, spec, bound }: VolcanoPodGroupState): OwnedObject {
  const queue = volcanoQueueOf(gang, config.queue);
  const resources = bound ? undefined : minResources(gang, config);
  const topology = networkTopology(gang.spec.pack, config.tiers);
  return {
    resource: VOLCANO_POD_GROUPS,
    name: gang.name,
    labels: inheritedLabels(gang),
    spec: {
      ...counts(gang, config, spec),
      ...(queue !== undefined && { queue }),
      ...(gang.spec.priorityClassName && { priorityClassName: gang.spec.priorityClassName }),
      ...(resources && { minResources: resources }),
      ...(topology && { networkTopology: topology }),
    },
  };
}

/**
 * Resources that the gang waits for in its queue. They are removed once Muster reports the gang as bound, which it does not
 * do for Grove's gangs, so Grove's gangs have none.
 */
export const minResources = (gang: PodGang, config: VolcanoConfig) =>
  config.minResources && !isGroveManaged(gang) ? minResourcesOf(gang).resources : undefined;

/**
 * The minimum number of Pods of the gang and of each group. Grove releases a gang by setting every minimum to 0; the stored
 * numbers stay then, for the Pods that run, as in Grove's own backend.
 */
function counts(gang: PodGang, config: VolcanoConfig, spec: JsonObject | undefined): JsonObject {
  const total = totalMinimum(gang);
  const [minMember, subGroupPolicy] = [own(spec, 'minMember'), ownList(spec, 'subGroupPolicy')];
  if (total === 0 && typeof minMember === 'number' && minMember > 0 && subGroupPolicy?.every(isObject)) {
    return { minMember, subGroupPolicy };
  }
  return {
    minMember: Math.max(total, 1),
    subGroupPolicy: gang.spec.groups.map((group) => policyOf(group, config)),
  };
}

/**
 * The sub-group policy of one group. Every field is written, also with its default: without matchLabelKeys the policy
 * matches no Pod and the gang is never bound; without minSubGroups other groups start when this one does not. A group that
 * may be empty (`minReplicas: 0`) is an optional sub-group of size 1, since 1 is the smallest size.
 */
function policyOf(group: PodGroup, { tiers }: VolcanoConfig): JsonObject {
  const topology = networkTopology(group.pack, tiers);
  return {
    name: group.name,
    labelSelector: { matchLabels: { [LABEL_POD_CLIQUE]: group.name } },
    matchLabelKeys: [LABEL_POD_CLIQUE],
    subGroupSize: Math.max(group.minReplicas, 1),
    minSubGroups: group.minReplicas > 0 ? 1 : 0,
    ...(topology && { networkTopology: topology }),
  };
}

/** Annotation on a PodGang with the name of its queue, the same as Grove's. */
export const ANNOTATION_QUEUE = 'scheduling.grove.io/volcano-queue';
export const QUEUE_FIELD = keyed('metadata.annotations', ANNOTATION_QUEUE);

const QUEUES = '/apis/scheduling.volcano.sh/v1beta1/queues';

/**
 * The queue of a gang; undefined when neither the gang nor the configuration names one. Volcano's own webhook then sets the
 * default of the Namespace, only at creation, so writing `default` here would revert that at the next sync.
 */
export const volcanoQueueOf = (
  gang: Pick<PodGang, 'annotations'>,
  fallback: string | undefined,
): string | undefined => gang.annotations.get(ANNOTATION_QUEUE)?.trim() || fallback;

/**
 * Checks the queue before a PodGroup is written: in a missing or closed queue the PodGroup waits for ever, and Volcano
 * reports nothing on the queue or the Pods.
 * @throws Error that names the queue and its fault; ApiError
 */
export async function checkQueueIsOpen(
  context: Pick<SyncContext, 'read' | 'warn'>,
  queue: string,
): Promise<void> {
  if (context.read === undefined) return;
  let found;
  try {
    found = await context.read(`${QUEUES}/${queue}`);
  } catch (error) {
    if (!isRefused(error)) throw error;
    context.warn(`whether volcano queue ${quoted(queue)} exists is not known: Muster may not read queues`);
    return;
  }
  const wayOut = `or name another one in the annotation ${ANNOTATION_QUEUE}`;
  if (found === undefined)
    throw new Error(`volcano queue ${quoted(queue)} does not exist: create it, ${wayOut}`);
  // Volcano's controller-manager writes the state a moment after the queue was created.
  const state = ownString(ownObject(found, 'status'), 'state') ?? 'Open';
  if (state !== 'Open') {
    throw new Error(`volcano queue ${quoted(queue)} is not Open (state ${state}): open it, ${wayOut}`);
  }
}

/** Whether the API server denied the read, by the HTTP status of the error. */
const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && (error.status === 401 || error.status === 403);
