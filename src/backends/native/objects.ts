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
 * The Workload, the CompositePodGroups and the PodGroups of a gang, in the order of their creation: 1.36 refuses a PodGroup
 * whose template does not exist yet. Each object repeats the fields of its template, since Kubernetes copies none.
 * @param alone native gangs whose Pods are bound one by one, because some of the Pods do not name the native gang
 * @param waiting names of the gang's Pods that have not ended; undefined when a Pod of the gang is bound
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
  // The scheduler reads PodGroups only. A gang with more groups than a Workload accepts gets no Workload.
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
      // A PodGroup with a parent must name a template, even when the Workload does not exist.
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

/** The CompositePodGroup of the native gangs that have a minimum; undefined when the gang needs none. */
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
 * Whether the minimum count includes all released Pods, so that they are placed together. A gate on one Pod holds up the
 * whole group there, so surplus Pods cannot be released later, and with one count for several groups they would count in
 * place of another group's Pods.
 */
const countsReleased = (gang: PodGang, { api, layout }: Native): boolean =>
  api.waitsForGated && isOneCount(gang, layout);

/**
 * {@link countsReleased} for a gang whose Pods may have been admitted under another layout than the cluster's current one.
 */
export const mayCountReleased = (gang: PodGang, native: Native | undefined): boolean =>
  native !== undefined &&
  (countsReleased(gang, native) || (native.layout === 'composite' && gang.spec.groups.length > 1));

/**
 * Raises the minimum count to the number of referenced Pods that have not ended. Pods without a reference are never
 * released, and the scheduler does not count Pods that have ended.
 */
const withReleased = (unit: NativeGang, waiting: ReadonlySet<string>): NativeGang => {
  if (unit.minCount === 0) return unit;
  const counts = unit.groups.map((group) =>
    Math.max(group.minReplicas, referencesOf(group).filter(({ name }) => waiting.has(name)).length),
  );
  return { ...unit, minCount: counts.reduce((sum, count) => sum + count, 0) };
};

/** Fields of a PodGroup with a feature gate of their own. The API server drops them silently while the gate is off. */
export interface Fields {
  /** `priorityClassName` and `disruptionMode`, by the gate WorkloadAwarePreemption, part of GenericWorkload from 1.37 on. */
  readonly priority: boolean;
  /** `schedulingConstraints`, by the gate TopologyAwareWorkloadScheduling. */
  readonly topology: boolean;
}

/** The API that a cluster serves and the settings of the profile: everything beside the gang that its objects depend on. */
export interface Native extends Pick<NativeConfig, 'disruptionMode'> {
  readonly api: GangApi;
  readonly fields: Fields;
  readonly layout: Layout;
}

/** Scheduling terms of a PodGroup, and of its template. */
function podGroupTerms(gang: PodGang, unit: NativeGang, native: Native, alone: boolean): JsonObject {
  const { minCount } = unit;
  const isGang = minCount > 0 && !alone;
  return {
    [native.api.policy]: isGang ? { gang: { minCount } } : { basic: {} },
    ...sharedTerms(gang, native, requiredLevel(gang, unit), isGang),
  };
}

/** Scheduling terms of a CompositePodGroup: each of its members has to reach its minimum. */
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

/** The gang's annotation takes precedence over the profile's setting. */
function disruptionOf(gang: PodGang): NativeConfig['disruptionMode'] {
  const mode = disruptionModeOfGang(gang);
  return mode && (mode === 'PodGroup' ? 'gang' : 'pod');
}
