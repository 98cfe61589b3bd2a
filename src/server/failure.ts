import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { MusterError } from '../errors.ts';
import { printable } from '../text/printable.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** `metav1.Status` reasons for the codes of answers that are no decision. */
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
 * The body of an answer that is no decision. The API server shows its message to the user instead of "for an unknown
 * reason". The message names the replica whose log has the details.
 */
function statusBody(code: number, message: string, uid?: string): string {
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

/** Why a request was not decided, as an HTTP answer. */
export class HttpFailure extends Error {
  readonly code: number;
  /** Seconds after which the API server sends the call again, within its own timeout. */
  readonly retryAfter: number | undefined;

  constructor(code: number, message: string, retryAfter?: number) {
    super(message);
    this.name = 'HttpFailure';
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** Logs a defect of Muster or of a backend in full, and tells the user one sentence. */
export function unexpected(thrown: unknown, log: Logger, uid?: string): HttpFailure {
  log.error({ err: thrown, uid }, 'a decision failed');
  const message = thrown instanceof MusterError ? thrown.message : 'an unexpected error, see the log';
  return new HttpFailure(500, message);
}

/**
 * Milliseconds that a refused sender has after its answer to read it and to close. Node would keep such a connection for
 * ever.
 */
const LINGER_MS = 2000;

/**
 * Sends an answer that is no decision. Where the body was not read to its end the connection closes after it, but not
 * before the sender had time to see the answer: closing at once would reset the connection under it.
 */
export function sendFailure(
  request: IncomingMessage,
  response: ServerResponse,
  failure: HttpFailure,
  { metrics, log }: { metrics: Metrics; log: Logger },
  uid?: string,
): void {
  const { code, message, retryAfter } = failure;
  metrics.httpFailure(code);
  const fields = {
    code,
    reason: message,
    path: printable(request.url ?? ''),
    uid: uid === undefined ? undefined : printable(uid),
  };
  if (code >= 500 && code !== 503) log.error(fields, 'not decided');
  else log.info(fields, 'not decided');

  const body = statusBody(code, message, uid);
  response.statusCode = code;
  response.setHeader('content-type', 'application/json');
  response.setHeader('content-length', Buffer.byteLength(body));
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  if (!request.complete || retryAfter !== undefined || code >= 500) response.setHeader('connection', 'close');
  if (request.complete) {
    response.end(body);
    return;
  }
  response.write(body);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('end', end).once('close', end).resume();
}

/** Answers to errors of Node's HTTP parser, by error code. Every other error is a malformed request. */
const CODES: Readonly<Record<string, { code: number; text: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    code: 431,
    text: 'Request Header Fields Too Large',
    message: 'the request headers are larger than 16 KiB, or more than 100',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 408, text: 'Request Timeout', message: 'the request came in too slowly' },
};

/**
 * Answers bytes that are not HTTP, and closes the connection.
 * @param settings.keepAliveMs how long a connection may stay silent
 * @param settings.onAnswer called with the code of every answer
 */
export function answerBrokenHttp(
  error: Error & { code?: string },
  socket: Socket,
  settings: { keepAliveMs: number; onAnswer: (code: number) => void },
): void {
  // The answer was sent already, and further bytes are discarded: to close now would take the answer from a sender that is
  // still sending.
  if (socket.writableEnded && !socket.destroyed && error.code !== 'ECONNRESET') return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Node counts the time for headers from the handshake on. But an API server that dials while another connection
  // becomes free puts the new one into its pool unused, so it is idle, not slow, until a byte has come.
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0) {
    socket.setTimeout(settings.keepAliveMs);
    return;
  }
  const { code, text, message } = CODES[error.code ?? ''] ?? {
    code: 400,
    text: 'Bad Request',
    message: `the request is not valid HTTP/1.1 (${error.code ?? 'no code'})`,
  };
  settings.onAnswer(code);
  const body = statusBody(code, message);
  socket.end(
    `HTTP/1.1 ${code} ${text}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
