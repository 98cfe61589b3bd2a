import { own, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import type { WriteOperation } from '../json/patch.ts';
import { printable, quoted } from '../text/printable.ts';
import { BadRequest } from '../errors.ts';

const CONTEXT_API_VERSION = 'config.karmada.io/v1alpha1';
const CONTEXT_KIND = 'ResourceInterpreterContext';

/** A request of Karmada's interpreter protocol. Only the fields that Muster uses are checked. */
export interface InterpreterRequest {
  readonly uid: string;
  readonly operation: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** undefined when the request has none; the operation fails then. */
  readonly object: JsonObject | undefined;
  /** The object in the member cluster; for Retain only. */
  readonly observed: JsonObject | undefined;
  /** Always present; used for ReviseReplica only. */
  readonly replicas: number;
  readonly aggregatedStatus: Json | undefined;
}

/** Longest uid accepted; Karmada's have 36 characters. */
const MAX_UID = 128;

/** @throws {BadRequest} when no answer can be addressed: the body is no context or has no uid */
export function parseContext(body: unknown): InterpreterRequest {
  const apiVersion = own(body, 'apiVersion');
  const kind = own(body, 'kind');
  if (apiVersion !== CONTEXT_API_VERSION || kind !== CONTEXT_KIND) {
    throw new BadRequest(
      `${CONTEXT_API_VERSION} ${CONTEXT_KIND} is needed, found ${quoted(apiVersion)} ${quoted(kind)}`,
    );
  }
  const request = ownObject(body, 'request');
  if (request === undefined) throw new BadRequest('request: an object is needed');
  const uid = ownString(request, 'uid') ?? '';
  if (uid === '' || uid.length > MAX_UID)
    throw new BadRequest(`request.uid: a string of 1 to ${MAX_UID} characters is needed`);
  const replicas = own(request, 'replicas');
  return {
    uid,
    operation: ownString(request, 'operation') ?? '',
    kind: ownString(own(request, 'kind'), 'kind') ?? '',
    namespace: ownString(request, 'namespace') ?? '',
    name: ownString(request, 'name') ?? '',
    object: ownObject(request, 'object'),
    observed: ownObject(request, 'observedObject'),
    replicas: typeof replicas === 'number' ? replicas : 0,
    aggregatedStatus: own(request, 'aggregatedStatus'),
  };
}

/** Fields of an operation's successful answer. */
export type Answered = Readonly<Record<string, unknown>>;

/** JSON Patch operations in the protocol's format; no patch and no patch type when nothing changes. */
export const patchAnswer = (operations: readonly WriteOperation[]): Answered =>
  operations.length === 0
    ? {}
    : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };

export const isPatched = (answered: Answered): boolean => 'patch' in answered;

const contextWith = (response: object): string =>
  JSON.stringify({ apiVersion: CONTEXT_API_VERSION, kind: CONTEXT_KIND, response });

export const renderAnswer = (uid: string, answered: Answered): string =>
  contextWith({ uid, successful: true, status: { code: 200 }, ...answered });

/** A failed answer: Karmada shows its message in an Event. */
export const renderRefusal = (uid: string, code: number, message: string): string =>
  contextWith({ uid, successful: false, status: { code, message: printable(message, 1024) } });
