import { fault, type Fault } from '../../api/fault.ts';
import type { PodGang } from '../../api/pod-gang.ts';
import { asksForTopology } from '../../gang/rules/check-topology.ts';
import { checkTotalMinimum } from '../../gang/rules/check-spec.ts';
import type { PodGangVerdict } from '../backend.ts';
import { disruptionModeOfGang, ignoredTerms, type Preempts } from '../shared-warnings.ts';
import type { GangApi } from './gang-api.ts';
import { MAX_TEMPLATES } from './native-gangs.ts';
import { compositeFor, type Native } from './objects.ts';
import { checkCompositeTopology, checkNativeTopology } from './topology.ts';
import { nativeGangsOf } from './native-gangs.ts';

export const NATIVE_NAME = 'default-scheduler';

const PRIORITY = 'spec.priorityClassName';

/**
 * The verdict on a gang without native gangs, where only gates hold it together.
 * @param known whether the lack of native gangs is certain; faults are reported only then
 */
export function validateGatesAlone(gang: PodGang, known: boolean): PodGangVerdict {
  const topology = checkNativeTopology(gang, nativeGangsOf('flat', gang), false);
  const faults = known ? topology.faults : [];
  const warnings = [
    `${NATIVE_NAME} has no gang: the gates hold the Pods until all are there, then each is placed by itself`,
  ];
  if (asksForTopology(gang)) warnings.push(`${NATIVE_NAME} ignores topology constraints`);
  return { faults, warnings: [...warnings, ...ignoredTerms(gang, ONE_BY_ONE), ...reservation(gang)] };
}

/** Faults for terms that native gangs of this cluster cannot express, and warnings for terms that have no effect. */
export function validateNative(gang: PodGang, native: Native): PodGangVerdict {
  const { api, fields, layout } = native;
  const units = nativeGangsOf(layout, gang);
  const topology =
    compositeFor(gang, native) === undefined
      ? checkNativeTopology(gang, units, fields.topology)
      : checkCompositeTopology(gang);
  const faults: Fault[] = [];
  if (units.length > MAX_TEMPLATES && api.podGroups === undefined) {
    const detail = `a Workload has at most ${MAX_TEMPLATES} groups; config.groups: flat has no limit`;
    faults.push(fault('BackendCannotExpress', 'spec.podgroups', { value: units.length, detail }));
  }
  if (layout === 'flat') faults.push(...checkTotalMinimum(gang));
  const warnings: string[] = [];
  if (units.length > 1 && layout === 'per-group') {
    warnings.push(
      `each group is a gang of its own here (config.groups: per-group): one may start without the others`,
    );
  }
  return {
    faults: [...faults, ...topology.faults, ...checkPriority(gang, native)],
    warnings: [
      ...warnings,
      ...topology.warnings,
      ...ignoredTerms(gang, preemptsHere(gang, native)),
      ...reservation(gang),
    ],
  };
}

const ONE_BY_ONE: Preempts = {
  scheduler: NATIVE_NAME,
  always: { mode: 'Pod', says: 'it preempts Pods one by one here' },
};

/** @param native undefined when the cluster has no native gangs */
export function preemptsHere(gang: PodGang, native: Native | undefined): Preempts {
  if (native?.fields.priority !== true) return ONE_BY_ONE;
  const split = native.layout === 'per-group' && gang.spec.groups.length > 1;
  const says = 'it preempts each group by itself (config.groups: per-group)';
  return {
    scheduler: NATIVE_NAME,
    ...(split && disruptionModeOfGang(gang) === 'PodGroup' && { always: { mode: 'Pod', says } }),
  };
}

/** Checks the priority class. Admission writes the class into the Pods too, since schedulers also read it there. */
function checkPriority(gang: PodGang, { fields }: Native): Fault[] {
  const { priorityClassName } = gang.spec;
  if (!fields.priority || priorityClassName?.startsWith('system-') !== true) return [];
  const detail = 'a PodGroup takes no priority over 1000000000';
  return [fault('BackendCannotExpress', PRIORITY, { value: priorityClassName, detail })];
}

const reservation = ({ spec }: PodGang): string[] =>
  spec.reuseReservationRef ? [`${NATIVE_NAME} ignores spec.reuseReservationRef`] : [];

/** @param raised groups of a released gang whose new minimum is above their number of Pods */
export function warnOfRaised(raised: string | undefined, api: GangApi | undefined): string[] {
  if (raised === undefined) return [];
  if (api === undefined)
    return [
      `${NATIVE_NAME} knows no gang here, so nothing counts the raised minimum once a gang was let go: ${raised}`,
    ];
  return api.podGroups !== undefined
    ? [
        `${NATIVE_NAME} leaves Pods that run, and asks for the raised minimum of those that come from now on: ${raised}`,
      ]
    : [
        `${NATIVE_NAME}: Kubernetes changes no minimum of a native gang that Pods count on, so the scheduler goes by the old one: ${raised}; create the gang anew for the raised one`,
      ];
}
