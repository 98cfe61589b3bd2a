import type { IncomingMessage, ServerResponse } from 'node:http';
import { BadRequest, MusterError, TryLater } from '../errors.ts';
import type { UnreadList } from '../json/unread-lists.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics, Outcome } from '../telemetry/metrics.ts';
import type { InboundConnection } from './connection-table.ts';
import { deadlineOf } from './deadline.ts';
import { HttpFailure, sendFailure } from './failure.ts';
import { freeBody, readBody } from './read-body.ts';
import { LARGE_BYTES, type AdmissionLimiter, type Slot } from './admission-limiter.ts';
import { BodyHead, ENTIRE, parseJson, parseLarge, unreadOf } from './parse-body.ts';
import type { Steps, FairQueue } from './fair-queue.ts';

/** What is sent for a request that was understood. */
export interface Answer {
  readonly body: string;
  /** What was asked for, for the metrics. */
  readonly operation: string;
  readonly outcome: Outcome;
  /** Called once it is sent, `ms` after the headers of the request had come. */
  sent(ms: number): void;
}

/** One path of the server, whatever protocol is spoken there: limits, deadline, drain and TLS are the server's alone. */
export interface Endpoint {
  readonly path: string;
  /** Lists that are left out of its bodies before they are parsed, since it hardly ever looks into them. */
  readonly unread: readonly UnreadList[];
  /** Whether of a body that begins so they are not left out, since it is likely to look: else it would be parsed twice. */
  readonly readsAll?: ((head: BodyHead) => boolean) | undefined;
  /**
   * Answers a body, which is parsed JSON: at once, or with a promise where it has to wait.
   * @throws {BadRequest} 400; {TryLater} 503, which the caller repeats by itself; all else 500
   */
  answer(body: unknown, asked: Asked): Answer | Promise<Answer>;
  /** By which name the caller knows the request, for the log and for what is no answer. */
  idOf(body: unknown): string | undefined;
}

/** What else there is to know of a request while it is answered. */
export interface Asked {
  readonly remainingMs: number;
  /** The body without managedFields only. It is parsed once more for whoever asks first. */
  entire(): unknown;
}

/** What exchanges have in common. */
export interface ExchangeContext {
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly load: AdmissionLimiter;
  readonly turns: FairQueue;
  /** Whether a connection is to end with the answer. Asked when it is sent: a drain may have begun since. */
  isLast(connection: InboundConnection): boolean;
  /** Told of every decision. */
  decided(connection: InboundConnection): void;
  /** Awaited before each answer. For tests of the deadline and the drain. */
  readonly beforeDecision?: (() => Promise<void>) | undefined;
}

/**
 * One request from its headers to its answer. Answered exactly once, by whoever is first: the endpoint, a failure, the
 * clock.
 */
export class Exchange {
  readonly #endpoint: Endpoint;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: InboundConnection;
  readonly #context: ExchangeContext;
  readonly #startedAt = performance.now();
  readonly #deadlineMs: number;
  readonly #announced: number;
  readonly #slot: Slot;
  #bytes: Buffer | undefined;
  #entire: unknown;
  #answered = false;

  /** Checks all that the headers tell, and takes a slot. @throws {HttpFailure} */
  constructor(
    endpoint: Endpoint,
    request: IncomingMessage,
    response: ServerResponse,
    connection: InboundConnection,
    context: ExchangeContext,
  ) {
    checkHeaders(request);
    this.#endpoint = endpoint;
    this.#request = request;
    this.#response = response;
    this.#connection = connection;
    this.#context = context;
    this.#announced = Number(request.headers['content-length'] ?? 0);
    this.#slot = context.load.admit(this.#announced, connection.peer, this.#startedAt, (failure) =>
      this.#fail(failure),
    );
    connection.busy = true;
    connection.usedAt = this.#startedAt;
    const deadlineMs = deadlineOf(request.url ?? '');
    this.#deadlineMs = deadlineMs;
    const timer = setTimeout(() => {
      this.#fail(new HttpFailure(504, `no decision within ${deadlineMs} ms of the API server's timeout`));
    }, deadlineMs);
    response.on('close', () => {
      clearTimeout(timer);
      connection.busy = false;
      this.#slot.release();
    });
  }

  /** Milliseconds until the deadline. */
  get remainingMs(): number {
    return this.#deadlineMs - (performance.now() - this.#startedAt);
  }

  /** Reads the body, and answers it when it is its turn. */
  begin(): void {
    readBody(
      this.#request,
      this.#announced,
      this.#slot,
      (bytes) => this.#wait(bytes),
      (failure) => this.#fail(failure),
    );
  }

  entire(): unknown {
    return (this.#entire ??= this.#bytes && parseJson(this.#bytes));
  }

  #wait(bytes: Buffer): void {
    const { turns } = this.#context;
    const { address } = this.#connection.peer;
    // Small ones take turns among peers; but all API servers may be one peer, so large ones among namespaces.
    if (bytes.length <= LARGE_BYTES) turns.push(address, () => this.#decide(bytes));
    else turns.pushLarge(`${address} ${new BodyHead(bytes).namespace}`, () => this.#decideInSteps(bytes));
  }

  #decide(bytes: Buffer): void {
    // The deadline may have come first.
    if (this.#answered) return;
    const unread = unreadOf(this.#endpoint, bytes);
    let body: unknown;
    try {
      body = parseJson(bytes, unread);
    } catch (failure) {
      this.#fail(failure as HttpFailure);
      return;
    }
    this.#decideOn(body, bytes, unread);
  }

  *#decideInSteps(bytes: Buffer): Steps {
    const unread = unreadOf(this.#endpoint, bytes);
    const parsing = parseLarge(bytes, unread);
    try {
      while (!this.#answered) {
        const { done, value } = parsing.next();
        if (done === true) {
          this.#decideOn(value, bytes, unread);
          return;
        }
        yield;
      }
    } catch (failure) {
      this.#fail(failure as HttpFailure);
    }
  }

  #decideOn(body: unknown, bytes: Buffer, unread: readonly UnreadList[]): void {
    this.#bytes = bytes;
    if (unread === ENTIRE) this.#entire = body;
    const { beforeDecision } = this.#context;
    if (beforeDecision === undefined) this.#answer(body);
    else void beforeDecision().then(() => this.#answer(body));
  }

  #answer(body: unknown): void {
    if (this.#answered) return;
    const failed = (thrown: unknown): void => {
      const id = this.#endpoint.idOf(body);
      this.#fail(this.#failureOf(thrown, id), id);
    };
    try {
      const answer = this.#endpoint.answer(body, this);
      if (answer instanceof Promise) answer.then((late) => this.#send(late), failed);
      else this.#send(answer);
    } catch (thrown) {
      failed(thrown);
    }
  }

  #send(answer: Answer): void {
    if (this.#answered) return;
    this.#answered = true;
    const { body, operation, outcome } = answer;
    const length = Buffer.byteLength(body);
    const headers = { 'content-type': 'application/json', 'content-length': length };
    const last = this.#context.isLast(this.#connection);
    this.#context.decided(this.#connection);
    this.#response.writeHead(200, last ? { ...headers, connection: 'close' } : headers);
    // As many bytes as characters: ASCII, nearly always, which needs no encoding.
    this.#response.end(body, length === body.length ? 'latin1' : 'utf8');
    const ms = performance.now() - this.#startedAt;
    this.#context.metrics.answered(this.#endpoint.path, operation, outcome, ms / 1000);
    answer.sent(ms);
    if (this.#bytes !== undefined) freeBody(this.#bytes);
  }

  #fail(failure: HttpFailure, id?: string): void {
    if (this.#answered) return;
    this.#answered = true;
    if (this.#context.isLast(this.#connection)) this.#response.setHeader('connection', 'close');
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.#context.metrics.answered(this.#endpoint.path, 'unknown', 'failed', seconds);
    sendFailure(this.#request, this.#response, failure, this.#context, id);
  }

  #failureOf(thrown: unknown, id: string | undefined): HttpFailure {
    if (thrown instanceof HttpFailure) return thrown;
    if (thrown instanceof BadRequest) return new HttpFailure(400, thrown.message);
    if (thrown instanceof TryLater) return this.#context.load.shed(thrown.why, thrown.message);
    return unexpected(thrown, this.#context.log, id);
  }
}

/** What nobody foresaw, or a backend that broke its contract: into the log in full, to the user in one sentence. */
export function unexpected(thrown: unknown, log: Logger, id?: string): HttpFailure {
  log.error({ err: thrown, uid: id }, 'a decision failed');
  return new HttpFailure(
    500,
    thrown instanceof MusterError ? thrown.message : 'an unexpected error, see the log',
  );
}

function checkHeaders({ headers }: IncomingMessage): void {
  const contentType = headers['content-type'] ?? '';
  if (contentType !== 'application/json' && !/^application\/json\s*(?:;|$)/i.test(contentType)) {
    throw new HttpFailure(415, 'the Content-Type must be application/json');
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new HttpFailure(415, 'the body must not be compressed');
  }
}
