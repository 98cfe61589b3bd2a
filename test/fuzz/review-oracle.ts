import {
  isObject,
  own,
  ownList,
  ownObject,
  ownString,
  type Json,
  type JsonObject,
} from '../../src/json/json.ts';
import { rules } from '../../src/api/rules.ts';
import type { PatchSurface } from '../../src/backends/backend.ts';
import { outsideOf } from '../support/outside-of.ts';
import { applied } from '../support/rfc6902.ts';
import { must, mustBeClean, mustBeUnpolluted } from './target.ts';
import type { HttpAnswer } from './wire.ts';

/** Every status of an answer that is no decision, and the causes that may stand in it. */
const CAUSES: ReadonlyMap<number, RegExp> = new Map([
  [
    400,
    /^(an AdmissionReview is needed|admission\.k8s\.io\/v1 AdmissionReview is needed|request(\.[a-zA-Z.]+)?: |the body is (empty, JSON is needed$|not (JSON|valid UTF-8))|the request (is not valid HTTP|ended before)|.*nested|.*deep|.*values)/,
  ],
  [404, /^no such path$/],
  [405, / is not served here: POST a review$/],
  [408, /^the request came in too slowly$/],
  [413, /^the review is (larger than [0-9]+ bytes|too costly to parse: )/],
  [415, /^the (Content-Type must be application\/json|body must not be compressed)$/],
  [431, /^the request headers are larger than 16 KiB, or more than 100$/],
  [503, /; the API server retries$/],
  [504, /^no decision within [0-9]+ ms of the API server's timeout$/],
]);
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'Timeout',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  431: 'RequestHeaderFieldsTooLarge',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** An answer that is no decision: its status is a known one, and its body a `metav1.Status` that names the cause. */
export function judgeFailure({ status, headers, body }: HttpAnswer): string {
  const cause = CAUSES.get(status);
  must(cause !== undefined, `an answer ${status}: ${body}`);
  must(headers.get('content-type') === 'application/json', `the content type of ${status}`);
  const {
    kind,
    apiVersion,
    status: outcome,
    message,
    reason,
    code,
  } = JSON.parse(body) as Record<string, unknown>;
  must(kind === 'Status' && apiVersion === 'v1' && outcome === 'Failure', `no Status: ${body}`);
  must(code === status && reason === REASONS[status], `code and reason of ${body}`);
  must(typeof message === 'string', `no message: ${body}`);
  mustBeClean(message, 'the message');
  const why = /^muster \([^)]+\): (.+)$/s.exec(message)?.[1] ?? '';
  must(cause.test(why), `a cause that nobody knows: ${status} ${message}`);
  return `${status}${status === 400 ? ` ${why.replace(/[:,] .*$/s, '').slice(0, 60)}` : ''}`;
}

/** `bytes` as JSON, where they are; read apart from the program. */
export function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

/** What must hold of a body before `allowed: true` may be its answer. */
export function isReview(body: unknown, path: string): boolean {
  const request = own(body, 'request');
  const [uid, operation, object] = ['uid', 'operation', 'object'].map((key) => own(request, key));
  const kind = path.includes('podgang') ? 'PodGang' : 'Pod';
  const metadata = own(object, 'metadata');
  return (
    own(body, 'apiVersion') === 'admission.k8s.io/v1' &&
    own(body, 'kind') === 'AdmissionReview' &&
    typeof uid === 'string' &&
    uid.length > 0 &&
    uid.length <= 128 &&
    ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'].includes(operation as string) &&
    (own(own(request, 'kind'), 'kind') === kind || typeof own(request, 'subResource') === 'string') &&
    (operation === 'DELETE' || operation === 'CONNECT' || isObject(object)) &&
    (operation !== 'UPDATE' || isObject(own(request, 'oldObject'))) &&
    (metadata === undefined || metadata === null || isObject(metadata))
  );
}

/** What a review was answered with, once its form is known to be right. */
export interface Decided {
  readonly allowed: boolean;
  readonly operations: readonly { op: string; path: string; value?: Json }[];
  /** Words for the count. */
  readonly words: readonly string[];
  /** The object with the patch applied. */
  readonly patched: JsonObject | undefined;
}

/**
 * A decision about `body`: an AdmissionReview with its uid, rules by their names, a patch that applies to the very JSON
 * that was sent and touches nothing else than the backend declares.
 */
export function judgeDecision(
  answer: HttpAnswer,
  body: unknown,
  path: string,
  surfaceOf: (backend: string) => PatchSurface | undefined,
): Decided {
  must(answer.status === 200, () => `a review is answered ${answer.status}: ${answer.body}`);
  must(answer.headers.get('content-type') === 'application/json', 'the content type of a decision');
  const { apiVersion, kind, response, ...rest } = JSON.parse(answer.body) as Record<string, Json>;
  must(
    apiVersion === 'admission.k8s.io/v1' && kind === 'AdmissionReview' && Object.keys(rest).length === 0,
    () => `no AdmissionReview: ${answer.body}`,
  );
  must(ownString(response, 'uid') === ownString(own(body, 'request'), 'uid'), 'the uid of another request');
  const warnings = (ownList(response, 'warnings') ?? []) as readonly string[];
  for (const warning of warnings) {
    mustBeClean(warning, 'a warning');
    must(!warning.includes('\n') && warning.length > 0, 'a warning of several lines, or none');
  }
  mustBeUnpolluted();
  const allowed = own(response, 'allowed');
  must(typeof allowed === 'boolean', 'no verdict');
  if (!allowed)
    return { allowed, operations: [], patched: undefined, words: judgeRefusal(response as JsonObject) };
  must(isReview(body, path), () => `allowed, and it is no review: ${answer.body}`);

  const patch = ownString(response, 'patch');
  must((patch === undefined) === (own(response, 'patchType') === undefined), 'patch without patchType');
  if (patch === undefined) return { allowed, operations: [], patched: undefined, words: ['allowed'] };
  must(path.includes('mutate'), 'a patch from a validating endpoint');
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as Decided['operations'];
  must(operations.length > 0, 'an empty patch');
  const object = ownObject(own(body, 'request'), 'object') as JsonObject;
  const patched = applied(JSON.stringify(object), operations);
  const backend = ownString(own(response, 'auditAnnotations'), 'backend');
  if (path.includes('podgang')) {
    const had = own(own(own(own(body, 'request'), 'oldObject'), 'spec'), 'priorityClassName');
    for (const { path: at, ...operation } of operations)
      must(
        // A gang that has Pods gets back the class that was taken from it; there is no default class here.
        (at === '/spec/priorityClassName' && had !== undefined && own(operation, 'value') === had) ||
          /^\/spec\/podgroups\/[0-9]+\/podReferences$|^\/metadata\/labels(\/grove\.io~1scheduler-name)?$/.test(
            at,
          ),
        `a PodGang is changed at ${at}`,
      );
    return { allowed, operations, patched, words: ['patched PodGang'] };
  }
  const surface = surfaceOf(backend ?? '');
  must(surface !== undefined, () => `patched by nobody: ${answer.body}`);
  must(
    outsideOf(object, surface) === outsideOf(patched, surface),
    () => `changed more: ${JSON.stringify(operations)}`,
  );
  return { allowed, operations, patched, words: [`patched for ${backend}`] };
}

/** @returns the rules that are named */
function judgeRefusal(response: JsonObject): string[] {
  const status = ownObject(response, 'status');
  const [code, reason] = [own(status, 'code'), own(status, 'reason')];
  must(
    (code === 422 && reason === 'Invalid') || (code === 403 && reason === 'Forbidden'),
    `a refusal ${JSON.stringify(code)}`,
  );
  must(own(response, 'patch') === undefined, 'refused and patched');
  const message = ownString(status, 'message') ?? '';
  must(message !== '' && message.length <= 4400, 'no message, or one without end');
  mustBeClean(message, 'the message of a refusal');
  const causes = ownList(ownObject(status, 'details'), 'causes') ?? [];
  must(causes.length > 0, 'a refusal without causes');
  return causes.map((cause) => {
    const [text, field] = [ownString(cause, 'message') ?? '', ownString(cause, 'field') ?? ''];
    mustBeClean(text, 'a cause');
    mustBeClean(field, 'a field');
    const rule = /\[([A-Za-z]+)\]$/.exec(text)?.[1] ?? '';
    must(Object.hasOwn(rules, rule), `a refusal by no rule: ${text}`);
    must(field !== '', `a refusal without a field: ${text}`);
    return `denied ${rule}`;
  });
}
