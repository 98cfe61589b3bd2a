import { hash } from 'node:crypto';
import type { PodGang } from '../../api/pod-gang.ts';
import { MAX_TEMPLATES } from './gang-api.ts';
import { dnsLabelOf, type Unit } from './units.ts';

/** A CompositePodGroup of a gang: the scheduler places what is in it all or none. */
export interface Composite {
  /** A DNS subdomain. */
  readonly name: string;
  /** A DNS label that no other template of the Workload has. */
  readonly template: string;
  /** Of the node label whose value has to be the same for all that is in it. */
  readonly level: string | undefined;
  /** Native gangs that are in it, but in none of its `parts`. */
  readonly units: readonly Unit[];
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
  units: readonly Unit[],
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
