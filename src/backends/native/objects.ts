import type { JsonObject } from '../../api/json.ts';
import { LABEL_POD_GANG } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import type { OwnedObject } from '../cluster.ts';
import { modeOf } from '../preemption-terms.ts';
import { referencesOf } from '../../gang/rules/check-spec.ts';
import { inheritedLabels } from '../inherited-labels.ts';
import type { NativeConfig } from './config.ts';
import { MAX_TEMPLATES, type GangApi } from './gang-api.ts';
import type { Fields } from './probe.ts';
import { requiredLevel } from './topology.ts';
import { isOneCount, unitsOf, type Unit } from './units.ts';

/** What a cluster serves and a profile asks for: all that the objects of a gang depend on beside the gang. */
export interface Native extends Pick<NativeConfig, 'layout' | 'disruptionMode'> {
  readonly api: GangApi;
  readonly fields: Fields;
}

/**
 * The Workload and the PodGroups of a gang, in the order in which they are created: a PodGroup is refused while the
 * template that it names is not there. What a template says, its PodGroup says again, since nothing is inherited.
 * @param alone native gangs whose Pods are bound one by one, since not all of them name it
 * @param waiting names of the gang's Pods that have not ended, while none of them is on a node
 */
export function objectsOf(
  gang: PodGang,
  native: Native,
  alone: (unit: Unit) => boolean = () => false,
  waiting?: ReadonlySet<string>,
): OwnedObject[] {
  const { api, layout } = native;
  const units = unitsOf(layout, gang);
  const labels = { ...inheritedLabels(gang), [LABEL_POD_GANG]: gang.name };
  const terms = units.map((unit) => termsOf(gang, unit, native, alone(unit)));
  const counted =
    waiting !== undefined && countsReleased(gang, native)
      ? units.map((unit) => withReleased(unit, waiting))
      : units;
  const workload: OwnedObject = {
    resource: api.workloads,
    name: gang.name,
    labels,
    spec: { [api.templates]: units.map((unit, index) => ({ name: unit.template, ...terms[index] })) },
  };
  const { podGroups } = api;
  if (podGroups === undefined) return [workload];
  // The scheduler reads PodGroups alone; more of them than a Workload holds go without one.
  const described = units.length <= MAX_TEMPLATES;
  return [
    ...(described ? [workload] : []),
    ...counted.map((unit) => ({
      resource: podGroups,
      name: unit.podGroup,
      labels,
      spec: {
        ...(described && api.templateRef(gang.name, unit.template)),
        ...termsOf(gang, unit, native, alone(unit)),
      },
    })),
  ];
}

/**
 * Whether all Pods that are let go have to be placed at once. Where a gate on one holds up all of them those beyond the
 * minimums cannot wait for their turn, and under one count for several groups they would stand in for another group's.
 */
export const countsReleased = (gang: PodGang, native: Native | undefined): boolean =>
  native !== undefined && native.api.waitsForGated && isOneCount(gang, native.layout);

/** No Pod is let go that its group does not refer to, and of those that have ended the scheduler counts none. */
const withReleased = (unit: Unit, waiting: ReadonlySet<string>): Unit => {
  if (unit.minCount === 0) return unit;
  const counts = unit.groups.map((group) =>
    Math.max(group.minReplicas, referencesOf(group).filter(({ name }) => waiting.has(name)).length),
  );
  return { ...unit, minCount: counts.reduce((sum, count) => sum + count, 0) };
};

/** What the gang itself asks for goes before what the profile says of all gangs. */
function disruptionOf(gang: PodGang): NativeConfig['disruptionMode'] {
  const mode = modeOf(gang);
  return mode && (mode === 'PodGroup' ? 'gang' : 'pod');
}

function termsOf(gang: PodGang, unit: Unit, native: Native, alone: boolean): JsonObject {
  const { api, fields, disruptionMode } = native;
  const { minCount } = unit;
  const isGang = minCount > 0 && !alone;
  const key = fields.topology ? requiredLevel(gang, unit) : undefined;
  const { priorityClassName } = gang.spec;
  const asked = disruptionOf(gang) ?? disruptionMode;
  const mode = isGang && fields.priority && asked && api.disruptionMode?.[asked];
  return {
    [api.policy]: isGang ? { gang: { minCount } } : { basic: {} },
    ...(key && { schedulingConstraints: { topology: [{ key }] } }),
    ...(mode && { disruptionMode: mode }),
    ...(fields.priority && priorityClassName && { priorityClassName }),
  };
}
