import { own, type JsonObject } from '../../json/json.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import type { Resource } from '../../k8s/resource.ts';
import { totalMinimum } from '../../gang/rules/check-spec.ts';
import type { OwnedObject } from '../cluster.ts';
import { inheritedLabels } from '../inherited-labels.ts';
import { minResourcesOf } from '../min-resources.ts';
import type { CoschedulingConfig } from './config.ts';

export const POD_GROUPS: Resource = {
  group: 'scheduling.x-k8s.io',
  version: 'v1alpha1',
  plural: 'podgroups',
  kind: 'PodGroup',
  namespaced: true,
};

/**
 * The PodGroup of a gang, of its name.
 * @param spec of the PodGroup as it is; undefined where there is none yet
 * @throws Error where no group has a minimum and none ever had: the CRD takes 1 and up
 */
export function podGroup(
  gang: PodGang,
  config: CoschedulingConfig,
  spec: JsonObject | undefined,
): OwnedObject {
  const { scheduleTimeoutSeconds } = config;
  const resources = config.minResources ? minResourcesOf(gang).resources : undefined;
  return {
    resource: POD_GROUPS,
    name: gang.name,
    labels: inheritedLabels(gang),
    spec: {
      minMember: minMember(gang, spec),
      ...(scheduleTimeoutSeconds !== undefined && { scheduleTimeoutSeconds }),
      ...(resources && { minResources: resources }),
    },
  };
}

/** Grove releases a gang by setting every minimum to 0; the count of those that run then stays. */
function minMember(gang: PodGang, spec: JsonObject | undefined): number {
  const total = totalMinimum(gang);
  if (total > 0) return total;
  const before = own(spec, 'minMember');
  if (typeof before === 'number' && before > 0) return before;
  throw new Error(
    'coscheduling cannot express a gang whose groups all have minReplicas 0: raise one, or choose another backend',
  );
}
