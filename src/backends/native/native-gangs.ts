import { hash } from 'node:crypto';
import { isDnsLabel } from '../../k8s/name-syntax.ts';
import type { PodGang, PodGroup } from '../../api/pod-gang.ts';
import { totalMinimum } from '../../gang/rules/check-spec.ts';

export const LAYOUTS = ['flat', 'per-group', 'composite'] as const;
/**
 * How groups become native gangs: one for all groups, one for each group, or one for each group below a CompositePodGroup.
 */
export type Layout = (typeof LAYOUTS)[number];

/** Longest list of templates that a Workload accepts. */
export const MAX_TEMPLATES = 8;

/** One native gang of a PodGang: a template of its Workload, and the PodGroup made from it. */
export interface NativeGang {
  /** A DNS label. */
  readonly template: string;
  /** A DNS subdomain. */
  readonly podGroup: string;
  readonly groups: readonly PodGroup[];
  /** Pods that must exist before the scheduler binds any. 0: the scheduler binds them one by one. */
  readonly minCount: number;
}

/** Name of the template in the layout `flat`. */
const FLAT_TEMPLATE = 'gang';

/**
 * Names of the native gang of a Pod. They follow from the names of the gang and the group alone, since a Pod is prepared
 * before the objects exist. With a PodGroup for each group, the group's part of the name has no dot, so that the PodGroups
 * of two gangs in a namespace never share a name.
 */
export function nativeGangNames(
  layout: Layout,
  gang: string,
  group: string,
): Pick<NativeGang, 'template' | 'podGroup'> {
  if (layout === 'flat') return { template: FLAT_TEMPLATE, podGroup: gang };
  const template = dnsLabelOf(group);
  return { template, podGroup: `${gang}.${template}` };
}

/** Whether one native gang counts Pods of several groups. */
export const isOneCount = ({ spec }: Pick<PodGang, 'spec'>, layout: Layout): boolean =>
  layout === 'flat' && spec.groups.length > 1;

/** Whether the gang has both groups with a minimum and groups without one. */
export const hasOptional = ({ spec: { groups } }: Pick<PodGang, 'spec'>): boolean =>
  groups.some(({ minReplicas }) => minReplicas <= 0) && groups.some(({ minReplicas }) => minReplicas > 0);

/** The native gangs of a PodGang, in the order of its groups: one for all groups, or one for each. */
export const nativeGangsOf = (layout: Layout, gang: Pick<PodGang, 'name' | 'spec'>): NativeGang[] =>
  layout === 'flat'
    ? [{ ...nativeGangNames(layout, gang.name, ''), groups: gang.spec.groups, minCount: totalMinimum(gang) }]
    : gang.spec.groups.map((group) => ({
        ...nativeGangNames(layout, gang.name, group.name),
        groups: [group],
        minCount: Math.max(0, group.minReplicas),
      }));

/** The group's name when it is a DNS label, else a DNS label with a hash of the name. */
function dnsLabelOf(group: string): string {
  if (isDnsLabel(group)) return group;
  const mark = hash('sha256', group).slice(0, 10);
  const readable = group
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 52)
    .replace(/^-+|-+$/g, '');
  return readable === '' ? `g-${mark}` : `${readable}-${mark}`;
}

/** A CompositePodGroup of a gang: the scheduler places all of its members or none. */
export interface Composite {
  /** A DNS subdomain. */
  readonly name: string;
  /** A DNS label that no other template of the Workload has. */
  readonly template: string;
  /** Key of the node label that must have the same value for all members; undefined: no such constraint. */
  readonly level: string | undefined;
  /** Native gangs directly in it, without those in its `parts`. */
  readonly units: readonly NativeGang[];
  readonly parts: readonly Composite[];
}

/**
 * The CompositePodGroup of a gang: all native gangs that must start together, with a nested CompositePodGroup for each group
 * configuration that has a required level.
 * @param units native gangs of one group each
 * @returns undefined when a single PodGroup is enough
 */
export function compositeOf(
  { name, spec }: Pick<PodGang, 'name' | 'spec'>,
  units: readonly NativeGang[],
): Composite | undefined {
  const taken = new Set(units.map((unit) => unit.template));
  const templateOf = (wanted: string): string => {
    const free = taken.has(wanted)
      ? `${wanted.slice(0, 52)}-${hash('sha256', [...taken].join()).slice(0, 10)}`
      : wanted;
    taken.add(free);
    return free;
  };
  const template = templateOf('gang');
  const parts = spec.groupConfigs.flatMap((config): Composite[] => {
    const level = config.pack?.required;
    const own = units.filter(({ groups }) =>
      groups.some((group) => config.podGroupNames.includes(group.name)),
    );
    if (!level || own.length === 0) return [];
    const part = templateOf(dnsLabelOf(config.name));
    return [{ name: `${name}.${part}`, template: part, level, units: own, parts: [] }];
  });
  if (units.length < 2 && parts.length === 0) return undefined;
  const inParts = new Set(parts.flatMap((part) => part.units));
  return {
    ...{ name, template, level: spec.pack?.required || undefined, parts },
    units: units.filter((unit) => !inParts.has(unit)),
  };
}

/** The composite and all nested ones, each parent before its members. */
export const withParts = (root: Composite): readonly Composite[] => [root, ...root.parts.flatMap(withParts)];

/** Whether every list of templates in the composite is short enough for a Workload. */
export const isDescribed = ({ units, parts }: Composite): boolean =>
  units.length <= MAX_TEMPLATES && parts.length <= MAX_TEMPLATES && parts.every(isDescribed);
