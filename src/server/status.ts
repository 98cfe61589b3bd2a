import { hostname } from 'node:os';
import { printable } from '../api/printable.ts';

/** `metav1.Status` reasons of the codes that Muster answers when it cannot decide. */
const REASONS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'Timeout',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  431: 'RequestHeaderFieldsTooLarge',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const REPLICA = hostname();

/**
 * The body of an answer that is no decision: the API server shows its message to the user in place of "for an
 * unknown reason". It names the replica, since the next step is that replica's log.
 */
export function statusBody(code: number, message: string, uid?: string): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: printable(`muster (${REPLICA}): ${message}`, 512),
    reason: REASONS[code] ?? 'InternalError',
    ...(uid === undefined ? {} : { details: { uid: printable(uid) } }),
    code,
  });
}

/** Why a request was not decided upon, as an HTTP answer. */
export class HttpFailure extends Error {
  readonly code: number;
  /** Seconds after which the API server sends the same call again, within its own timeout. */
  readonly retryAfter: number | undefined;

  constructor(code: number, message: string, retryAfter?: number) {
    super(message);
    this.name = 'HttpFailure';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}
