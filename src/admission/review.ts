import type { Change } from '../json/patch.ts';
import type { Fault } from '../api/fault.ts';
import { Needs, type MayNeed } from '../api/needs.ts';
import { asObject, isObject, own, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import { quoted } from '../text/printable.ts';
import { BadRequest } from '../errors.ts';
import type { DecisionNeed } from './policy.ts';

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';
const OPERATIONS = new Set<string>(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']);

/** An `admission.k8s.io/v1` request, checked for as much as Muster relies on. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  /** Plural resource name, `pods`; `''` where it was not given. */
  readonly resource: string;
  readonly subResource: string;
  /** `''` for a Pod whose name is still to be generated. */
  readonly name: string;
  readonly namespace: string;
  readonly operation: AdmissionOperation;
  readonly username: string;
  readonly groups: readonly string[];
  readonly dryRun: boolean;
  /** undefined where the request has `null`: `object` on DELETE, `oldObject` on CREATE. */
  readonly object: JsonObject | undefined;
  /**
   * `object` with the lists that were left out of it before it was parsed: for the few who look into containers. Absent
   * where nothing was left out.
   */
  readonly entire?: (() => JsonObject) | undefined;
  readonly oldObject: JsonObject | undefined;
}

/** What was decided about one request. A pure function of the request and the configuration. */
export interface Decision {
  /** Empty: allowed. */
  readonly faults: readonly Fault[];
  readonly changes: readonly Change[];
  readonly warnings: readonly string[];
  /** Names, for the log and the audit annotations; undefined where the object is none of Muster's business. */
  readonly backend: string | undefined;
  /** `namespace/name` of the PodGang. */
  readonly gang: string | undefined;
}

const UNTOUCHED: Decision = { faults: [], changes: [], warnings: [], backend: undefined, gang: undefined };

/** Allowed as it is, and nothing to say. */
export const untouched = (): Decision => UNTOUCHED;

/** A decision that may need something to be read first. */
export type Decided = MayNeed<Decision, DecisionNeed>;

/** A decision where nothing can be read: one that needs something leaves the object untouched. */
export const orUntouched = (made: Decided): Decision => (made instanceof Needs ? UNTOUCHED : made);

/** A decision of which only some parts are worth naming. */
export const decision = (parts: Partial<Decision>): Decision => ({ ...UNTOUCHED, ...parts });

export const REVIEW_API_VERSION = 'admission.k8s.io/v1';
export const REVIEW_KIND = 'AdmissionReview';
/** A request uid is 36 characters; what is far from that is not from an API server. */
const MAX_UID = 128;

/**
 * Checks the outer shape of a review and takes out what decisions are made of. `object` stays as it was parsed:
 * it is neither copied nor walked.
 * @param entire the body with what was left out of it
 * @throws {BadRequest} naming the field
 */
export function parseReview(body: unknown, entire?: () => unknown): AdmissionRequest {
  if (!isObject(body)) throw new BadRequest(`an AdmissionReview is needed, found ${quoted(body)}`);
  const { apiVersion, kind: reviewKind } = body;
  if (apiVersion !== REVIEW_API_VERSION || reviewKind !== REVIEW_KIND) {
    throw new BadRequest(
      `${REVIEW_API_VERSION} ${REVIEW_KIND} is needed, found ${quoted(apiVersion)} ${quoted(reviewKind)}`,
    );
  }
  const request = asObject(body['request']);
  if (request === undefined) throw new BadRequest('request: an object is needed');
  const { uid, operation } = request;
  if (typeof uid !== 'string' || uid === '' || uid.length > MAX_UID) {
    throw new BadRequest(`request.uid: a string of 1 to ${MAX_UID} characters is needed`);
  }
  if (typeof operation !== 'string' || !OPERATIONS.has(operation)) {
    throw new BadRequest(`request.operation: ${quoted(operation)} is none of ${[...OPERATIONS].join(', ')}`);
  }
  const kind = asObject(request['kind']);
  const userInfo = asObject(request['userInfo']);
  return {
    uid,
    kind: {
      group: text(kind?.['group']),
      version: text(kind?.['version']),
      kind: text(kind?.['kind']),
    },
    resource: text(asObject(request['resource'])?.['resource']),
    subResource: text(request['subResource']),
    name: text(request['name']),
    namespace: text(request['namespace']),
    operation: operation as AdmissionOperation,
    username: text(userInfo?.['username']),
    groups: stringsOf(userInfo?.['groups']),
    dryRun: request['dryRun'] === true,
    object: objectOf(request['object'], 'object', operation === 'CREATE' || operation === 'UPDATE'),
    oldObject: objectOf(request['oldObject'], 'oldObject', operation === 'UPDATE'),
    entire: entire && (() => ownObject(own(entire(), 'request'), 'object') ?? {}),
  };
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const stringsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter((item) => typeof item === 'string') : [];

function objectOf(
  value: Json | undefined,
  field: 'object' | 'oldObject',
  needed: boolean,
): JsonObject | undefined {
  if (isObject(value)) {
    checkMetadata(value, field);
    return value;
  }
  if (needed || (value !== undefined && value !== null)) {
    throw new BadRequest(`request.${field}: an object is needed, found ${quoted(value)}`);
  }
  return undefined;
}

/** Labels and annotations decide, so what is in their place must be maps of strings, or absent. */
function checkMetadata(object: JsonObject, field: string): void {
  const { metadata } = object;
  if (metadata === undefined || metadata === null) return;
  if (!isObject(metadata)) throw new BadRequest(`request.${field}.metadata: an object is needed`);
  for (const map of ['labels', 'annotations'] as const) {
    const value = metadata[map];
    if (value === undefined || value === null) continue;
    if (!isObject(value)) throw new BadRequest(`request.${field}.metadata.${map}: an object is needed`);
    for (const key in value) {
      if (typeof value[key] !== 'string') {
        throw new BadRequest(`request.${field}.metadata.${map}: ${quoted(key)} must have a string as value`);
      }
    }
  }
}

/** What a request says of the object's name. */
export interface NamedRequest {
  readonly kind: { readonly kind: string };
  readonly name: string;
  readonly object: JsonObject | undefined;
}

/** The object's name for people; a generated name is still open when the Pod is mutated. */
export function nameOfRequest(request: NamedRequest): string {
  const metadata = own(request.object, 'metadata');
  const generateName = ownString(metadata, 'generateName');
  const name = request.name || ownString(metadata, 'name');
  return name || (generateName ? `${generateName}*` : '(no name)');
}
