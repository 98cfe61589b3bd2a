import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { endpoints, type Endpoint } from '../admission/endpoints.ts';
import type { Decision, Policy } from '../admission/decision.ts';
import { renderResponse } from '../admission/response.ts';
import { BadReview, parseReview, type AdmissionRequest } from '../admission/review.ts';
import { messageOf, MusterError, TryLater } from '../errors.ts';
import { decisionLog } from '../telemetry/decision-log.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { applyPair, tlsServerOptions, type TlsChoices } from '../tls/options.ts';
import type { ServingPair } from '../tls/load.ts';
import { answerBrokenHttp } from './broken-http.ts';
import { Connections, RETIRE_AFTER_MS } from './connections.ts';
import { deadlineOf } from './deadline.ts';
import { decideAsked, decideTimed } from './decide-timed.ts';
import { Exchange, type ExchangeContext } from './exchange.ts';
import { Handshakes } from './handshakes.ts';
import { LoadLimits, type Limits } from './load-limits.ts';
import { readJson } from './read-body.ts';
import { sendFailure } from './send-failure.ts';
import { HttpFailure } from './status.ts';
import { startTimer } from './timer.ts';

/**
 * Times of the HTTP layer in milliseconds. The API server keeps idle connections for 90 s; who closes first while
 * the other writes loses a POST, so ours outlive that. Slow senders are cut off well before.
 */
const TIMES = {
  headers: 10_000,
  request: 15_000,
  check: 1_000,
  keepAlive: 120_000,
  retireAfter: RETIRE_AFTER_MS,
};
const MAX_HEADER_BYTES = 16_384;

export interface AdmissionServerOptions {
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly pair: ServingPair;
  readonly tls: TlsChoices;
  /** Common names of client certificates that may call, where `tls.clientCa` asks for one. */
  readonly allowedClientNames?: readonly string[];
  readonly limits: Limits & { readonly maxConnections: number };
  readonly policy: Policy;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Why reviews cannot be taken yet; undefined when they can. Answered with 503 and Retry-After. */
  readonly notReady?: () => string | undefined;
  readonly times?: Partial<typeof TIMES>;
  /** Awaited before each decision. For tests of the deadline and the drain. */
  readonly beforeDecision?: () => Promise<void>;
}

const routes = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));

/** The HTTPS server that API servers call. On Node's own server, without a framework: docs/adr/0006. */
export class AdmissionServer {
  readonly connections: Connections;
  readonly #server: Server;
  readonly #options: AdmissionServerOptions;
  readonly #load: LoadLimits;
  readonly #handshakes: Handshakes;
  readonly #context: ExchangeContext;

  constructor(options: AdmissionServerOptions) {
    const { tls, limits, metrics, log, times } = options;
    this.#options = options;
    this.connections = new Connections(
      tls.clientCa === undefined ? undefined : (options.allowedClientNames ?? ['kube-apiserver']),
      times?.retireAfter,
    );
    this.#handshakes = new Handshakes(limits.maxConnections, () => this.connections.size);
    this.#load = new LoadLimits(limits, (reason) => metrics.shed(reason));
    const isLast = (request: IncomingMessage): boolean => this.connections.shouldClose(request.socket);
    this.#context = { metrics, log, logDecision: decisionLog(log), isLast };
    this.#server = this.#createServer();
    metrics.collectFrom(() => {
      metrics.inFlight.set(this.#load.requests);
      metrics.inFlightBytes.set(this.#load.bytes);
      metrics.connections.set(this.connections.size);
    });
  }

  /** @returns the port. @throws MusterError LISTEN_FAILED */
  async listen(): Promise<number> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, host, () => resolve());
    }).catch((thrown: unknown) => {
      throw new MusterError(
        'LISTEN_FAILED',
        `cannot listen on ${host}:${port}: ${messageOf(thrown)}`,
        'stop what holds the port, or choose another with --port',
        { cause: thrown },
      );
    });
    return (this.#server.address() as { port: number }).port;
  }

  /** Serves `pair` to new connections; the open ones stay as they are. */
  swap(pair: ServingPair): void {
    applyPair(this.#server, pair, this.#options.tls);
  }

  /**
   * Ends without losing a request: goes on accepting, asks every connection to end with its next answer, and returns
   * when none is open after `minMs` (so that endpoints and probes have noticed), or at the latest after `maxMs`.
   */
  async drain({ minMs, maxMs }: { minMs: number; maxMs: number }): Promise<void> {
    this.connections.draining = true;
    const latest = startTimer(maxMs);
    await Promise.race([startTimer(minMs).done, latest.done]);
    await Promise.race([this.connections.empty(), latest.done]);
    latest.cancel();
    await this.close();
  }

  /** Ends at once. */
  async close(): Promise<void> {
    this.connections.destroyAll();
    this.#handshakes.destroyAll();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  #createServer(): Server {
    const { pair, tls, limits, metrics } = this.#options;
    const times = { ...TIMES, ...this.#options.times };
    const server = createServer(
      {
        ...tlsServerOptions({ pair, ...tls }),
        headersTimeout: times.headers,
        requestTimeout: times.request,
        keepAliveTimeout: times.keepAlive,
        connectionsCheckingInterval: times.check,
        maxHeaderSize: MAX_HEADER_BYTES,
        insecureHTTPParser: false,
      },
      (request, response) => this.#route(request, response),
    );
    // Handshakes keeps to the limit; Node's own counts what is still closing, and would refuse whoever comes next.
    server.maxConnections = Math.ceil(limits.maxConnections * 1.25);
    server.on('connection', (socket) => this.#handshakes.begin(socket));
    server.on('secureConnection', (socket) => {
      this.#handshakes.end(socket);
      this.connections.add(socket);
    });
    server.on('clientError', (error: Error & { code?: string }, socket) =>
      answerBrokenHttp(error, socket as Parameters<typeof answerBrokenHttp>[1], {
        keepAliveMs: times.keepAlive,
        onAnswer: (code) => metrics.httpFailure(code),
      }),
    );
    return server;
  }

  #route(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    const endpoint = routes.get(path);
    try {
      if (endpoint !== undefined && request.method === 'POST') this.#review(endpoint, request, response);
      else if (path === '/livez' && request.method === 'GET') response.end('ok');
      else if (endpoint === undefined) throw new HttpFailure(404, 'no such path');
      else {
        response.setHeader('allow', 'POST');
        throw new HttpFailure(405, `${request.method ?? ''} is not served here: POST a review`);
      }
    } catch (thrown) {
      const failure = thrown instanceof HttpFailure ? thrown : this.#unexpected(thrown);
      if (this.#context.isLast(request)) response.setHeader('connection', 'close');
      sendFailure(request, response, failure, this.#context);
    }
  }

  /** Checks all that the headers tell, takes a slot, reads the body, decides. @throws {HttpFailure} */
  #review(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse): void {
    this.#checkHeaders(request);
    const slot = this.#load.enter(Number(request.headers['content-length'] ?? 0));
    const deadlineMs = deadlineOf(request.url ?? '');
    const exchange = new Exchange(endpoint.path, request, response, slot, deadlineMs, this.#context);
    const { beforeDecision } = this.#options;
    readJson(
      request,
      slot,
      (body) => {
        if (beforeDecision === undefined) this.#decide(endpoint, body, exchange);
        else void beforeDecision().then(() => this.#decide(endpoint, body, exchange));
      },
      (failure) => exchange.fail(failure),
    );
  }

  #checkHeaders({ headers, socket }: IncomingMessage): void {
    const refusal = this.connections.refusalOf(socket);
    if (refusal !== undefined) throw new HttpFailure(403, refusal);
    const contentType = headers['content-type'] ?? '';
    if (contentType !== 'application/json' && !/^application\/json\s*(?:;|$)/i.test(contentType)) {
      throw new HttpFailure(415, 'the Content-Type must be application/json');
    }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new HttpFailure(415, 'the body must not be compressed');
    }
    const reason = this.#options.notReady?.();
    if (reason !== undefined) throw this.#load.shed('not-ready', reason);
  }

  /** The path of a review: parsed, decided, rendered. All of it synchronous and in memory, but for a rare one. */
  #decide(endpoint: Endpoint, body: unknown, exchange: Exchange): void {
    if (exchange.answered) return;
    const { policy, metrics } = this.#options;
    let review: AdmissionRequest | undefined;
    try {
      review = parseReview(body);
      const request = review;
      const answer = (decision: Decision): void =>
        exchange.decide(request, decision, renderResponse(request, decision));
      const decision = decideTimed(endpoint, request, policy, metrics);
      if (decision.ask === undefined) answer(decision);
      else {
        const fail = (thrown: unknown): void =>
          exchange.fail(this.#failureOf(thrown, request.uid), request.uid);
        decideAsked(decision.ask, endpoint, request, policy, metrics, exchange.remainingMs).then(
          answer,
          fail,
        );
      }
    } catch (thrown) {
      exchange.fail(this.#failureOf(thrown, review?.uid), review?.uid);
    }
  }

  #failureOf(thrown: unknown, uid: string | undefined): HttpFailure {
    if (thrown instanceof BadReview) return new HttpFailure(400, thrown.message);
    if (thrown instanceof TryLater) return this.#load.shed('gang-unread', thrown.message);
    return this.#unexpected(thrown, uid);
  }

  /** What nobody foresaw, or a backend that broke its contract: into the log in full, to the user in one sentence. */
  #unexpected(thrown: unknown, uid?: string): HttpFailure {
    this.#options.log.error({ err: thrown, uid }, 'a decision failed');
    return new HttpFailure(
      500,
      thrown instanceof MusterError ? thrown.message : 'an unexpected error, see the log',
    );
  }
}
