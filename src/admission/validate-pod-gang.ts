import { isDeepStrictEqual } from 'node:util';
import { fault, keyed, type Fault } from '../api/fault.ts';
import { LABEL_SCHEDULER_NAME } from '../api/names.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { selectForPodGang } from '../backends/select.ts';
import { idleInSpec, type TopologyLevels } from '../gang/rules/check-topology.ts';
import { refusedChange, refusedInSpec } from '../gang/rules/lists.ts';
import { isGroveManaged } from '../gang/gang-selection.ts';
import { parsePodGang } from '../gang/parse-pod-gang.ts';
import { onlyReferencesDiffer } from '../gang/rules/references.ts';
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
  const after = parsed.gang;
  const before = oldObject && parsePodGang(oldObject, request.namespace).gang;
  const gang = `${request.namespace}/${request.name || after.name}`;
  if (before === undefined) return decision({ ...checkSpec(parsed, policy), gang });

  const grove = isGroveManaged(before);
  const writer = { grove, trusted: policy.trustedAccounts.has(request.username) };
  const status = refusedChange('status', before, after, writer);
  if (subResource === 'status') return decision({ faults: status, gang });
  const labels = [
    ...checkSchedulerKept(before, after, policy),
    ...refusedChange('labels', before, after, writer),
  ];
  const notices = grove ? [] : updateWarnings(before, after, policy);
  if (isDeepStrictEqual(before.spec, after.spec)) {
    return decision({ faults: [...labels, ...status], warnings: notices, gang });
  }
  // The loop must be able to write references whatever became of the configuration since the gang was let in.
  const spec = onlyReferencesDiffer(before, after)
    ? { faults: [...parsed.faults, ...refusedInSpec(after, policy.topology, writer, true)], warnings: [] }
    : checkSpec(parsed, policy, grove);
  return decision({
    ...spec,
    faults: [...spec.faults, ...refusedChange('change', before, after, writer), ...labels, ...status],
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

/**
 * The rules of the spec.
 * @param grove whether it is Grove's: only the rules that Grove keeps as well, so that Muster is never in its way
 */
export function checkSpec(
  { gang, faults }: { gang: PodGang; faults: readonly Fault[] },
  policy: Policy,
  grove = isGroveManaged(gang),
): { faults: Fault[]; warnings: string[]; backend: string | undefined } {
  const levels = grove ? NO_LEVELS : policy.topology;
  const own = [...faults, ...refusedInSpec(gang, levels, { grove, trusted: false })];
  if (grove) return { faults: own, warnings: [], backend: undefined };

  const selection = selectForPodGang(policy.registry, gang.labels.get(LABEL_SCHEDULER_NAME));
  const warnings = idleInSpec(gang, levels);
  if (selection.fault !== undefined)
    return { faults: [...own, selection.fault], warnings, backend: undefined };
  const { backend, notice } = selection.resolved;
  const verdict = backend.validatePodGang(gang);
  return {
    faults: [...own, ...verdict.faults],
    warnings: [...(notice === undefined ? [] : [notice]), ...warnings, ...verdict.warnings],
    backend: backend.name,
  };
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
