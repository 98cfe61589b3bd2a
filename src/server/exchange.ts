import type { FastifyReply, FastifyRequest } from 'fastify';
import { printable } from '../api/printable.ts';
import type { Decision } from '../admission/decision.ts';
import { nameOf } from '../admission/response.ts';
import type { AdmissionRequest } from '../admission/review.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics, Outcome } from '../telemetry/metrics.ts';
import type { Slot } from './load-limits.ts';
import { HttpFailure, statusBody } from './status.ts';

/** How long a refused sender may go on sending before its connection ends: time to read the answer. */
const LINGER_MS = 2000;

/** One review from its headers to its answer. Answered exactly once, by whoever is first: decision, failure, clock. */
export class Exchange {
  readonly #path: string;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #isLast: () => boolean;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #answered = false;

  constructor(parts: {
    path: string;
    request: FastifyRequest;
    reply: FastifyReply;
    slot: Slot;
    deadlineMs: number;
    metrics: Metrics;
    log: Logger;
    /** Whether the connection is to end with the answer. Asked when it is sent: a drain may have begun since. */
    isLast: () => boolean;
  }) {
    const { reply, request, slot, deadlineMs } = parts;
    this.#path = parts.path;
    this.#request = request;
    this.#reply = reply;
    this.#metrics = parts.metrics;
    this.#log = parts.log;
    this.#isLast = parts.isLast;
    this.#timer = setTimeout(() => {
      this.fail(new HttpFailure(504, `no decision within ${deadlineMs} ms of the API server's timeout`));
    }, deadlineMs);
    reply.raw.once('close', () => {
      clearTimeout(this.#timer);
      slot.release();
    });
  }

  /** Whether there is nothing left to answer. */
  get answered(): boolean {
    return this.#answered;
  }

  /** Sends a decision, counts it, logs it. Never logs the object. */
  decide(review: AdmissionRequest, decision: Decision, body: string): void {
    if (this.#answered) return;
    this.#answered = true;
    const allowed = decision.faults.length === 0;
    const outcome: Outcome = !allowed ? 'denied' : decision.changes.length > 0 ? 'patched' : 'allowed';
    const ms = performance.now() - this.#startedAt;
    if (this.#isLast()) this.#reply.header('connection', 'close');
    this.#reply.type('application/json').send(body);
    this.#metrics.answered(this.#path, review.operation, outcome, ms / 1000);
    this.#log.info(
      {
        uid: printable(review.uid),
        operation: review.operation,
        kind: printable(review.kind.kind),
        ...(review.subResource === '' ? {} : { subResource: printable(review.subResource) }),
        namespace: printable(review.namespace),
        name: printable(nameOf(review)),
        user: printable(review.username),
        backend: decision.backend,
        gang: decision.gang === undefined ? undefined : printable(decision.gang, 320),
        allowed,
        ...(allowed ? {} : { rules: decision.faults.map((fault) => fault.rule) }),
        operations: decision.changes.length,
        ...(review.dryRun ? { dryRun: true } : {}),
        ms: Math.round(ms * 1000) / 1000,
      },
      'decided',
    );
  }

  /** Answers that no decision was made. */
  fail(failure: HttpFailure, uid?: string): void {
    if (this.#answered) return;
    this.#answered = true;
    if (this.#isLast()) this.#reply.header('connection', 'close');
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.#metrics.answered(this.#path, 'unknown', 'failed', seconds);
    sendFailure(this.#request, this.#reply, failure, { metrics: this.#metrics, log: this.#log, uid });
  }
}

/**
 * Sends an answer that is no decision. Where the body was not read to its end the connection closes after it, but not
 * before the sender had time to see the answer: closing at once would reset the connection under it.
 */
export function sendFailure(
  request: FastifyRequest,
  reply: FastifyReply,
  failure: HttpFailure,
  parts: { metrics: Metrics; log: Logger; uid?: string | undefined },
): void {
  const { code, message, retryAfter } = failure;
  parts.metrics.httpFailure(code);
  const fields = {
    code,
    reason: message,
    path: printable(request.url),
    uid: parts.uid && printable(parts.uid),
  };
  if (code >= 500 && code !== 503) parts.log.error(fields, 'not decided');
  else parts.log.info(fields, 'not decided');

  const body = statusBody(code, message, parts.uid);
  const { raw } = reply;
  reply.hijack();
  const closing = !request.raw.complete || retryAfter !== undefined || code >= 500;
  raw.writeHead(code, {
    ...reply.getHeaders(),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
    ...(closing ? { connection: 'close' } : {}),
  } as Record<string, string | number>);
  if (request.raw.complete) {
    raw.end(body);
    return;
  }
  raw.write(body);
  const end = (): void => {
    clearTimeout(timer);
    raw.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.raw.once('end', end).once('close', end).resume();
}
