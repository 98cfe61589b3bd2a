import { isGroveManaged } from '../../gang/gang-selection.ts';
import { isObject, own, ownList, type JsonObject } from '../../json/json.ts';
import { LABEL_POD_CLIQUE } from '../../api/names.ts';
import type { PodGang, PodGroup } from '../../api/pod-gang.ts';
import type { Resource } from '../../k8s/resource.ts';
import { totalMinimum } from '../../gang/rules/check-spec.ts';
import type { OwnedObject } from '../cluster.ts';
import { inheritedLabels } from '../inherited-labels.ts';
import { minResourcesOf } from '../min-resources.ts';
import type { VolcanoConfig } from './config.ts';
import { queueOf } from './queue.ts';
import { networkTopology } from './topology.ts';

export const POD_GROUPS: Resource = {
  group: 'scheduling.volcano.sh',
  version: 'v1beta1',
  plural: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
};

/** What the PodGroup of a gang depends on, beside the gang. */
export interface PodGroupState {
  readonly config: VolcanoConfig;
  /** `spec` of the PodGroup as it is; undefined where there is none yet. */
  readonly spec: JsonObject | undefined;
  /** Whether a Pod of the gang has a node. */
  readonly bound: boolean;
}

/** The PodGroup of a gang, of its name. Only `spec`: status is the scheduler's, in the same resource. */
export function podGroup(gang: PodGang, { config, spec, bound }: PodGroupState): OwnedObject {
  const queue = queueOf(gang, config.queue);
  const resources = bound ? undefined : minResources(gang, config);
  const topology = networkTopology(gang.spec.pack, config.tiers);
  return {
    resource: POD_GROUPS,
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
