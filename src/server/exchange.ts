import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ALL_READ,
  type WebhookEndpoint,
  type WebhookRequest,
  type WebhookResponse,
} from '../api/webhook-endpoint.ts';
import { BadRequest, TryLater } from '../errors.ts';
import { own, ownString } from '../json/json.ts';
import type { FoundSpec } from '../json/known-specs.ts';
import type { UnreadList } from '../json/unread-lists.ts';
import { parseGoDuration } from '../k8s/time.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { LARGE_BYTES, type AdmissionLimiter, type Slot } from './admission-limiter.ts';
import type { InboundConnection } from './connection.ts';
import type { Connections } from './connection-table.ts';
import { HttpFailure, sendFailure, unexpected } from './failure.ts';
import type { FairQueue, Steps } from './fair-queue.ts';
import { FirstBytes, parseJson, parseLarge, unreadOf, freeBody, readBody } from './request-body.ts';

/** What all exchanges of a server share. */
export interface ExchangeContext {
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly limiter: AdmissionLimiter;
  readonly queue: FairQueue;
  readonly connections: Connections;
  /** Awaited before each decision, by tests of the deadline and the drain. */
  readonly beforeDecision?: (() => Promise<void>) | undefined;
}

/** One request, from its headers to its answer. It is answered once: by the endpoint, by a failure or at the deadline. */
export class Exchange implements WebhookRequest {
  body: unknown;
  bytes: Buffer | undefined;
  found: FoundSpec | undefined;
  readonly #endpoint: WebhookEndpoint;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #connection: InboundConnection;
  readonly #context: ExchangeContext;
  readonly #startedAt = performance.now();
  readonly #deadlineMs: number;
  readonly #announced: number;
  readonly #slot: Slot;
  #entire: unknown;
  #answered = false;

  /** Checks the headers and takes a slot. @throws {HttpFailure} */
  constructor(
    endpoint: WebhookEndpoint,
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
    this.#slot = context.limiter.admit(this.#announced, connection.peer, this.#startedAt, (failure) =>
      this.#fail(failure),
    );
    connection.busy = true;
    connection.usedAt = this.#startedAt;
    const deadlineMs = (this.#deadlineMs = deadlineOf(request.url ?? ''));
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

  /** Reads the body, and queues the decision. */
  begin(): void {
    readBody(
      this.#request,
      this.#announced,
      this.#slot,
      (bytes) => this.#enqueue(bytes),
      (failure) => this.#fail(failure),
    );
  }

  entire(): unknown {
    return (this.#entire ??= this.bytes && parseJson(this.bytes));
  }

  #enqueue(bytes: Buffer): void {
    const { queue } = this.#context;
    const { address } = this.#connection.peer;
    // Small reviews are queued by peer. All API servers may be one peer, so large reviews are queued by namespace as well.
    if (bytes.length <= LARGE_BYTES) queue.push(address, () => this.#decide(bytes));
    else queue.pushLarge(`${address} ${new FirstBytes(bytes).namespace}`, () => this.#decideInSteps(bytes));
  }

  #decide(bytes: Buffer): void {
    if (this.#answered) return; // The deadline has passed.
    const unread = unreadOf(this.#endpoint, bytes);
    let body: unknown;
    try {
      const { specs, texts } = this.#endpoint;
      if (unread === specs?.among) this.found = specs.find(bytes);
      body = parseJson(bytes, unread, this.found, texts);
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
    this.bytes = bytes;
    if (unread === ALL_READ && this.found?.fits !== true) this.#entire = body;
    this.body = body;
    const { beforeDecision } = this.#context;
    if (beforeDecision === undefined) this.#handle();
    else void beforeDecision().then(() => this.#handle());
  }

  #handle(): void {
    if (this.#answered) return;
    const failed = (thrown: unknown): void => {
      const uid = uidOf(this.body);
      this.#fail(this.#failureOf(thrown, uid), uid);
    };
    try {
      const response = this.#endpoint.handle(this);
      if (response instanceof Promise) response.then((late) => this.#send(late), failed);
      else this.#send(response);
    } catch (thrown) {
      failed(thrown);
    }
  }

  #send(response: WebhookResponse): void {
    if (this.#answered) return;
    this.#answered = true;
    const { metrics, connections } = this.#context;
    const { body, operation, outcome } = response;
    const length = Buffer.byteLength(body);
    const headers = { 'content-type': 'application/json', 'content-length': length };
    // Asked at the last moment, since a drain may have begun since the request came.
    const last = connections.shouldClose(this.#connection);
    connections.markKnown(this.#connection);
    this.#response.writeHead(200, last ? { ...headers, connection: 'close' } : headers);
    // The body is nearly always ASCII, with as many bytes as characters, and then needs no encoding.
    this.#response.end(body, length === body.length ? 'latin1' : 'utf8');
    const ms = performance.now() - this.#startedAt;
    metrics.answered(this.#endpoint.path, operation, outcome, ms / 1000);
    response.sent(ms);
    if (this.bytes !== undefined) freeBody(this.bytes);
  }

  #fail(failure: HttpFailure, uid?: string): void {
    if (this.#answered) return;
    this.#answered = true;
    if (this.#context.connections.shouldClose(this.#connection))
      this.#response.setHeader('connection', 'close');
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.#context.metrics.answered(this.#endpoint.path, 'unknown', 'failed', seconds);
    sendFailure(this.#request, this.#response, failure, this.#context, uid);
  }

  #failureOf(thrown: unknown, uid: string | undefined): HttpFailure {
    if (thrown instanceof HttpFailure) return thrown;
    if (thrown instanceof BadRequest) return new HttpFailure(400, thrown.message);
    if (thrown instanceof TryLater) return this.#context.limiter.shed(thrown.why, thrown.message);
    return unexpected(thrown, this.#context.log, uid);
  }
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

/** The uid of a request, which AdmissionReview and ResourceInterpreterContext have in the same place. */
const uidOf = (body: unknown): string | undefined => ownString(own(body, 'request'), 'uid');

/** Milliseconds subtracted from the API server's timeout, so that the answer arrives in time. */
const RESERVE_MS = 250;
/** The API server's default timeout where it sends none; {@link MAX_MS} is its longest. Milliseconds. */
const DEFAULT_MS = 10_000;
const MAX_MS = 30_000;

/**
 * Milliseconds until a request must be answered, from `?timeout=<Go duration>` of its URL. An invalid timeout counts as the
 * default, since a wrong query must not cost a Pod.
 */
export function deadlineOf(url: string): number {
  // An API server sends the same timeout every time, so the last result is kept.
  if (url !== lastUrl) {
    lastUrl = url;
    lastDeadline = readDeadline(url);
  }
  return lastDeadline;
}

let lastUrl = '';
let lastDeadline = DEFAULT_MS - RESERVE_MS;

function readDeadline(url: string): number {
  const text = /[?&]timeout=([^&]{1,32})/.exec(url)?.[1];
  const budget = (text === undefined ? undefined : positive(text)) ?? DEFAULT_MS;
  return Math.min(Math.max(budget - RESERVE_MS, 50), MAX_MS);
}

/** Milliseconds of a Go duration; undefined where the text is no positive duration. */
function positive(text: string): number | undefined {
  const milliseconds = parseGoDuration(text);
  return milliseconds !== undefined && milliseconds > 0 ? milliseconds : undefined;
}
