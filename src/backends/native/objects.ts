import type { JsonObject, Json } from '../../json/json.ts';
import { LABEL_POD_GANG } from '../../api/names.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import type { OwnedObject } from '../cluster.ts';
import { referencesOf } from '../../gang/rules/check-spec.ts';
import { inheritedLabels } from '../gang-objects.ts';
import {
  compositeOf,
  isDescribed,
  withParts,
  isOneCount,
  nativeGangsOf,
  type Composite,
  type NativeGang,
  type Layout,
  MAX_TEMPLATES,
} from './native-gangs.ts';
import { COMPOSITE_POD_GROUPS, type GangApi } from './gang-api.ts';
import { disruptionModeOfGang } from '../shared-warnings.ts';
import type { NativeConfig } from './config.ts';
import { requiredLevel } from './topology.ts';

/**
 * The Workload, the CompositePodGroups and the PodGroups of a gang, in the order in which they are created: in 1.36 a
 * PodGroup is refused while the template that it names is not there. What a template says, its object says again, since
 * nothing is inherited.
 * @param alone native gangs whose Pods are bound one by one, since not all of them name it
 * @param waiting names of the gang's Pods that have not ended, while none of them is on a node
 */
export function nativeObjects(
  gang: PodGang,
  native: Native,
  alone: (unit: NativeGang) => boolean = () => false,
  waiting?: ReadonlySet<string>,
): OwnedObject[] {
  const { api, layout } = native;
  const units = nativeGangsOf(layout, gang);
  const labels = { ...inheritedLabels(gang), [LABEL_POD_GANG]: gang.name };
  const terms = (unit: NativeGang): JsonObject => podGroupTerms(gang, unit, native, alone(unit));
  const template = (unit: NativeGang): JsonObject => ({ name: unit.template, ...terms(unit) });
  const whole = compositeFor(gang, native, alone);
  const compositeTemplate = (one: Composite): JsonObject => ({
    ...{ name: one.template, ...compositeTerms(gang, one, native) },
    ...(one.units.length > 0 && { podGroupTemplates: one.units.map(template) }),
    ...(one.parts.length > 0 && { compositePodGroupTemplates: one.parts.map(compositeTemplate) }),
  });
  const workload: OwnedObject = {
    ...{ resource: api.workloads, name: gang.name, labels },
    spec:
      whole === undefined
        ? { [api.templates]: units.map(template) }
        : { compositePodGroupTemplates: [compositeTemplate(whole)] },
  };
  const { podGroups } = api;
  if (podGroups === undefined) return [workload];
  // The scheduler reads groups alone; more of them than a Workload holds go without one.
  const described = whole === undefined ? units.length <= MAX_TEMPLATES : isDescribed(whole);
  const composites = whole === undefined ? [] : withParts(whole);
  const counted = waiting !== undefined && countsReleased(gang, native);
  return [
    ...(described ? [workload] : []),
    ...composites.map((one) => ({
      ...{ resource: COMPOSITE_POD_GROUPS, name: one.name, labels },
      spec: {
        ...inParent(composites.find(({ parts }) => parts.includes(one))),
        ...api.templateRef(gang.name, one.template),
        ...compositeTerms(gang, one, native),
      },
    })),
    ...units.map((unit) => {
      const parent = composites.find((one) => one.units.some(({ podGroup }) => podGroup === unit.podGroup));
      // Whoever has a parent has to name a template, be there a Workload or not.
      const named = whole === undefined ? described : parent !== undefined;
      return {
        ...{ resource: podGroups, name: unit.podGroup, labels },
        spec: {
          ...inParent(parent),
          ...(named && api.templateRef(gang.name, unit.template)),
          ...terms(counted ? withReleased(unit, waiting) : unit),
        },
      };
    }),
  ];
}

/** What holds those of its native gangs together that have a minimum; undefined where nothing does. */
export const compositeFor = (
  gang: PodGang,
  { layout }: Pick<Native, 'layout'>,
  alone: (unit: NativeGang) => boolean = () => false,
): Composite | undefined =>
  layout === 'composite'
    ? compositeOf(
        gang,
        nativeGangsOf(layout, gang).filter((unit) => unit.minCount > 0 && !alone(unit)),
      )
    : undefined;

const inParent = (parent: Composite | undefined): JsonObject =>
  parent === undefined ? {} : { parentCompositePodGroupName: parent.name };

/**
 * Whether all Pods that are let go have to be placed at once. Where a gate on one holds up all of them those beyond the
 * minimums cannot wait for their turn, and under one count for several groups they would stand in for another group's.
 */
const countsReleased = (gang: PodGang, { api, layout }: Native): boolean =>
  api.waitsForGated && isOneCount(gang, layout);

/** The same while nobody has looked by which layout the gang's Pods were admitted: those of a gang may be older than the look. */
export const mayCountReleased = (gang: PodGang, native: Native | undefined): boolean =>
  native !== undefined &&
  (countsReleased(gang, native) || (native.layout === 'composite' && gang.spec.groups.length > 1));

/** No Pod is let go that its group does not refer to, and of those that have ended the scheduler counts none. */
const withReleased = (unit: NativeGang, waiting: ReadonlySet<string>): NativeGang => {
  if (unit.minCount === 0) return unit;
  const counts = unit.groups.map((group) =>
    Math.max(group.minReplicas, referencesOf(group).filter(({ name }) => waiting.has(name)).length),
  );
  return { ...unit, minCount: counts.reduce((sum, count) => sum + count, 0) };
};

/** Fields of a PodGroup that a feature gate of their own switches on; while it is off they are dropped without a word. */
export interface Fields {
  /** `priorityClassName` and `disruptionMode`: WorkloadAwarePreemption, part of GenericWorkload from 1.37 on. */
  readonly priority: boolean;
  /** `schedulingConstraints`: TopologyAwareWorkloadScheduling. */
  readonly topology: boolean;
}

/** What a cluster serves and a profile asks for: all that the objects of a gang depend on beside the gang. */
export interface Native extends Pick<NativeConfig, 'disruptionMode'> {
  readonly api: GangApi;
  readonly fields: Fields;
  readonly layout: Layout;
}

/** What a PodGroup asks of the scheduler, and its template as well. */
function podGroupTerms(gang: PodGang, unit: NativeGang, native: Native, alone: boolean): JsonObject {
  const { minCount } = unit;
  const isGang = minCount > 0 && !alone;
  return {
    [native.api.policy]: isGang ? { gang: { minCount } } : { basic: {} },
    ...sharedTerms(gang, native, requiredLevel(gang, unit), isGang),
  };
}

/** The same of a CompositePodGroup: all that is in it have to reach their minimums. */
const compositeTerms = (gang: PodGang, composite: Composite, native: Native): JsonObject => ({
  schedulingPolicy: { gang: { minGroupCount: composite.units.length + composite.parts.length } },
  ...sharedTerms(gang, native, composite.level, true),
});

function sharedTerms(
  gang: PodGang,
  { api, fields, disruptionMode }: Native,
  level: string | undefined,
  isGang: boolean,
): Readonly<Record<string, Json>> {
  const key = fields.topology ? level : undefined;
  const { priorityClassName } = gang.spec;
  const asked = disruptionOf(gang) ?? disruptionMode;
  const mode = isGang && fields.priority && asked && api.disruptionMode?.[asked];
  return {
    ...(key && { schedulingConstraints: { topology: [{ key }] } }),
    ...(mode && { disruptionMode: mode }),
    ...(fields.priority && priorityClassName && { priorityClassName }),
  };
}

/** What the gang itself asks for goes before what the profile says of all gangs. */
function disruptionOf(gang: PodGang): NativeConfig['disruptionMode'] {
  const mode = disruptionModeOfGang(gang);
  return mode && (mode === 'PodGroup' ? 'gang' : 'pod');
}
