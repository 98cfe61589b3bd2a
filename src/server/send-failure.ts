import type { IncomingMessage, ServerResponse } from 'node:http';
import { printable } from '../api/printable.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { statusBody, type HttpFailure } from './status.ts';

/** How long a refused sender may go on sending before its connection ends: time to read the answer. */
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
