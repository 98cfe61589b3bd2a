import type { Change } from '../json/patch.ts';
import type { Fault } from '../api/fault.ts';
import { Needs, type MayNeed } from '../api/needs.ts';
import { asObject, isObject, own, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import type { KnownSpec, KnownSpecs } from '../json/known-specs.ts';
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

/** An `admission.k8s.io/v1` request; the fields that Muster relies on were checked. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: GroupVersionKind;
  /** Plural resource name, such as `pods`; `''` where the request has none. */
  readonly resource: string;
  readonly subResource: string;
  /** Name of the object; `''` for a Pod whose name is not generated yet. */
  readonly name: string;
  readonly namespace: string;
  readonly operation: AdmissionOperation;
  readonly username: string;
  readonly groups: readonly string[];
  readonly dryRun: boolean;
  /** undefined where the request has `null`: `object` on DELETE, `oldObject` on CREATE. */
  readonly object: JsonObject | undefined;
  /** Returns `object` with the lists that were cut before it was parsed. Absent where no list was cut. */
  readonly entire?: (() => JsonObject) | undefined;
  readonly oldObject: JsonObject | undefined;
  /** Where Pods with the same spec are recognised. */
  readonly specs?: SpecOfRequest | undefined;
}

/** The spec of a request among those that were seen before. */
export interface SpecOfRequest {
  readonly of: KnownSpecs;
  /** Where it is known already. */
  readonly known: KnownSpec | undefined;
  readonly bytes: Buffer;
}

/** The decision about one request: a pure function of the request and the configuration. */
export interface Decision {
  /** Faults of the object; none: the request is allowed. */
  readonly faults: readonly Fault[];
  readonly changes: readonly Change[];
  readonly warnings: readonly string[];
  /** Name of the backend, for the log and the audit annotations; undefined where the object is not Muster's. */
  readonly backend: string | undefined;
  /** `namespace/name` of the PodGang. */
  readonly gang: string | undefined;
}

const UNTOUCHED: Decision = { faults: [], changes: [], warnings: [], backend: undefined, gang: undefined };

/** Allows the object unchanged, without warnings. */
export const untouched = (): Decision => UNTOUCHED;

/** A decision that may need something to be read first. */
export type Decided = MayNeed<Decision, DecisionNeed>;

/** The decision where nothing can be read: if it needs something, the object is allowed unchanged. */
export const orUntouched = (made: Decided): Decision => (made instanceof Needs ? UNTOUCHED : made);

/** Builds a decision from the parts that differ from {@link untouched}. */
export const decision = (parts: Partial<Decision>): Decision => ({ ...UNTOUCHED, ...parts });

export const REVIEW_API_VERSION = 'admission.k8s.io/v1';
export const REVIEW_KIND = 'AdmissionReview';
/** The most characters of a uid. An API server's uid has 36. */
const MAX_UID = 128;

/**
 * Checks the outer shape of a review and extracts the fields that decisions need. `object` is neither copied nor walked.
 * @param entire returns the body with the lists that were cut
 * @throws {BadRequest} naming the field
 */
export function parseReview(body: unknown, entire?: () => unknown, specs?: SpecOfRequest): AdmissionRequest {
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
    specs,
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

/** Checks that labels and annotations are maps of strings, or absent, since decisions depend on them. */
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

/** The name and the kind of the object in a request. */
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
