import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Server as HttpsServer } from 'node:https';
import { decideRequest, endpoints, type Endpoint } from '../admission/endpoints.ts';
import type { Policy } from '../admission/decision.ts';
import { renderResponse } from '../admission/response.ts';
import { BadReview, parseReview, type AdmissionRequest } from '../admission/review.ts';
import { messageOf, MusterError } from '../errors.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { applyPair, tlsServerOptions, type TlsChoices } from '../tls/options.ts';
import type { ServingPair } from '../tls/load.ts';
import { Connections, RETIRE_AFTER_MS } from './connections.ts';
import { deadlineOf } from './deadline.ts';
import { Exchange, sendFailure } from './exchange.ts';
import { Handshakes } from './handshakes.ts';
import { LoadLimits, type Limits } from './load-limits.ts';
import { answerBrokenHttp } from './broken-http.ts';
import { readJson } from './read-body.ts';
import { HttpFailure } from './status.ts';

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

/** The HTTPS server that API servers call. */
export class AdmissionServer {
  readonly connections: Connections;
  readonly #app: FastifyInstance<HttpsServer>;
  readonly #options: AdmissionServerOptions;
  readonly #load: LoadLimits;
  readonly #handshakes: Handshakes;
  readonly #exchanges = new WeakMap<
    FastifyRequest,
    { exchange: Exchange; slot: ReturnType<LoadLimits['enter']> }
  >();

  constructor(options: AdmissionServerOptions) {
    this.#options = options;
    this.connections = new Connections(
      options.tls.clientCa === undefined ? undefined : (options.allowedClientNames ?? ['kube-apiserver']),
      options.times?.retireAfter,
    );
    this.#handshakes = new Handshakes(options.limits.maxConnections, () => this.connections.size);
    this.#load = new LoadLimits(options.limits, (reason) => options.metrics.shed(reason));
    this.#app = this.#build();
    const { metrics } = options;
    metrics.inFlight.set(0);
    metrics.collectFrom(() => {
      metrics.inFlight.set(this.#load.requests);
      metrics.inFlightBytes.set(this.#load.bytes);
      metrics.connections.set(this.connections.size);
    });
  }

  /** @returns the port. @throws MusterError LISTEN_FAILED */
  async listen(): Promise<number> {
    const { host, port } = this.#options;
    try {
      await this.#app.listen({ host, port });
    } catch (thrown) {
      throw new MusterError(
        'LISTEN_FAILED',
        `cannot listen on ${host}:${port}: ${messageOf(thrown)}`,
        'stop what holds the port, or choose another with --port',
        { cause: thrown },
      );
    }
    return (this.#app.server.address() as { port: number }).port;
  }

  /** Serves `pair` to new connections; the open ones stay as they are. */
  swap(pair: ServingPair): void {
    applyPair(this.#app.server, pair, this.#options.tls);
  }

  /**
   * Ends without losing a request: goes on accepting, asks every connection to end with its next answer, and returns
   * when none is open after `minMs` (so that endpoints and probes have noticed), or at the latest after `maxMs`.
   */
  async drain({ minMs, maxMs }: { minMs: number; maxMs: number }): Promise<void> {
    this.connections.draining = true;
    const latest = timer(maxMs);
    await Promise.race([timer(minMs).done, latest.done]);
    await Promise.race([this.connections.empty(), latest.done]);
    latest.cancel();
    await this.close();
  }

  /** Ends at once. */
  async close(): Promise<void> {
    this.connections.destroyAll();
    this.#handshakes.destroyAll();
    await this.#app.close();
  }

  #build(): FastifyInstance<HttpsServer> {
    const { pair, tls, limits, metrics } = this.#options;
    const times = { ...TIMES, ...this.#options.times };
    const app = fastify({
      logger: false,
      exposeHeadRoutes: false,
      return503OnClosing: false,
      forceCloseConnections: false,
      bodyLimit: Number.MAX_SAFE_INTEGER, // counted in read-body.ts, together with what else is in flight
      keepAliveTimeout: times.keepAlive,
      requestTimeout: times.request,
      https: {
        ...tlsServerOptions({ pair, ...tls }),
        headersTimeout: times.headers,
        connectionsCheckingInterval: times.check,
        maxHeaderSize: MAX_HEADER_BYTES,
        insecureHTTPParser: false,
      },
      clientErrorHandler: (error, socket) =>
        answerBrokenHttp(error, socket, {
          keepAliveMs: times.keepAlive,
          onAnswer: (code) => metrics.httpFailure(code),
        }),
      frameworkErrors: (_error, request, reply: FastifyReply) =>
        this.#refuse(request, reply, new HttpFailure(404, 'no such path')),
    });
    // Handshakes keeps to the limit; Node's own counts what is still closing, and would refuse whoever comes next.
    app.server.maxConnections = Math.ceil(limits.maxConnections * 1.25);
    app.server.on('connection', (socket) => this.#handshakes.begin(socket));
    app.server.on('secureConnection', (socket) => {
      this.#handshakes.end(socket);
      this.connections.add(socket);
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('application/json', (request, payload, done) => {
      const slot = this.#exchanges.get(request)?.slot;
      if (slot === undefined) done(new HttpFailure(404, 'no such path'));
      else readJson(payload, slot, done);
    });
    app.setErrorHandler((error, request, reply) => this.#onError(error, request, reply));
    app.setNotFoundHandler((request, reply) =>
      this.#refuse(request, reply, new HttpFailure(404, 'no such path')),
    );
    app.addHook('onRequest', (request, reply, next) => {
      if (this.connections.shouldClose(request.raw.socket)) reply.header('connection', 'close');
      next();
    });
    app.get('/livez', (_request, reply) => reply.type('text/plain').send('ok'));
    for (const endpoint of endpoints) this.#route(app, endpoint);
    return app;
  }

  #route(app: Pick<FastifyInstance<HttpsServer>, 'route'>, endpoint: Endpoint): void {
    const { path } = endpoint;
    app.route({
      method: 'POST',
      url: path,
      onRequest: (request, reply, next) => {
        try {
          this.#open(path, request, reply);
        } catch (failure) {
          this.#refuse(request, reply, failure as HttpFailure);
          return;
        }
        next();
      },
      handler: (request, reply) => this.#handle(endpoint, request, reply),
    });
    app.route({
      method: ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'],
      url: path,
      onRequest: (request, reply) => {
        reply.header('allow', 'POST');
        this.#refuse(
          request,
          reply,
          new HttpFailure(405, `${request.method} is not served here: POST a review`),
        );
      },
      handler: () => undefined,
    });
  }

  /** Checks all that the headers tell, and takes a slot. @throws {HttpFailure} */
  #open(path: string, request: FastifyRequest, reply: FastifyReply): void {
    const { headers } = request;
    const refusal = this.connections.refusalOf(request.raw.socket);
    if (refusal !== undefined) throw new HttpFailure(403, refusal);
    if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
      throw new HttpFailure(415, 'the Content-Type must be application/json');
    }
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
      throw new HttpFailure(415, 'the body must not be compressed');
    }
    const reason = this.#options.notReady?.();
    if (reason !== undefined) throw this.#load.shed('not-ready', reason);
    const slot = this.#load.enter(Number(headers['content-length'] ?? 0));
    const { metrics, log } = this.#options;
    const deadlineMs = deadlineOf(request.url);
    const isLast = (): boolean => this.connections.shouldClose(request.raw.socket);
    const exchange = new Exchange({ path, request, reply, slot, deadlineMs, metrics, log, isLast });
    this.#exchanges.set(request, { exchange, slot });
  }

  #handle(endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply): void {
    const exchange = this.#exchanges.get(request)?.exchange;
    if (exchange === undefined)
      this.#refuse(request, reply, new HttpFailure(500, 'the request was not opened'));
    else if (this.#options.beforeDecision === undefined) this.#decide(endpoint, request.body, exchange);
    else {
      void this.#options.beforeDecision().then(() => this.#decide(endpoint, request.body, exchange));
    }
  }

  /** The path of a review: parsed, decided, rendered. All of it synchronous and in memory. */
  #decide(endpoint: Endpoint, body: unknown, exchange: Exchange): void {
    if (exchange.answered) return;
    let review: AdmissionRequest | undefined;
    try {
      review = parseReview(body);
      const decision = decideRequest(endpoint, review, this.#options.policy);
      exchange.decide(review, decision, renderResponse(review, decision));
    } catch (thrown) {
      if (thrown instanceof BadReview) {
        exchange.fail(new HttpFailure(400, thrown.message), review?.uid);
        return;
      }
      this.#options.log.error({ err: thrown, uid: review?.uid }, 'a decision failed');
      const cause = thrown instanceof MusterError ? thrown.message : 'an unexpected error, see the log';
      exchange.fail(new HttpFailure(500, cause), review?.uid);
    }
  }

  #onError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const status = (error as { statusCode?: number }).statusCode;
    const failure =
      error instanceof HttpFailure
        ? error
        : status !== undefined && status < 500
          ? new HttpFailure(status, messageOf(error))
          : new HttpFailure(500, 'an unexpected error, see the log');
    if (failure.code === 500) this.#options.log.error({ err: error }, 'a request failed');
    const exchange = this.#exchanges.get(request)?.exchange;
    if (exchange === undefined) this.#refuse(request, reply, failure);
    else exchange.fail(failure);
  }

  #refuse(request: FastifyRequest, reply: FastifyReply, failure: HttpFailure): void {
    const { metrics, log } = this.#options;
    sendFailure(request, reply, failure, { metrics, log });
  }
}

function timer(ms: number): { done: Promise<void>; cancel: () => void } {
  let cancel = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    const handle = setTimeout(resolve, ms);
    cancel = () => {
      clearTimeout(handle);
      resolve();
    };
  });
  return { done, cancel };
}
