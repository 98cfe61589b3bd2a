import type { Change } from '../../json/patch.ts';
import jsonpatch from 'fast-json-patch';
import { denialOf, boundedWarnings } from '../../admission/response.ts';
import {
  type Decision,
  orUntouched,
  nameOfRequest,
  parseReview,
  REVIEW_API_VERSION,
  REVIEW_KIND,
  untouched,
  type AdmissionRequest,
} from '../../admission/review.ts';
import type { Policy } from '../../admission/policy.ts';
import { decideRequest } from '../../admission/endpoints.ts';
import { BadRequest } from '../../errors.ts';
import { isObject, own, ownString, type JsonObject } from '../../json/json.ts';
import {
  ANNOTATION_WORKLOAD,
  HPC_POLICY_API_VERSION,
  HPC_POLICY_KIND,
  MUSTER_USER,
  POD_GANG_API_VERSION,
  POD_GANG_KIND,
} from '../../api/names.ts';
import { fault } from '../../api/fault.ts';
import { keyed, printable, quoted } from '../../text/printable.ts';
import type { SourceObject } from '../input/source-object.ts';
import { unknownPodGangFields } from '../input/pod-gang-fields.ts';
import { askingWorkload } from '../../workloads/asking-workload.ts';
import { controlledPods, previewGang, templateAsksForGang } from '../../workloads/preview-gang.ts';
import { podFromTemplate, withHost } from '../../workloads/pod-from-template.ts';
import { podTemplatesOf } from '../../workloads/pod-templates.ts';
import { notText } from '../gangs/slips.ts';
import { createReview, endpointsFor } from './admission.ts';
import { notReviewed, type Cause, type Ref, type ReviewResult } from './render-review.ts';

export interface ReviewContext {
  readonly policy: Policy;
  /** Namespace of objects without one. */
  readonly namespace: string;
  readonly username: string;
}

const REVIEW_GROUP = REVIEW_API_VERSION.slice(0, REVIEW_API_VERSION.indexOf('/') + 1);

/** The outcome of admission for one object: one result, or for a workload one for each of its Pod templates. */
export function reviewObject(source: SourceObject, context: ReviewContext): ReviewResult[] {
  const { object } = source;
  const ref = refOf(object, context.namespace);
  // An AdmissionReview of another version is refused as by the server, and not searched for templates.
  if (ref.kind === REVIEW_KIND && ref.apiVersion.startsWith(REVIEW_GROUP))
    return [reviewReview(source, context)];
  const resource = RESOURCES[`${ref.apiVersion} ${ref.kind}`];
  if (resource !== undefined) {
    const review = createReview(object, ref, resource, context.username);
    const result = decide(source, ref, review, '', context.policy);
    return [ref.kind === POD_GANG_KIND ? withUnknownFields(result, object) : result];
  }
  const { gangKinds } = context.policy;
  const templates = podTemplatesOf(object, gangKinds);
  if (templates.length === 0) {
    // It is not known whether such a kind is namespaced, so no namespace is added.
    const namespace = ownString(own(object, 'metadata'), 'namespace') ?? '';
    return [notReviewed(source, { ...ref, namespace }, nothingIn(ref))];
  }
  const asked = askingWorkload(object, gangKinds) !== undefined;
  const created = createReview(object, ref, '', context.username);
  const workload = asked ? decide(source, ref, created, '', context.policy) : undefined;
  // A refused workload makes no Pods.
  if (workload?.allowed === false) return [workload];
  const gangs = new Set<string>();
  const controlled = controlledPods(object, gangKinds);
  const ofPods = templates.flatMap(({ path, template }) => {
    const asks = templateAsksForGang(template);
    const bare = withHost(podFromTemplate(template, ref), object, path);
    const pod = asks ? controlled(bare, template) : bare;
    const podRef = { apiVersion: 'v1', kind: 'Pod', namespace: ref.namespace, name: '' };
    const review = createReview(pod, podRef, 'pods', context.username);
    const result = decide(source, { ...ref, template: path }, review, path, context.policy);
    const made = asks ? madeGangOf(result, object, context) : undefined;
    // Several templates may belong to one gang.
    if (made === undefined || gangs.has(made.ref.name)) return [result];
    gangs.add(made.ref.name);
    return [result, made];
  });
  return workload === undefined || workload.warnings.length === 0 ? ofPods : [workload, ...ofPods];
}

/** The PodGang that the loop makes for these Pods, as it is stored. */
function madeGangOf(
  { source, stored, gang, backend }: ReviewResult,
  object: JsonObject,
  { policy }: ReviewContext,
): ReviewResult | undefined {
  const [namespace = '', name = ''] = gang?.split('/') ?? [];
  const preview =
    stored && previewGang(stored, object, { namespace, name, backend, kinds: policy.gangKinds });
  if (preview === undefined) return undefined;
  const ref = { apiVersion: POD_GANG_API_VERSION, kind: POD_GANG_KIND, namespace, name };
  const result = decide(source, ref, createReview(preview.gang, ref, 'podgangs', MUSTER_USER), '', policy);
  const warnings = preview.wrong === undefined ? [] : [preview.wrong];
  const made = ownString(own(own(preview.gang, 'metadata'), 'annotations'), ANNOTATION_WORKLOAD) ?? '';
  return { ...result, made, warnings: [...warnings, ...result.warnings] };
}

/**
 * Warnings about unknown fields, which the API server gives to clients with `fieldValidation=Warn`; admission never sees the
 * fields.
 */
const withUnknownFields = (result: ReviewResult, object: JsonObject): ReviewResult => {
  const unknown = unknownPodGangFields(object).map(
    ({ path, message }) => `${printable(path, 120)}: ${message}`,
  );
  return { ...result, warnings: boundedWarnings([...unknown, ...result.warnings]) };
};

/** Resources of the kinds that are reviewed themselves. */
const RESOURCES: Readonly<Record<string, string>> = {
  'v1 Pod': 'pods',
  [`${POD_GANG_API_VERSION} ${POD_GANG_KIND}`]: 'podgangs',
  [`${HPC_POLICY_API_VERSION} ${HPC_POLICY_KIND}`]: 'hpcpolicies',
};

function refOf(object: JsonObject, namespace: string): Ref {
  const metadata = own(object, 'metadata');
  return {
    apiVersion: ownString(object, 'apiVersion') ?? '',
    kind: ownString(object, 'kind') ?? '',
    namespace: ownString(metadata, 'namespace') || namespace,
    name: ownString(metadata, 'name') ?? '',
  };
}

function nothingIn({ apiVersion, kind }: Ref): string {
  if (apiVersion === '' || kind === '') return 'nothing to review: it has no apiVersion and kind';
  const served = kind === 'Pod' ? 'v1' : kind === POD_GANG_KIND ? POD_GANG_API_VERSION : undefined;
  return served === undefined
    ? `nothing to review: no Pod template in this ${kind}`
    : `nothing to review: a ${kind} has apiVersion ${served}, not ${quoted(apiVersion)}`;
}

/** Decides on an AdmissionReview unchanged, with its own user and operation. */
function reviewReview(source: SourceObject, { policy }: ReviewContext): ReviewResult {
  const request = own(source.object, 'request');
  const kind = own(request, 'kind');
  const [group, version] = [ownString(kind, 'group') ?? '', ownString(kind, 'version') ?? ''];
  const ref: Ref = {
    apiVersion: group === '' ? version : `${group}/${version}`,
    kind: ownString(kind, 'kind') ?? '',
    namespace: ownString(request, 'namespace') ?? '',
    name: ownString(request, 'name') || (ownString(own(own(request, 'object'), 'metadata'), 'name') ?? ''),
  };
  return decide(source, ref, source.object, 'request.object', policy);
}

/** Mutation, then validation of the mutated object, the order in which an API server calls webhooks. */
function decide(
  source: SourceObject,
  ref: Ref,
  review: JsonObject,
  root: string,
  policy: Policy,
): ReviewResult {
  const object = own(own(review, 'request'), 'object');
  const received = isObject(object) ? object : undefined;
  try {
    const request = parseReview(review);
    const { mutating, validating } = endpointsFor(request, policy);
    if (validating === undefined) {
      return notReviewed(source, ref, `nothing to review: Muster is not asked about a ${ref.kind}`);
    }
    const mutation =
      mutating === undefined ? untouched() : orUntouched(decideRequest(mutating, request, policy));
    if (mutation.faults.length > 0)
      return outcome(source, ref, root, request, [mutation], received, undefined);
    const stored = received && applied(received, mutation.changes);
    const after: AdmissionRequest = { ...request, object: stored };
    const validation = orUntouched(decideRequest(validating, after, policy));
    return outcome(source, ref, root, after, [mutation, validation], received, stored);
  } catch (thrown) {
    if (!(thrown instanceof BadRequest)) throw thrown;
    // The server answers 400, and with failurePolicy Fail the API server refuses the object.
    const causes = nonTexts(source, received, root);
    const message = causes.map((cause) => `${cause.field}: ${cause.message}`).join('; ');
    return {
      ...notReviewed(source, ref, message || thrown.message),
      causes,
      reviewed: true,
      allowed: false,
      code: 400,
      root,
      received,
      stored: undefined,
    };
  }
}

/** Faults for labels and annotations that YAML does not read as strings. */
function nonTexts(source: SourceObject, received: JsonObject | undefined, root: string): Cause[] {
  const metadata = own(received, 'metadata');
  return ['metadata.labels', 'metadata.annotations'].flatMap((map) => {
    const entries = own(metadata, map.slice('metadata.'.length));
    return Object.entries(isObject(entries) ? entries : {}).flatMap(([key, value]) => {
      if (typeof value === 'string') return [];
      const field = keyed(map, key);
      const detail = notText(value, source.written(root === '' ? field : `${root}.${field}`));
      const { rule, reason, message } = fault('FieldType', field, { value, detail });
      return [{ rule, reason, message, field }];
    });
  });
}

/** A copy of `received` with the changes applied. */
function applied(received: JsonObject, changes: readonly Change[]): JsonObject {
  const operations = changes.map(({ operation }) => operation);
  return jsonpatch.applyPatch(received, operations, true, false).newDocument;
}

function outcome(
  source: SourceObject,
  ref: Ref,
  root: string,
  request: AdmissionRequest,
  decisions: readonly Decision[],
  received: JsonObject | undefined,
  stored: JsonObject | undefined,
): ReviewResult {
  const faults = decisions.flatMap((decision) => decision.faults);
  const denial = faults.length > 0 ? denialOf(request, faults) : undefined;
  const name = ref.template === undefined ? ref.name || nameOfRequest(request) : ref.name;
  return {
    source,
    ref: { ...ref, name },
    reviewed: true,
    allowed: denial === undefined,
    code: denial?.code ?? 200,
    message: denial?.message ?? '',
    causes: (denial?.causes ?? []).map((cause, index) => ({ ...cause, rule: faults[index]?.rule ?? '' })),
    warnings: boundedWarnings(decisions.flatMap((decision) => decision.warnings)),
    backend: decisions.find((decision) => decision.backend !== undefined)?.backend,
    gang: decisions.find((decision) => decision.gang !== undefined)?.gang,
    changes: denial === undefined ? decisions.flatMap((decision) => decision.changes) : [],
    received,
    stored: denial === undefined ? stored : undefined,
    root,
  };
}
