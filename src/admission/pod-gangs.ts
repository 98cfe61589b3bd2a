import type { Change } from '../json/patch.ts';
import { isDeepStrictEqual } from 'node:util';
import { fault, keyed, type Fault } from '../api/fault.ts';
import { isObject, own, ownList, ownString, type JsonObject } from '../json/json.ts';
import { LABEL_SCHEDULER_NAME } from '../api/names.ts';
import { Needs, type MayNeed } from '../api/needs.ts';
import type { PodGang } from '../api/pod-gang.ts';
import { selectByPlace, selectForPodGang } from '../backends/select.ts';
import { isGroveManaged } from '../gang/gang-selection.ts';
import { policyNameOf } from '../preparers/policy/hpc-policy.ts';
import { parsePodGang } from '../gang/parse-pod-gang.ts';
import { checkExpectedPods } from '../gang/rules/check-spec.ts';
import { idleInSpec, NO_TOPOLOGY } from '../gang/rules/check-topology.ts';
import { refusedChange, refusedInSpec } from '../gang/rules/rule-lists.ts';
import { onlyReferencesDiffer, repairReferences } from '../gang/rules/references.ts';
import { checkPreparedGang } from '../preparers/registry.ts';
import { mergedVerdicts, NO_FINDINGS } from '../preparers/preparer.ts';
import { checkPreparationKept, preparationNeeded } from './gang-preparers.ts';
import { checkPriorities, recordPriority, withoutPlan } from './gang-priorities.ts';
import { ObjectEdit } from './pod-patch.ts';
import { NOT_PREPARED, checkReady, answeringBackend, type DecisionNeed, type Policy } from './policy.ts';
import { decision, untouched, type AdmissionRequest, type Decided } from './review.ts';

/**
 * Whether the stored object is being deleted; its last updates must then always pass. Only the stored object counts: the
 * author of the new one may write or omit the timestamp.
 */
export const isDeleting = (stored: JsonObject | undefined): boolean =>
  ownString(own(stored, 'metadata'), 'deletionTimestamp') !== undefined;

/**
 * CREATE: writes the label of the backend and the default PriorityClass, removes a preemption plan, and sets references that
 * are absent, or come from an account that is not trusted, to `[]`, which the CRD requires. UPDATE: puts references back
 * unless a trusted account changes them, so that applying the manifest again never clears them.
 */
export function mutatePodGang(request: AdmissionRequest, policy: Policy): Decided {
  const { object, oldObject, operation, subResource } = request;
  const writes = operation === 'CREATE' || operation === 'UPDATE';
  if (!writes || subResource !== '' || object === undefined || isDeleting(oldObject)) return untouched();
  const { gang } = parsePodGang(object, request.namespace);
  const before = oldObject && parsePodGang(oldObject, request.namespace).gang;
  const key = `${request.namespace}/${request.name}`;
  // The stored object decides whether the gang is Grove's, so nobody can add the label to avoid the rules.
  if (isGroveManaged(before ?? gang)) return decision({ gang: key });

  const items = ownList(own(object, 'spec'), 'podgroups') ?? [];
  const repairs = repairReferences(before, gang, policy.trustedAccounts.has(request.username));
  const changes = repairs.flatMap(({ index, references, why }): Change[] => {
    const item = items[index];
    // The validating webhook refuses a group that is no object; a patch of it would fail.
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return [];
    const op = Object.hasOwn(item, 'podReferences') ? 'replace' : 'add';
    return [{ operation: { op, path: `/spec/podgroups/${index}/podReferences`, value: references }, why }];
  });
  const warnings = repairs.some(({ untaken }) => untaken === true) ? [UNTAKEN] : [];
  const recorded = recordBackend(request, before, policy);
  if (recorded instanceof Needs) return recorded;
  const priority = recordPriority(request, before, gang, policy);
  const unplanned = before === undefined ? withoutPlan(object) : [];
  return decision({ changes: [...recorded, ...priority, ...unplanned, ...changes], warnings, gang: key });
}

const UNTAKEN =
  'spec.podgroups[*].podReferences were not taken: Muster writes them itself once the Pods are there; leave them out';

/**
 * Writes the label with the gang's backend at creation, so that the gang keeps its backend when the configuration changes.
 * Where somebody applies a manifest without the label, the label is put back.
 */
function recordBackend(
  { object, namespace }: AdmissionRequest,
  before: PodGang | undefined,
  { registry, placement }: Policy,
): MayNeed<Change[], DecisionNeed> {
  const metadata = own(object, 'metadata');
  // A patch of missing metadata would fail.
  if (!isObject(metadata)) return [];
  const label = ownString(own(metadata, 'labels'), LABEL_SCHEDULER_NAME);
  if (label !== undefined) return [];
  const labels = new ObjectEdit('/metadata/labels', own(metadata, 'labels'));
  if (before !== undefined) {
    const kept = before.labels.get(LABEL_SCHEDULER_NAME);
    if (kept !== undefined) labels.set(LABEL_SCHEDULER_NAME, kept, 'a gang stays with its backend');
    return labels.changes();
  }
  const selection = selectByPlace(registry, { namespace, gang: undefined }, placement);
  if (selection.needs !== undefined) return new Needs(selection.needs);
  if (selection.fault !== undefined) return [];
  labels.set(LABEL_SCHEDULER_NAME, selection.resolved.backend.name, 'the gang stays with this backend');
  return labels.changes();
}

/** Answers all faults of a PodGang at once. Deletion, finalizers and other metadata are never refused. */
export function validatePodGang(request: AdmissionRequest, policy: Policy): Decided {
  const { object, oldObject, subResource } = request;
  if (object === undefined || isDeleting(oldObject)) return untouched();
  if (subResource !== '' && subResource !== 'status') return untouched();
  const parsed = parsePodGang(object, request.namespace);
  const after = parsed.gang;
  const before = oldObject && parsePodGang(oldObject, request.namespace).gang;
  const gang = `${request.namespace}/${request.name || after.name}`;
  const needs = backendNeeded(before, after, policy) ?? preparersNeeded(before, after, policy);
  if (needs !== undefined) return new Needs(needs);
  if (before === undefined) return decision({ ...checkNew(parsed, policy), gang });

  const grove = isGroveManaged(before);
  const writer = { grove, trusted: policy.trustedAccounts.has(request.username) };
  const status = refusedChange('status', before, after, writer);
  if (subResource === 'status') return decision({ faults: status, gang });
  const labels = [
    ...checkSchedulerKept(before, after, policy),
    ...refusedChange('labels', before, after, writer),
    ...checkPreparationKept(before, after, policy),
  ];
  const priorities = checkPriorities(before, after, policy);
  const notices = [...priorities.warnings, ...(grove ? [] : updateWarnings(before, after, policy))];
  if (isDeepStrictEqual(before.spec, after.spec)) {
    return decision({ faults: [...priorities.faults, ...labels, ...status], warnings: notices, gang });
  }
  // The loop must be able to write references, even if the configuration now refuses the rest of the spec.
  const spec = onlyReferencesDiffer(before, after)
    ? { faults: [...parsed.faults, ...refusedInSpec(after, policy.topology, writer, true)], warnings: [] }
    : checkSpec(parsed, policy, grove);
  return decision({
    ...spec,
    faults: [
      ...spec.faults,
      ...refusedChange('change', before, after, writer),
      ...priorities.faults,
      ...labels,
      ...status,
    ],
    warnings: [...spec.warnings, ...notices],
    gang,
  });
}

/** Returns the question to a hosted backend, unless the backend does not judge this kind of change. */
function backendNeeded(
  before: PodGang | undefined,
  after: PodGang,
  policy: Policy,
): DecisionNeed | undefined {
  if (isGroveManaged(before ?? after)) return undefined;
  const { resolved } = selectForPodGang(policy.registry, after.labels.get(LABEL_SCHEDULER_NAME));
  if (resolved?.hosted === undefined) return undefined;
  const { backend, hosted } = resolved;
  if (answeringBackend(policy, backend) !== undefined) return undefined;
  if (before === undefined || isJudged(before, after)) {
    checkReady(policy, backend.name);
    return { of: backend, says: (ms) => hosted.ofGang(after, before, ms) };
  }
  if (!hosted.warnsOfUpdates) return undefined;
  return { of: backend, says: (ms) => hosted.ofChange(before, after, ms) };
}

/** Whether a change is judged by the rules of the spec and by backends: it changes more of the spec than references. */
const isJudged = (before: PodGang, after: PodGang): boolean =>
  !(isDeepStrictEqual(before.spec, after.spec) || onlyReferencesDiffer(before, after));

/** Returns the question to hosted preparers of the gang's Pods. */
const preparersNeeded = (
  before: PodGang | undefined,
  after: PodGang,
  policy: Policy,
): DecisionNeed | undefined =>
  isGroveManaged(before ?? after) ||
  policy.hpc?.known !== true ||
  (before !== undefined && !isJudged(before, after))
    ? undefined
    : preparationNeeded(after, policy, (hosted, named, ms) => hosted.ofGang(after, named, undefined, ms));

/** Warnings of the gang's backend about this update. */
function updateWarnings(before: PodGang, after: PodGang, policy: Policy): readonly string[] {
  const { resolved } = selectForPodGang(policy.registry, after.labels.get(LABEL_SCHEDULER_NAME));
  if (resolved === undefined) return [];
  return (answeringBackend(policy, resolved.backend) ?? resolved.backend).warnOfUpdate?.(before, after) ?? [];
}

/** Checks everything about a new gang. */
export function checkNew(parsed: { gang: PodGang; faults: readonly Fault[] }, policy: Policy): Checked {
  const [spec, priorities] = [checkSpec(parsed, policy), checkPriorities(undefined, parsed.gang, policy)];
  // HpcExpectedInvalid reports the same numbers already.
  const told = spec.faults.some(({ rule }) => rule === 'HpcExpectedInvalid');
  const expected = told || isGroveManaged(parsed.gang) ? [] : checkExpectedPods(parsed.gang);
  return {
    ...spec,
    faults: [...spec.faults, ...expected, ...priorities.faults],
    warnings: [...spec.warnings, ...priorities.warnings],
  };
}

interface Checked {
  readonly faults: Fault[];
  readonly warnings: string[];
  readonly backend: string | undefined;
}

/**
 * Checks the rules of the spec.
 * @param grove whether it is a gang of Grove's: then only rules that Grove keeps as well apply, so that Muster never blocks
 *   Grove
 */
function checkSpec(
  { gang, faults }: { gang: PodGang; faults: readonly Fault[] },
  policy: Policy,
  grove = isGroveManaged(gang),
): Checked {
  // Each gang of Grove has topology levels of its own, so the configured levels do not apply.
  const levels = grove ? NO_TOPOLOGY : policy.topology;
  const wrong = [...faults, ...refusedInSpec(gang, levels, { grove, trusted: false })];
  if (grove) return { faults: wrong, warnings: [], backend: undefined };

  const selection = selectForPodGang(policy.registry, gang.labels.get(LABEL_SCHEDULER_NAME));
  const warnings = idleInSpec(gang, levels);
  if (selection.fault !== undefined)
    return { faults: [...wrong, selection.fault], warnings, backend: undefined };
  const { backend, notice } = selection.resolved;
  checkReady(policy, backend.name);
  const verdicts = [(answeringBackend(policy, backend) ?? backend).validatePodGang(gang)];
  if (policy.hpc?.known === true) verdicts.push(checkPreparedGang(gang, policy.hpc, policy.preparations));
  const idle =
    policy.hpc === undefined && policy.placement?.gang !== undefined && policyNameOf(gang) !== undefined;
  if (idle) warnings.push(NOT_PREPARED);
  for (const one of policy.preparers ?? []) verdicts.push(one.validate?.(gang) ?? NO_FINDINGS);
  const said = mergedVerdicts(verdicts);
  return {
    faults: [...wrong, ...said.faults],
    warnings: [...(notice === undefined ? [] : [notice]), ...warnings, ...said.warnings],
    backend: backend.name,
  };
}

/** The label may change only to another spelling of the same backend. */
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
