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

/** What the PodGroup of a gang depends on, beside the gang. */
export interface VolcanoPodGroupState {
  readonly config: VolcanoConfig;
  /** `spec` of the PodGroup as it is; undefined where there is none yet. */
  readonly spec: JsonObject | undefined;
  /** Whether a Pod of the gang has a node. */
  readonly bound: boolean;
}

/** The PodGroup of a gang, of its name. Only `spec`: status is the scheduler's, in the same resource. */
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
 * What the gang waits for in its queue. Only where Muster says when it is bound, since that takes it away again, and of
 * Grove's gangs nobody does.
 */
export const minResources = (gang: PodGang, config: VolcanoConfig) =>
  config.minResources && !isGroveManaged(gang) ? minResourcesOf(gang).resources : undefined;

/**
 * How many Pods, of all and of each group. Grove releases a gang by setting every minimum to 0; what holds the Pods
 * that run then stays as it is, as Grove's own backend has it.
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
 * One group. Every field is written, whatever its default: without matchLabelKeys the policy takes no Pod and the
 * gang is never bound, without minSubGroups the others start when this group does not. A group that may be empty
 * (`minReplicas: 0`) is a sub-group of one that may be missing, since no size is below one.
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

/** Annotation on a PodGang, the same as Grove's: the queue it waits in. */
export const ANNOTATION_QUEUE = 'scheduling.grove.io/volcano-queue';
export const QUEUE_FIELD = keyed('metadata.annotations', ANNOTATION_QUEUE);

const QUEUES = '/apis/scheduling.volcano.sh/v1beta1/queues';

/**
 * The queue that is asked for. None where nobody names one: Volcano's own webhook then puts in the default of the
 * Namespace, and only at creation, so naming `default` here would undo that at the next sync.
 */
export const volcanoQueueOf = (
  gang: Pick<PodGang, 'annotations'>,
  fallback: string | undefined,
): string | undefined => gang.annotations.get(ANNOTATION_QUEUE)?.trim() || fallback;

/**
 * Asks for the queue before a PodGroup is put into it: one in a queue that is missing or closed waits for ever, and
 * Volcano says nothing of it, neither there nor on the Pods.
 * @throws Error that names the queue and what is wrong with it; ApiError
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
  // Volcano's controller-manager writes the state, a moment after the queue is made.
  const state = ownString(ownObject(found, 'status'), 'state') ?? 'Open';
  if (state !== 'Open') {
    throw new Error(`volcano queue ${quoted(queue)} is not Open (state ${state}): open it, ${wayOut}`);
  }
}

/** Whether the API server refused to read it, by the HTTP status that its error carries. */
const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && (error.status === 401 || error.status === 403);
