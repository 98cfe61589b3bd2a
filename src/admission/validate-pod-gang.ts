import { isDeepStrictEqual } from 'node:util';
import { fault, keyed, type Fault } from '../api/fault.ts';
import { LABEL_MANAGED_BY, LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { selectForPodGang } from '../backends/select.ts';
import { checkGangIsOne, checkGangName, checkGroups } from '../gang/rules/check-spec.ts';
import { checkGroupConfigs, checkTopology, type TopologyLevels } from '../gang/rules/check-topology.ts';
import {
  checkGroupsFixed,
  checkInitializedAuthor,
  checkInitializedComplete,
  checkInitializedStays,
} from '../gang/rules/initialized.ts';
import { isGroveManaged } from '../gang/gang-selection.ts';
import { parsePodGang } from '../gang/parse-pod-gang.ts';
import { checkReferencesKept } from '../gang/rules/references.ts';
import { decision, untouched, type Decision, type Policy } from './decision.ts';
import { isDeleting } from './mutate-pod-gang.ts';
import type { AdmissionRequest } from './review.ts';

/** Grove keeps topology levels of its own, per gang, so the configured ones say nothing about its gangs. */
const NO_LEVELS: TopologyLevels = { enabled: false, keys: [] };

/** All faults of a PodGang in one answer. Deletion, finalizers and other metadata are never in the way. */
export function validatePodGang(request: AdmissionRequest, policy: Policy): Decision {
  const { object, oldObject, subResource } = request;
  if (object === undefined || isDeleting(oldObject)) return untouched();
  if (subResource !== '' && subResource !== 'status') return untouched();
  const parsed = parsePodGang(object, request.namespace);
  const before = oldObject && parsePodGang(oldObject, request.namespace).gang;
  const trusted = policy.trustedAccounts.has(request.username);
  const gang = `${request.namespace}/${request.name || parsed.gang.name}`;

  if (before === undefined) {
    return decision({ ...checkSpec(parsed, policy, isGroveManaged(parsed.gang)), gang });
  }
  const foreign = isGroveManaged(before);
  const status = checkStatus(before, parsed.gang, trusted || foreign, foreign);
  if (subResource === 'status') return decision({ faults: status, gang });
  const labels = [
    ...checkSchedulerKept(before, parsed.gang, policy),
    ...(trusted ? [] : checkManagerKept(before, parsed.gang)),
  ];
  const notices = foreign ? [] : updateWarnings(before, parsed.gang, policy);
  if (isDeepStrictEqual(before.spec, parsed.gang.spec)) {
    return decision({ faults: [...labels, ...status], warnings: notices, gang });
  }
  // The loop must be able to write references whatever became of the configuration since the gang was let in.
  const spec = onlyReferencesDiffer(before, parsed.gang)
    ? { faults: [...parsed.faults, ...checkGroups(parsed.gang)], warnings: [] }
    : checkSpec(parsed, policy, foreign);
  const transition = foreign
    ? []
    : [
        ...checkGroupsFixed(before, parsed.gang),
        ...(trusted ? [] : checkReferencesKept(before, parsed.gang)),
      ];
  return decision({
    ...spec,
    faults: [...spec.faults, ...transition, ...labels, ...status],
    warnings: [...spec.warnings, ...notices],
    gang,
  });
}

/** What the gang's backend has to say about the change itself. */
function updateWarnings(before: PodGang, after: PodGang, { registry }: Policy): readonly string[] {
  const selection = selectForPodGang(registry, after.labels.get(LABEL_SCHEDULER_NAME));
  return selection.fault === undefined
    ? (selection.resolved.backend.warnOfUpdate?.(before, after) ?? [])
    : [];
}

function onlyReferencesDiffer(before: PodGang, after: PodGang): boolean {
  const bare = ({ spec }: PodGang): unknown => ({
    ...spec,
    groups: spec.groups.map((group) => ({ ...group, podReferences: undefined })),
  });
  return isDeepStrictEqual(bare(before), bare(after));
}

/** The rules of the spec. `foreign`: only those that Grove keeps as well, so that it is never in its way. */
export function checkSpec(
  { gang, faults }: { gang: PodGang; faults: readonly Fault[] },
  policy: Policy,
  foreign = false,
): { faults: Fault[]; warnings: string[]; backend: string | undefined } {
  const topology = checkTopology(gang, foreign ? NO_LEVELS : policy.topology);
  const configs = checkGroupConfigs(gang);
  const own = [
    ...faults,
    ...checkGangName(gang),
    ...checkGroups(gang),
    ...topology.faults,
    ...configs.faults,
  ];
  if (foreign) return { faults: own, warnings: [], backend: undefined };

  const selection = selectForPodGang(policy.registry, gang.labels.get(LABEL_SCHEDULER_NAME));
  const all = [...own, ...checkGangIsOne(gang)];
  const warnings = [...topology.warnings, ...configs.warnings];
  if (selection.fault !== undefined)
    return { faults: [...all, selection.fault], warnings, backend: undefined };
  const { backend, notice } = selection.resolved;
  const verdict = backend.validatePodGang(gang);
  return {
    faults: [...all, ...verdict.faults],
    warnings: [...(notice === undefined ? [] : [notice]), ...warnings, ...verdict.warnings],
    backend: backend.name,
  };
}

function checkStatus(before: PodGang, after: PodGang, trusted: boolean, foreign: boolean): Fault[] {
  return [
    ...(trusted ? [] : checkInitializedAuthor(before, after)),
    ...checkInitializedStays(before, after),
    ...(foreign ? [] : checkInitializedComplete(before, after)),
  ];
}

/** Whoever could put the label on and off again would slip past every rule that Grove's gangs are not held to. */
function checkManagerKept(before: PodGang, after: PodGang): Fault[] {
  if (isGroveManaged(before) === isGroveManaged(after)) return [];
  const [from, to] = [before, after].map((gang) => gang.labels.get(LABEL_MANAGED_BY) ?? 'not set');
  const detail = `was ${from ?? ''}, now ${to ?? ''}`;
  return [fault('ManagerProtected', keyed('metadata.labels', LABEL_MANAGED_BY), { detail })];
}

/** The label may be written in another way only where it still means the same backend. */
function checkSchedulerKept(before: PodGang, after: PodGang, policy: Policy): Fault[] {
  const [from, to] = [before, after].map((gang) => gang.labels.get(LABEL_SCHEDULER_NAME));
  if (from === to || isGroveManaged(before)) return [];
  const [old, now] = [from, to].map((label) => selectForPodGang(policy.registry, label));
  if (
    old?.fault === undefined &&
    now?.fault === undefined &&
    old?.resolved.backend === now?.resolved.backend
  ) {
    return [];
  }
  const detail = `was ${from ?? 'not set'}, now ${to ?? 'not set'}`;
  return [fault('SchedulerLabelImmutable', keyed('metadata.labels', LABEL_SCHEDULER_NAME), { detail })];
}
