import { fault, type Fault } from '../../api/fault.ts';
import { isDnsSubdomain } from '../../k8s/name-syntax.ts';
import type { PackConstraint, PodGang } from '../../api/pod-gang.ts';
import { printable } from '../../text/printable.ts';
import { constraintsOf } from '../../gang/rules/check-topology.ts';
import { checkTotalMinimum } from '../../gang/rules/check-spec.ts';
import type { PodGangVerdict } from '../backend.ts';
import { checkMinResources } from '../min-resources.ts';
import { ignoredTerms, type Preempts } from '../shared-warnings.ts';
import { decidingLevel, type VolcanoConfig } from './config.ts';
import { ANNOTATION_QUEUE, QUEUE_FIELD } from './objects.ts';

export const VOLCANO_PREEMPTS: Preempts = {
  scheduler: 'volcano',
  always: { mode: 'Pod', says: 'it takes Pods one by one' },
};

const CONFIGS = 'spec.topologyConstraintGroupConfigs';

/** Faults and warnings for terms that a Volcano PodGroup cannot express. */
export function validateForVolcano(gang: PodGang, config: VolcanoConfig): PodGangVerdict {
  const topology = checkTopology(gang, config);
  const resources = checkMinResources(gang, { name: 'volcano', reads: config.minResources });
  return {
    faults: [...checkQueueName(gang), ...checkTotalMinimum(gang), ...topology.faults, ...resources.faults],
    warnings: [
      ...emptyGroups(gang),
      ...topology.warnings,
      ...resources.warnings,
      ...ignoredTerms(gang, VOLCANO_PREEMPTS),
      ...reservation(gang),
    ],
  };
}

function checkQueueName({ annotations }: PodGang): Fault[] {
  const queue = annotations.get(ANNOTATION_QUEUE)?.trim() ?? '';
  if (queue === '' || isDnsSubdomain(queue)) return [];
  const detail = 'a volcano queue is a lower-case DNS name of at most 253 characters';
  return [fault('BackendCannotExpress', QUEUE_FIELD, { value: queue, detail })];
}

function checkTopology(gang: PodGang, { tiers }: VolcanoConfig): { faults: Fault[]; warnings: string[] } {
  const faults: Fault[] = [];
  const warnings: string[] = [];
  for (const { path, pack } of constraintsOf(gang)) {
    const level = decidingLevel(pack);
    if (level === undefined) continue;
    if (tiers.size > 0 && path.startsWith(CONFIGS)) warnings.push(dropped(path));
    else if (!tiers.has(level)) faults.push(noTier(path, pack, tiers));
    else if (pack.required && pack.preferred) {
      warnings.push(`volcano takes one level: ${path}.preferred is ignored beside required`);
    }
  }
  return { faults, warnings };
}

const dropped = (path: string): string =>
  `volcano ignores ${path}: its sub-groups have no parent; put the constraint on the groups or on the gang`;

function noTier(path: string, pack: PackConstraint, tiers: VolcanoConfig['tiers']): Fault {
  const field = `${path}.${pack.required ? 'required' : 'preferred'}`;
  const detail =
    tiers.size === 0
      ? 'volcano does not support topologyConstraint: config.tiers of its profile is empty'
      : `keys with a tier: ${[...tiers.keys()].join(', ')}`;
  return fault('BackendCannotExpress', field, { value: decidingLevel(pack), detail });
}

/**
 * Warnings for groups without a minimum: Volcano's smallest sub-group has one Pod, and the Pods of an optional one start one
 * by one.
 */
const emptyGroups = (gang: PodGang): string[] =>
  gang.spec.groups
    .filter((group) => group.minReplicas === 0)
    .slice(0, 8)
    .map(
      ({ name }) =>
        `group ${printable(name, 63)} has minReplicas 0: volcano starts its Pods one by one, and the gang without them`,
    );

const reservation = (gang: PodGang): string[] =>
  gang.spec.reuseReservationRef ? ['volcano ignores spec.reuseReservationRef'] : [];
