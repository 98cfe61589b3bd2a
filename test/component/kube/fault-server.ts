import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Connection } from '../../../src/kube/client/connection.ts';
import { issueDevelopmentCertificates } from '../../../src/tls/issue.ts';

/** Once for all servers of a test file: keys take their time. */
let certificates: ReturnType<typeof issueDevelopmentCertificates> | undefined;

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/**
 * An HTTPS server that answers as it is told, request by request: for faults that a real API server cannot be made to
 * show. What nobody has foreseen is answered with 500, so that a test cannot pass by accident.
 */
export class FaultServer {
  /** `GET /path?query` of every request so far. */
  readonly requests: string[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  readonly bodies: string[] = [];
  connections = 0;
  /** Whether streaming lists are answered as told; if not, as by an API server without the feature WatchList. */
  streamsLists = false;
  refusedStreams = 0;
  /** Answers each of its requests, before those that `answer` has queued. */
  standing: (line: string) => Answer | undefined = () => undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #answers: { readonly starts: string; readonly answer: Answer }[] = [];
  readonly #certificate: string;

  private constructor(server: Server, certificate: string) {
    this.#server = server;
    this.#certificate = certificate;
    server.on('secureConnection', (socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const line = `${request.method} ${request.url}`;
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        if (!this.streamsLists && line.includes('&sendInitialEvents=true')) {
          this.refusedStreams += 1;
          withoutWatchList(response, request);
          return;
        }
        this.requests.push(line);
        this.headers.push(request.headers);
        this.bodies.push(body);
        const standing = this.standing(line);
        if (standing !== undefined) {
          standing(response, request);
          return;
        }
        const next = this.#answers.findIndex(({ starts }) => line.startsWith(starts));
        const [found] = next === -1 ? [] : this.#answers.splice(next, 1);
        if (found) found.answer(response, request);
        else status(500, 'nobody has foreseen this')(response, request);
      });
    });
  }

  static async start(): Promise<FaultServer> {
    certificates ??= issueDevelopmentCertificates({
      dnsNames: ['localhost', '127.0.0.1'],
      days: 1,
      now: new Date(),
    });
    const issued = await certificates;
    const server = createServer({ key: issued.key, cert: issued.certificate });
    const faulty = new FaultServer(server, issued.caCertificate);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return faulty;
  }

  /** The next requests whose `METHOD /path…` starts so are answered by these, each by one. */
  answer(starts: string, ...answers: readonly Answer[]): this {
    for (const answer of answers) this.#answers.push({ starts, answer });
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  connection(more: Partial<Connection> = {}): Connection {
    return {
      server: `https://127.0.0.1:${this.port}`,
      tls: { ca: this.#certificate },
      namespace: undefined,
      source: 'a test',
      headers: () => Promise.resolve({ authorization: 'Bearer secret' }),
      refresh: () => false,
      ...more,
    };
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cutAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export const json =
  (body: unknown, code = 200, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** A Kubernetes `Status`. */
export const status = (
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer =>
  json(
    { kind: 'Status', status: 'Failure', message, reason: REASONS[code] ?? 'Failure', code },
    code,
    headers,
  );

const REASONS: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
};

/** As kube-apiserver 1.37 with the feature gate off. */
const withoutWatchList = status(
  422,
  'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
);

/** Ends the connection in the middle of an answer, or before it. */
export const cut: Answer = (response) => {
  response.socket?.destroy();
};

/** Never answers. */
export const silence: Answer = () => undefined;

/** A watch: writes these pieces as they are, then does `then`. */
export const stream =
  (pieces: readonly (string | Buffer)[], then: Answer = (response) => response.end()): Answer =>
  (response, request) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const next = (index: number): void => {
      const piece = pieces[index];
      if (piece === undefined) then(response, request);
      else response.write(piece, () => setImmediate(next, index + 1));
    };
    next(0);
  };

export const event = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

export const thing = (name: string, resourceVersion: number, more: object = {}) => ({
  metadata: { namespace: 'crew', name, uid: `uid-${name}`, resourceVersion: String(resourceVersion) },
  ...more,
});

export const bookmark = (resourceVersion: number): string =>
  event('BOOKMARK', { metadata: { resourceVersion: String(resourceVersion) } });

export const list = (resourceVersion: number, items: readonly unknown[], token?: string): Answer =>
  json({ items, metadata: { resourceVersion: String(resourceVersion), continue: token } });
