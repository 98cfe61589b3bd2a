import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf, MusterError } from '../errors.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { applyPair, tlsServerOptions, type TlsChoices } from '../tls/options.ts';
import type { ServingPair } from '../tls/reload.ts';
import { Connections, RETIRE_AFTER_MS } from './connection-table.ts';
import { Exchange, type ExchangeContext } from './exchange.ts';
import type { WebhookEndpoint } from '../api/webhook-endpoint.ts';
import { answerBrokenHttp, HttpFailure, sendFailure, unexpected } from './failure.ts';
import { evictionObserver } from './eviction.ts';
import { HandshakeQueue } from './handshake-queue.ts';
import { AdmissionLimiter, type Limits } from './admission-limiter.ts';
import { ConnectionThrottle, mayBeLarge, BodyThrottle } from './read-throttle.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * Timeouts of the HTTP layer in milliseconds. An API server closes idle connections after 90 s. The server keeps them for
 * longer, since a POST is lost if the server closes while the API server writes.
 */
const TIMES = {
  headers: 10_000,
  request: 15_000,
  check: 1_000,
  keepAlive: 120_000,
  retireAfter: RETIRE_AFTER_MS,
};
const MAX_HEADER_BYTES = 16_384;
/** The most headers of a request; an API server sends six. */
const MAX_HEADERS = 100;

export interface WebhookServerOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly pair: ServingPair;
  readonly tls: TlsChoices;
  /** Common names of client certificates that may call, where `tls.clientCa` asks for one. */
  readonly allowedClientNames?: readonly string[];
  readonly limits: Limits & { readonly maxConnections: number };
  readonly endpoints: readonly WebhookEndpoint[];
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly times?: Partial<typeof TIMES>;
  /** See {@link ExchangeContext}. */
  readonly beforeDecision?: () => Promise<void>;
}

/** The HTTPS server that API servers call, on Node's own server without a framework: docs/adr/0006. */
export class WebhookServer {
  readonly connections: Connections;
  readonly #server: Server;
  readonly #options: WebhookServerOptions;
  readonly #limiter: AdmissionLimiter;
  readonly #context: ExchangeContext;
  readonly #bodyThrottle = new BodyThrottle();
  readonly #connectionThrottle: ConnectionThrottle;
  readonly #routes: ReadonlyMap<string, WebhookEndpoint>;

  constructor(options: WebhookServerOptions) {
    const { tls, limits, metrics, log, times } = options;
    this.#options = options;
    this.connections = new Connections({
      max: limits.maxConnections,
      allowedNames:
        tls.clientCa === undefined ? undefined : (options.allowedClientNames ?? ['kube-apiserver']),
      retireAfterMs: times?.retireAfter,
      onEvicted: evictionObserver(metrics, log),
    });
    this.#connectionThrottle = new ConnectionThrottle(() => this.connections.ofOnePeer);
    this.#limiter = new AdmissionLimiter(limits, (reason) => metrics.shed(reason));
    const { beforeDecision, endpoints } = options;
    this.#context = {
      ...{ metrics, log, beforeDecision },
      limiter: this.#limiter,
      queue: new FairQueue(),
      connections: this.connections,
    };
    this.#routes = new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
    this.#server = this.#createServer();
    metrics.collectFrom(() => {
      metrics.inFlight.set(this.#limiter.requests);
      metrics.inFlightBytes.set(this.#limiter.bytes);
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
   * Ends without losing a request. The server goes on accepting, asks every connection to close with its next answer, and
   * returns when none is open after `minMs` (time for endpoints and probes to notice), or after `maxMs` at the latest.
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
        // Node would answer a request without Host with an empty 400.
        requireHostHeader: false,
      },
      (request, response) => this.#route(request, response),
    );
    // Node would answer an unknown expectation with an empty 417, which is neither logged nor counted.
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
      this.#route(request, response),
    );
    server.maxHeadersCount = MAX_HEADERS;
    // `Connections` keeps the limit. Node's own limit also counts closing connections, and would refuse the next one.
    server.maxConnections = Math.ceil(limits.maxConnections * 1.25);
    new HandshakeQueue(server, (address) => this.connections.isKnown(address));
    server.on('connection', (socket) => this.connections.accept(socket));
    server.on('secureConnection', (socket) => this.connections.establish(socket));
    server.on('clientError', (error: Error & { code?: string }, stream) => {
      const socket = stream as Parameters<typeof answerBrokenHttp>[1];
      // A client can have ended its handshake before the server has: it would take an answer for that to its first call.
      if (this.connections.of(socket) === undefined) socket.destroy();
      else {
        answerBrokenHttp(error, socket, {
          keepAliveMs: times.keepAlive,
          onAnswer: (code) => metrics.httpFailure(code),
        });
      }
    });
    return server;
  }

  #route(request: IncomingMessage, response: ServerResponse): void {
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    const endpoint = this.#routes.get(path);
    const connection = this.connections.of(request.socket);
    // The connection was closed meanwhile.
    if (connection === undefined) return;
    this.#connectionThrottle.requested(connection);
    if (mayBeLarge(request)) {
      this.#bodyThrottle.throttle(request, connection.peer.address, () => response.headersSent);
    }
    try {
      if (endpoint !== undefined && request.method === 'POST') {
        if (connection.refusal !== undefined) throw new HttpFailure(403, connection.refusal);
        new Exchange(endpoint, request, response, connection, this.#context).begin();
      } else if (path === '/livez' && request.method === 'GET') response.end('ok');
      else if (endpoint === undefined) throw new HttpFailure(404, 'no such path');
      else {
        response.setHeader('allow', 'POST');
        throw new HttpFailure(405, `${request.method ?? ''} is not served here: POST a review`);
      }
    } catch (thrown) {
      const failure = thrown instanceof HttpFailure ? thrown : unexpected(thrown, this.#context.log);
      if (this.connections.shouldClose(connection)) response.setHeader('connection', 'close');
      sendFailure(request, response, failure, this.#context);
    }
  }
}

/** A timeout that can be cancelled. */
function startTimer(ms: number): { readonly done: Promise<void>; cancel(): void } {
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
