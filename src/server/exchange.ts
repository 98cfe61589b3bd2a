import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Decision } from '../admission/decision.ts';
import { nameOf } from '../admission/response.ts';
import type { AdmissionRequest } from '../admission/review.ts';
import type { DecisionLine } from '../telemetry/decision-log.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics, Outcome } from '../telemetry/metrics.ts';
import type { Slot } from './load-limits.ts';
import { sendFailure } from './send-failure.ts';
import { HttpFailure } from './status.ts';

/** What exchanges have in common. */
export interface ExchangeContext {
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly logDecision: (line: DecisionLine) => void;
  /** Whether a connection is to end with the answer. Asked when it is sent: a drain may have begun since. */
  isLast(request: IncomingMessage): boolean;
}

/** One review from its headers to its answer. Answered exactly once, by whoever is first: decision, failure, clock. */
export class Exchange {
  readonly slot: Slot;
  readonly #path: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #context: ExchangeContext;
  readonly #startedAt = performance.now();
  readonly #deadlineMs: number;
  readonly #timer: NodeJS.Timeout;
  #answered = false;

  constructor(
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
    slot: Slot,
    deadlineMs: number,
    context: ExchangeContext,
  ) {
    this.slot = slot;
    this.#path = path;
    this.#request = request;
    this.#response = response;
    this.#context = context;
    this.#deadlineMs = deadlineMs;
    this.#timer = setTimeout(() => {
      this.fail(new HttpFailure(504, `no decision within ${deadlineMs} ms of the API server's timeout`));
    }, deadlineMs);
    response.on('close', () => {
      clearTimeout(this.#timer);
      slot.release();
    });
  }

  /** Whether there is nothing left to answer. */
  get answered(): boolean {
    return this.#answered;
  }

  /** Milliseconds until the deadline. */
  get remainingMs(): number {
    return this.#deadlineMs - (performance.now() - this.#startedAt);
  }

  /** Sends a decision, counts it, logs it. */
  decide(review: AdmissionRequest, decision: Decision, body: string): void {
    if (this.#answered) return;
    this.#answered = true;
    const { metrics } = this.#context;
    const response = this.#response;
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    response.writeHead(
      200,
      this.#context.isLast(this.#request) ? { ...headers, connection: 'close' } : headers,
    );
    response.end(body);
    const ms = performance.now() - this.#startedAt;
    metrics.answered(this.#path, review.operation, outcomeOf(decision), ms / 1000);
    this.#context.logDecision({
      uid: review.uid,
      operation: review.operation,
      kind: review.kind.kind,
      subResource: review.subResource === '' ? undefined : review.subResource,
      namespace: review.namespace,
      name: nameOf(review),
      user: review.username,
      backend: decision.backend,
      gang: decision.gang,
      allowed: decision.faults.length === 0,
      rules: decision.faults.map((fault) => fault.rule),
      operations: decision.changes.length,
      dryRun: review.dryRun,
      ms,
    });
  }

  /** Answers that no decision was made. */
  fail(failure: HttpFailure, uid?: string): void {
    if (this.#answered) return;
    this.#answered = true;
    if (this.#context.isLast(this.#request)) this.#response.setHeader('connection', 'close');
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.#context.metrics.answered(this.#path, 'unknown', 'failed', seconds);
    sendFailure(this.#request, this.#response, failure, this.#context, uid);
  }
}

function outcomeOf(decision: Decision): Outcome {
  if (decision.faults.length > 0) return 'denied';
  return decision.changes.length > 0 ? 'patched' : 'allowed';
}
