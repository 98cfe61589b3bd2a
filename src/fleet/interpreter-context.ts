import { own, ownObject, ownString, type Json, type JsonObject } from '../json/json.ts';
import type { WriteOperation } from '../json/patch.ts';
import { printable, quoted } from '../text/printable.ts';
import { BadRequest } from '../errors.ts';

const CONTEXT_API_VERSION = 'config.karmada.io/v1alpha1';
const CONTEXT_KIND = 'ResourceInterpreterContext';

/** A request of Karmada's interpreter protocol, checked for as much as is relied on. */
export interface InterpreterRequest {
  readonly uid: string;
  readonly operation: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** undefined where there is none; then the operation cannot be answered. */
  readonly object: JsonObject | undefined;
  /** The object as the member cluster has it; for Retain only. */
  readonly observed: JsonObject | undefined;
  /** Always sent; of meaning for ReviseReplica only. */
  readonly replicas: number;
  readonly aggregatedStatus: Json | undefined;
}

/** Karmada's are 36 characters. */
const MAX_UID = 128;

/** @throws {BadRequest} where there is nobody to answer: no context, or no uid in it */
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

/** What an operation answers, beside that it went well. */
export type Answered = Readonly<Record<string, unknown>>;

/** The operations of a patch as the protocol carries them: none and no type where nothing changes. */
export const patchAnswer = (operations: readonly WriteOperation[]): Answered =>
  operations.length === 0
    ? {}
    : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') };

export const isPatched = (answered: Answered): boolean => 'patch' in answered;

const contextWith = (response: object): string =>
  JSON.stringify({ apiVersion: CONTEXT_API_VERSION, kind: CONTEXT_KIND, response });

export const renderAnswer = (uid: string, answered: Answered): string =>
  contextWith({ uid, successful: true, status: { code: 200 }, ...answered });

/** A refusal: Karmada shows its message in an Event. */
export const renderRefusal = (uid: string, code: number, message: string): string =>
  contextWith({ uid, successful: false, status: { code, message: printable(message, 1024) } });
