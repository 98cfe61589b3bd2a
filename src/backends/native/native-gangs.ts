import { hash } from 'node:crypto';
import { isDnsLabel } from '../../k8s/name-syntax.ts';
import type { PodGang, PodGroup } from '../../api/pod-gang.ts';
import { totalMinimum } from '../../gang/rules/check-spec.ts';

export const LAYOUTS = ['flat', 'per-group', 'composite'] as const;
/** How groups become native gangs: one for all of them, one each, or one each under a CompositePodGroup. */
export type Layout = (typeof LAYOUTS)[number];

/** Entries that a list of templates in a Workload may have. */
export const MAX_TEMPLATES = 8;

/** One native gang of a PodGang: a template of its Workload, and the PodGroup made from it. */
export interface NativeGang {
  /** A DNS label. */
  readonly template: string;
  /** A DNS subdomain. */
  readonly podGroup: string;
  readonly groups: readonly PodGroup[];
  /** How many Pods must be there at once before the scheduler binds any. 0: it binds them one by one. */
  readonly minCount: number;
}

/** The template of the one native gang that stands for all groups. */
const FLAT_TEMPLATE = 'gang';

/**
 * What a Pod of a group belongs to: from names alone, since a Pod is prepared before any object is there. Where each
 * group has a PodGroup the group's part of its name has no dot, so that no two gangs of a namespace come to the same.
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

/** Whether one native gang counts the Pods of several groups. */
export const isOneCount = ({ spec }: Pick<PodGang, 'spec'>, layout: Layout): boolean =>
  layout === 'flat' && spec.groups.length > 1;

/** Whether there is a group that a gang can start without, beside such as it cannot. */
export const hasOptional = ({ spec: { groups } }: Pick<PodGang, 'spec'>): boolean =>
  groups.some(({ minReplicas }) => minReplicas <= 0) && groups.some(({ minReplicas }) => minReplicas > 0);

/** The native gangs of a PodGang, in the order of its groups: one for all of them, or one for each. */
export const nativeGangsOf = (layout: Layout, gang: Pick<PodGang, 'name' | 'spec'>): NativeGang[] =>
  layout === 'flat'
    ? [{ ...nativeGangNames(layout, gang.name, ''), groups: gang.spec.groups, minCount: totalMinimum(gang) }]
    : gang.spec.groups.map((group) => ({
        ...nativeGangNames(layout, gang.name, group.name),
        groups: [group],
        minCount: Math.max(0, group.minReplicas),
      }));

/** A group's name where it is a DNS label, else one made from it, told apart by a hash. */
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

/** A CompositePodGroup of a gang: the scheduler places what is in it all or none. */
export interface Composite {
  /** A DNS subdomain. */
  readonly name: string;
  /** A DNS label that no other template of the Workload has. */
  readonly template: string;
  /** Of the node label whose value has to be the same for all that is in it. */
  readonly level: string | undefined;
  /** Native gangs that are in it, but in none of its `parts`. */
  readonly units: readonly NativeGang[];
  readonly parts: readonly Composite[];
}

/**
 * What holds a gang together: all native gangs that have to start with it, and those of each group configuration with a
 * required level.
 * @param units of one group each
 * @returns undefined where a PodGroup says it all
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

/** The composite and its parts, each before what is in it. */
export const withParts = (root: Composite): readonly Composite[] => [root, ...root.parts.flatMap(withParts)];

/** Whether a Workload has room for the templates of all of it. */
export const isDescribed = ({ units, parts }: Composite): boolean =>
  units.length <= MAX_TEMPLATES && parts.length <= MAX_TEMPLATES && parts.every(isDescribed);
