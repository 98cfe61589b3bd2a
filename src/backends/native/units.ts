import { hash } from 'node:crypto';
import { isDnsLabel } from '../../k8s/name-syntax.ts';
import type { PodGang, PodGroup } from '../../api/pod-gang.ts';
import { totalMinimum } from '../../gang/rules/check-spec.ts';

export const LAYOUTS = ['flat', 'per-group', 'composite'] as const;
/** How groups become native gangs: one for all of them, one each, or one each under a CompositePodGroup. */
export type Layout = (typeof LAYOUTS)[number];

/** One native gang of a PodGang: a template of its Workload, and the PodGroup made from it. */
export interface Unit {
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
export function unitNames(layout: Layout, gang: string, group: string): Pick<Unit, 'template' | 'podGroup'> {
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
export const unitsOf = (layout: Layout, gang: Pick<PodGang, 'name' | 'spec'>): Unit[] =>
  layout === 'flat'
    ? [{ ...unitNames(layout, gang.name, ''), groups: gang.spec.groups, minCount: totalMinimum(gang) }]
    : gang.spec.groups.map((group) => ({
        ...unitNames(layout, gang.name, group.name),
        groups: [group],
        minCount: Math.max(0, group.minReplicas),
      }));

/** A group's name where it is a DNS label, else one made from it, told apart by a hash. */
export function dnsLabelOf(group: string): string {
  if (isDnsLabel(group)) return group;
  const mark = hash('sha256', group).slice(0, 10);
  const readable = group
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 52)
    .replace(/^-+|-+$/g, '');
  return readable === '' ? `g-${mark}` : `${readable}-${mark}`;
}
