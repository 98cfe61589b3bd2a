import { fault, keyed, type Fault } from '../../api/fault.ts';
import { isDnsLabel, isDnsSubdomain, isLabelValue } from '../../k8s/name-syntax.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { printable } from '../../text/printable.ts';
import { checkTotalMinimum } from '../../gang/rules/check-spec.ts';
import type { PodGangVerdict } from '../backend.ts';
import { ignoredTerms, type Preempts } from '../shared-warnings.ts';
import {
  KEY_QUEUE,
  LABEL_PREEMPTIBILITY,
  KAI_NAME,
  PREEMPTIBILITY,
  TOPOLOGY_ANNOTATIONS,
  ownQueue,
  kaiQueueOf,
} from './names.ts';
import type { Found } from './probe.ts';
import { levelsAskedFor, topologyNameOf } from './topology.ts';

/** Defaults for fields that a gang does not set. */
export interface KaiDefaults {
  readonly queue: string | undefined;
  readonly topologyName: string | undefined;
}

export const KAI_PREEMPTS: Preempts = {
  scheduler: KAI_NAME,
  always: { mode: 'PodGroup', says: 'it evicts what is left of a gang that has fewer Pods than its minimum' },
};

/** @param found undefined before any inspection of a cluster */
export const validateForKai = (
  gang: PodGang,
  defaults: KaiDefaults,
  found: Found | undefined,
): PodGangVerdict => ({
  faults: faultsForKai(gang, defaults),
  warnings: warningsForKai(gang, defaults, found),
});

/** Faults of a gang that a KAI PodGroup cannot express. A gang with a fault gets no PodGroup. */
export const faultsForKai = (gang: PodGang, defaults: KaiDefaults): Fault[] => [
  ...checkNames(gang),
  ...checkQueue(gang, defaults.queue),
  ...checkTopologyName(gang, defaults.topologyName),
  ...checkPreemptibility(gang),
  ...checkTotalMinimum(gang),
];

/**
 * Sub-groups and their parents share one namespace of DNS labels. A group configuration without groups makes no sub-group.
 */
function checkNames(gang: PodGang): Fault[] {
  const faults: Fault[] = [];
  const groups = new Set<string>();
  gang.spec.groups.forEach((group, index) => {
    groups.add(group.name);
    // A name that is no label value has been refused already.
    if (isLabelValue(group.name) && !isDnsLabel(group.name)) {
      faults.push(subGroupName(`spec.podgroups[${index}].name`, group.name));
    }
  });
  gang.spec.groupConfigs.forEach((config, index) => {
    if (config.podGroupNames.length === 0 || config.name === '') return;
    const path = `spec.topologyConstraintGroupConfigs[${index}].name`;
    if (!isDnsLabel(config.name)) faults.push(subGroupName(path, config.name));
    else if (groups.has(config.name)) {
      const detail = 'KAI keeps groups and group configurations under one set of names';
      faults.push(fault('BackendCannotExpress', path, { value: config.name, detail }));
    }
  });
  return faults;
}

const subGroupName = (path: string, name: string): Fault =>
  fault('BackendCannotExpress', path, {
    value: name,
    detail: 'KAI asks for lower-case letters, digits and "-"',
  });

function checkQueue(gang: PodGang, fallback: string | undefined): Fault[] {
  const queue = kaiQueueOf(gang, fallback);
  const path = keyed('metadata.labels', KEY_QUEUE);
  if (queue === undefined) {
    const detail = `no KAI queue is configured: set this label, or config.queue of the profile ${KAI_NAME}`;
    return [fault('BackendCannotExpress', path, { detail })];
  }
  // The API server validates the value of the label; the annotation can be any text.
  if (isLabelValue(queue) || isDnsSubdomain(queue)) return [];
  const detail = 'it is not the name of a KAI Queue';
  return [fault('BackendCannotExpress', keyed('metadata.annotations', KEY_QUEUE), { value: queue, detail })];
}

function checkTopologyName(gang: PodGang, fallback: string | undefined): Fault[] {
  const [level] = levelsAskedFor(gang);
  if (level === undefined) return [];
  const topology = topologyNameOf(gang, fallback);
  const [key] = TOPOLOGY_ANNOTATIONS;
  if (topology === undefined) {
    const detail = `no KAI Topology is named: set the annotation ${key}, or config.topologyName`;
    return [fault('BackendCannotExpress', level[1], { detail })];
  }
  if (isDnsSubdomain(topology)) return [];
  const path = keyed('metadata.annotations', gang.annotations.get(key) ? key : TOPOLOGY_ANNOTATIONS[1]);
  return [
    fault('BackendCannotExpress', path, { value: topology, detail: 'it is not the name of a KAI Topology' }),
  ];
}

function checkPreemptibility(gang: PodGang): Fault[] {
  const value = gang.labels.get(LABEL_PREEMPTIBILITY);
  if (!value || PREEMPTIBILITY.includes(value)) return [];
  const path = keyed('metadata.labels', LABEL_PREEMPTIBILITY);
  return [
    fault('BackendCannotExpress', path, { value, detail: `KAI knows ${PREEMPTIBILITY.join(' and ')}` }),
  ];
}

function warningsForKai(gang: PodGang, defaults: KaiDefaults, found: Found | undefined): string[] {
  const warnings = gang.spec.reuseReservationRef ? [`${KAI_NAME} ignores spec.reuseReservationRef`] : [];
  warnings.push(...ignoredTerms(gang, KAI_PREEMPTS));
  if (found?.grouping === 'podgrouper') return [...warnings, ...lostToThePodgrouper(gang)];
  const queue = kaiQueueOf(gang, defaults.queue);
  if (queue !== undefined && !isDnsSubdomain(queue)) {
    warnings.push(
      `no KAI Queue can be called ${printable(queue, 63)}: a Queue has a lower-case DNS name; the gang waits until it is given another`,
    );
  }
  return [...warnings, ...unknownLevels(gang, topologyNameOf(gang, defaults.topologyName), found)];
}

/**
 * Warnings about terms that an older KAI ignores: it reads only the owner and the labels of a Pod, and nothing of the
 * PodGang.
 */
function lostToThePodgrouper(gang: PodGang): string[] {
  const { groups } = gang.spec;
  const warnings = [
    `${KAI_NAME} here is older than 0.15 and groups Pods by their owner: the gates hold the gang together until all its Pods are there, then minReplicas does not reach KAI`,
  ];
  if (ownQueue(gang))
    warnings.push(`${KAI_NAME} before 0.15 reads the queue from the label ${KEY_QUEUE} of each Pod`);
  if (levelsAskedFor(gang).size > 0)
    warnings.push(`${KAI_NAME} before 0.15 ignores the topology constraints of a PodGang`);
  groups.forEach(({ name, minReplicas }, index) => {
    if (minReplicas === 0) {
      warnings.push(
        `spec.podgroups[${index}].minReplicas: ${KAI_NAME} before 0.15 takes 0 for 1 (group ${name})`,
      );
    }
  });
  return warnings;
}

/**
 * Warnings about levels that the Topology lacks, for which KAI reports only "Unable to schedule podgroup". Not refused,
 * since the inspection of the Topology may be outdated.
 */
function unknownLevels(gang: PodGang, topology: string | undefined, found: Found | undefined): string[] {
  const levels = levelsAskedFor(gang);
  if (levels.size === 0 || topology === undefined || found === undefined) return [];
  if (found.topologies === undefined)
    return ['KAI serves no Topology here: the topology constraints keep the gang waiting'];
  const known = found.topologies.get(topology);
  if (known === undefined)
    return [`KAI had no Topology ${topology} when Muster last looked: the gang waits for it`];
  return [...levels].flatMap(([level, path]) =>
    known.levels.includes(level)
      ? []
      : [
          `${path}: Topology ${topology} has no level ${level} (${known.levels.join(', ')}): the gang is never placed`,
        ],
  );
}
