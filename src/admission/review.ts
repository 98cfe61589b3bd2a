import { isObject, own, ownObject, ownString, type Json, type JsonObject } from '../api/json.ts';
import { quoted } from '../api/printable.ts';

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
  readonly oldObject: JsonObject | undefined;
}

/** A review that cannot be decided upon. Answered with HTTP 400, so that the failurePolicy stays the one switch. */
export class BadReview extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BadReview';
  }
}

export const REVIEW_API_VERSION = 'admission.k8s.io/v1';
export const REVIEW_KIND = 'AdmissionReview';
/** A request uid is 36 characters; what is far from that is not from an API server. */
const MAX_UID = 128;

/**
 * Checks the outer shape of a review and takes out what decisions are made of. `object` stays as it was parsed:
 * it is neither copied nor walked.
 * @throws {BadReview} naming the field
 */
export function parseReview(body: unknown): AdmissionRequest {
  if (!isObject(body)) throw new BadReview(`an AdmissionReview is needed, found ${quoted(body)}`);
  if (own(body, 'apiVersion') !== REVIEW_API_VERSION || own(body, 'kind') !== REVIEW_KIND) {
    throw new BadReview(
      `${REVIEW_API_VERSION} ${REVIEW_KIND} is needed, found ${quoted(own(body, 'apiVersion'))} ${quoted(own(body, 'kind'))}`,
    );
  }
  const request = ownObject(body, 'request');
  if (request === undefined) throw new BadReview('request: an object is needed');
  const uid = own(request, 'uid');
  if (typeof uid !== 'string' || uid === '' || uid.length > MAX_UID) {
    throw new BadReview(`request.uid: a string of 1 to ${MAX_UID} characters is needed`);
  }
  const operation = own(request, 'operation');
  if (typeof operation !== 'string' || !OPERATIONS.has(operation)) {
    throw new BadReview(`request.operation: ${quoted(operation)} is none of ${[...OPERATIONS].join(', ')}`);
  }
  const kind = ownObject(request, 'kind');
  const userInfo = own(request, 'userInfo');
  return {
    uid,
    kind: {
      group: ownString(kind, 'group') ?? '',
      version: ownString(kind, 'version') ?? '',
      kind: ownString(kind, 'kind') ?? '',
    },
    resource: ownString(own(request, 'resource'), 'resource') ?? '',
    subResource: ownString(request, 'subResource') ?? '',
    name: ownString(request, 'name') ?? '',
    namespace: ownString(request, 'namespace') ?? '',
    operation: operation as AdmissionOperation,
    username: ownString(userInfo, 'username') ?? '',
    groups: stringsOf(own(userInfo, 'groups')),
    dryRun: own(request, 'dryRun') === true,
    object: objectOf(request, 'object', operation === 'CREATE' || operation === 'UPDATE'),
    oldObject: objectOf(request, 'oldObject', operation === 'UPDATE'),
  };
}

const stringsOf = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter((item) => typeof item === 'string') : [];

function objectOf(
  request: JsonObject,
  field: 'object' | 'oldObject',
  needed: boolean,
): JsonObject | undefined {
  const value = own(request, field);
  if (isObject(value)) {
    checkMetadata(value, field);
    return value;
  }
  if (needed || (value !== undefined && value !== null)) {
    throw new BadReview(`request.${field}: an object is needed, found ${quoted(value)}`);
  }
  return undefined;
}

/** Labels and annotations decide, so what is in their place must be maps of strings, or absent. */
function checkMetadata(object: JsonObject, field: string): void {
  const metadata = own(object, 'metadata');
  if (metadata === undefined || metadata === null) return;
  if (!isObject(metadata)) throw new BadReview(`request.${field}.metadata: an object is needed`);
  for (const map of ['labels', 'annotations']) {
    const value = own(metadata, map);
    if (value === undefined || value === null) continue;
    if (!isObject(value)) throw new BadReview(`request.${field}.metadata.${map}: an object is needed`);
    for (const key in value) {
      if (typeof value[key] !== 'string') {
        throw new BadReview(`request.${field}.metadata.${map}: ${quoted(key)} must have a string as value`);
      }
    }
  }
}
