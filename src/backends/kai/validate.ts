import { fault, type Fault } from '../../api/fault.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { asksForTopology } from '../../gang/check-topology.ts';
import { isDnsLabel, isLabelValue } from '../../api/name-syntax.ts';
import type { PodGangVerdict } from '../backend.ts';

/** Either names the KAI Topology that the levels belong to; without one KAI ignores every level. */
const TOPOLOGY_ANNOTATIONS = ['grove.io/topology-name', 'kai.scheduler/topology'] as const;

/** What a KAI PodGroup cannot hold: its sub-groups and their parents share one set of DNS labels. */
export function validateForKai(gang: PodGang): PodGangVerdict {
  const faults: Fault[] = [];
  const groups = new Set<string>();
  gang.spec.groups.forEach((group, index) => {
    groups.add(group.name);
    // What is no label value either was refused already.
    if (isLabelValue(group.name) && !isDnsLabel(group.name)) {
      faults.push(subGroupName(`spec.podgroups[${index}].name`, group.name));
    }
  });
  gang.spec.groupConfigs.forEach((config, index) => {
    const path = `spec.topologyConstraintGroupConfigs[${index}].name`;
    if (config.name !== '' && !isDnsLabel(config.name)) faults.push(subGroupName(path, config.name));
    else if (groups.has(config.name)) {
      const detail = 'KAI keeps groups and group configurations under one set of names';
      faults.push(fault('BackendCannotExpress', path, { value: config.name, detail }));
    }
  });
  if (asksForTopology(gang) && !TOPOLOGY_ANNOTATIONS.some((key) => gang.annotations.get(key))) {
    const detail = `KAI needs the name of its Topology in the annotation ${TOPOLOGY_ANNOTATIONS[0]}`;
    faults.push(fault('BackendCannotExpress', 'spec.topologyConstraint', { detail }));
  }
  return {
    faults,
    warnings: gang.spec.reuseReservationRef ? ['kai-scheduler ignores spec.reuseReservationRef'] : [],
  };
}

const subGroupName = (path: string, name: string): Fault =>
  fault('BackendCannotExpress', path, {
    value: name,
    detail: 'KAI asks for lower-case letters, digits and "-"',
  });
