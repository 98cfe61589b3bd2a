import { own, ownString, type Json, type JsonObject } from '../../src/json/json.ts';
import { PATH_VALIDATE_WORKLOAD } from '../../src/api/names.ts';
import { Needs } from '../../src/api/needs.ts';
import { denialOf, renderResponse } from '../../src/admission/response.ts';
import { orUntouched, untouched, type Decision, parseReview } from '../../src/admission/review.ts';
import type { DecisionNeed, Policy } from '../../src/admission/policy.ts';
import { decideRequest, admissionWebhooks, type AdmissionWebhook } from '../../src/admission/endpoints.ts';
import { json } from './pods.ts';
import { policy } from './policy.ts';

/** What may differ in the request of a review. */
export interface RequestParts {
  readonly operation?: string;
  readonly object?: Json | undefined;
  readonly oldObject?: Json | undefined;
  readonly username?: string;
  readonly groups?: readonly string[];
  readonly namespace?: string;
  readonly subResource?: string;
  readonly uid?: string;
  readonly dryRun?: boolean;
}

const KINDS = {
  Pod: { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: 'pods' },
  PodGang: {
    kind: { group: 'scheduler.grove.io', version: 'v1alpha1', kind: 'PodGang' },
    resource: 'podgangs',
  },
} as const;
export type ReviewedKind = keyof typeof KINDS;

/** An AdmissionReview as the API server sends it: CREATE, or UPDATE where there is an `oldObject`. */
export function review(kind: ReviewedKind, parts: RequestParts = {}): JsonObject {
  const names = KINDS[kind];
  const { object, oldObject } = parts;
  const { group, version } = names.kind;
  const resource = { group, version, resource: names.resource };
  return json({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: parts.uid ?? '705ab4f5-6393-11e8-b7cc-42010a800002',
      kind: names.kind,
      resource,
      requestKind: names.kind,
      requestResource: resource,
      subResource: parts.subResource,
      name: ownString(own(object ?? oldObject, 'metadata'), 'name'),
      namespace: parts.namespace ?? 'ml',
      operation: parts.operation ?? (oldObject === undefined ? 'CREATE' : 'UPDATE'),
      userInfo: { username: parts.username ?? 'alice', groups: parts.groups ?? ['system:authenticated'] },
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun: parts.dryRun ?? false,
      options: null,
    },
  });
}

export function endpointOf(verb: 'mutate' | 'validate', kind: ReviewedKind): AdmissionWebhook {
  const found = admissionWebhooks.find((one) => one.verb === verb && one.kind?.kind === kind);
  if (found === undefined) throw new Error(`no endpoint for ${verb} ${kind}`);
  return found;
}

/** A decision; where it needs something, `needs` is all that it says. */
export interface MadeDecision extends Decision {
  readonly needs?: DecisionNeed;
}

const decide =
  (verb: 'mutate' | 'validate', kind: ReviewedKind) =>
  (parts: RequestParts, under: Policy = policy()): MadeDecision => {
    const made = decideRequest(endpointOf(verb, kind), parseReview(review(kind, parts)), under);
    return made instanceof Needs ? { ...untouched(), needs: made.needs } : made;
  };

export const mutatePod = decide('mutate', 'Pod');
export const validatePod = decide('validate', 'Pod');
export const mutatePodGang = decide('mutate', 'PodGang');
export const validatePodGang = decide('validate', 'PodGang');

/** A workload of any kind, `batch/v1 Job`, as the webhook of workloads is asked about it. */
export function workloadReview(title: string, parts: RequestParts): JsonObject {
  const [apiVersion = '', kind = ''] = title.split(' ');
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const { request, ...envelope } = review('Pod', parts);
  const names = {
    kind: { group, version, kind },
    resource: { group, version, resource: `${kind.toLowerCase()}s` },
  };
  return json({ ...envelope, request: { ...(request as JsonObject), ...names } });
}

export function validateWorkload(title: string, parts: RequestParts, under: Policy = policy()): Decision {
  const endpoint = admissionWebhooks.find(({ path }) => path === PATH_VALIDATE_WORKLOAD);
  if (endpoint === undefined) throw new Error('no endpoint for workloads');
  return orUntouched(decideRequest(endpoint, parseReview(workloadReview(title, parts)), under));
}

/** Each fault as one line: field and complete message. */
export const textsOf = (decision: Decision): string[] =>
  decision.faults.map(({ field, message }) => `${field}: ${message}`);

/** Only the names of the rules that were broken. */
export const rulesOf = (decision: Decision): string[] => decision.faults.map(({ rule }) => rule);

export const operationsOf = (decision: Decision): unknown[] =>
  decision.changes.map(({ operation }) => operation);

/** The HTTP code of the refusal. */
export const codeOf = (kind: ReviewedKind, parts: RequestParts, decision: Decision): number =>
  denialOf(parseReview(review(kind, parts)), decision.faults).code;

/** The whole way of a request, from the body to the `response` of the answer. */
export function answer(
  verb: 'mutate' | 'validate',
  kind: ReviewedKind,
  body: unknown,
  under: Policy = policy(),
): JsonObject {
  const request = parseReview(body);
  const decision = orUntouched(decideRequest(endpointOf(verb, kind), request, under));
  const text = renderResponse(request, decision);
  return own(JSON.parse(text) as Json, 'response') as JsonObject;
}
