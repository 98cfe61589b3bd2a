import { fault, type Fault } from '../../api/fault.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { asksForTopology } from '../../gang/rules/check-topology.ts';
import { checkTotalMinimum } from '../../gang/rules/total-minimum.ts';
import type { PodGangVerdict } from '../backend.ts';
import { MAX_TEMPLATES, type GangApi } from './gang-api.ts';
import type { Native } from './objects.ts';
import { checkNativeTopology } from './topology.ts';
import { unitsOf } from './units.ts';

export const NAME = 'default-scheduler';

const PRIORITY = 'spec.priorityClassName';

/**
 * The verdict where nothing but gates holds a gang together.
 * @param known whether that is certain: only then is refused what cannot be kept
 */
export function validateGatesAlone(gang: PodGang, known: boolean): PodGangVerdict {
  const topology = checkNativeTopology(gang, unitsOf('flat', gang), false);
  const faults = known ? topology.faults : [];
  const warnings = [
    `${NAME} has no gang: the gates hold the Pods until all are there, then each is placed by itself`,
  ];
  if (asksForTopology(gang)) warnings.push(`${NAME} ignores topology constraints`);
  if (gang.spec.priorityClassName) warnings.push(`${NAME} ignores ${PRIORITY}: set it on the Pods`);
  return { faults, warnings: [...warnings, ...reservation(gang)] };
}

/** What native gangs of this cluster cannot express, and what they will not do. */
export function validateNative(gang: PodGang, native: Native): PodGangVerdict {
  const { api, fields, layout } = native;
  const units = unitsOf(layout, gang);
  const topology = checkNativeTopology(gang, units, fields.topology);
  const faults: Fault[] = [];
  if (units.length > MAX_TEMPLATES && api.podGroups === undefined) {
    const detail = `a Workload has at most ${MAX_TEMPLATES} groups; config.groups: flat has no limit`;
    faults.push(fault('BackendCannotExpress', 'spec.podgroups', { value: units.length, detail }));
  }
  if (layout === 'flat') faults.push(...checkTotalMinimum(gang));
  const warnings: string[] = [];
  if (units.length > 1) {
    warnings.push(
      `each group is a gang of its own here (config.groups: per-group): one may start without the others`,
    );
  }
  const priority = checkPriority(gang, native);
  return {
    faults: [...faults, ...topology.faults, ...priority.faults],
    warnings: [...warnings, ...topology.warnings, ...priority.warnings, ...reservation(gang)],
  };
}

function checkPriority(gang: PodGang, { fields }: Native): PodGangVerdict {
  const { priorityClassName } = gang.spec;
  if (!priorityClassName) return { faults: [], warnings: [] };
  if (!fields.priority) {
    return { faults: [], warnings: [`${NAME} ignores ${PRIORITY} in this cluster: set it on the Pods`] };
  }
  if (priorityClassName.startsWith('system-')) {
    const detail = 'a PodGroup takes no priority over 1000000000';
    return {
      faults: [fault('BackendCannotExpress', PRIORITY, { value: priorityClassName, detail })],
      warnings: [],
    };
  }
  const warning = `set priorityClassName: ${priorityClassName} on the Pods too: from Kubernetes 1.37 on a gang whose Pods have another priority is not scheduled, and 1.36 mixes the two`;
  return { faults: [], warnings: [warning] };
}

const reservation = ({ spec }: PodGang): string[] =>
  spec.reuseReservationRef ? [`${NAME} ignores spec.reuseReservationRef`] : [];

/** @param raised groups of a gang that was let go, with fewer Pods than they now ask for */
export function warnOfRaised(raised: string | undefined, api: GangApi | undefined): string[] {
  if (raised === undefined) return [];
  if (api === undefined)
    return [
      `${NAME} knows no gang here, so nothing counts the raised minimum once a gang was let go: ${raised}`,
    ];
  return api.minCountChanges
    ? [
        `${NAME} leaves Pods that run, and asks for the raised minimum of those that come from now on: ${raised}`,
      ]
    : [
        `${NAME}: Kubernetes changes no minimum of a native gang that Pods count on, so the scheduler goes by the old one: ${raised}; create the gang anew for the raised one`,
      ];
}
