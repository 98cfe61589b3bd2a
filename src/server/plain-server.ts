import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { messageOf } from '../errors.ts';

export interface PlainAnswer {
  /** 200 where absent. */
  readonly status?: number;
  readonly contentType: string;
  readonly body: string;
}

/** Answers a GET of its path. */
export type PlainRoute = (query: URLSearchParams) => Promise<PlainAnswer>;

/** Milliseconds that a connection may be idle: those who probe and scrape come again within a minute. */
const KEEP_ALIVE_MS = 72_000;

/** Answers GET and HEAD over plain HTTP, on Node's own server: a framework would cost 4 MiB and 90 ms for three paths. */
export class PlainServer {
  readonly #server: Server;
  readonly #routes: ReadonlyMap<string, PlainRoute>;

  /** @param routes by path */
  constructor(routes: Readonly<Record<string, PlainRoute>>) {
    this.#routes = new Map(Object.entries(routes));
    this.#server = createServer(
      { keepAliveTimeout: KEEP_ALIVE_MS },
      (request, response) => void this.#respond(request, response),
    );
  }

  /** @returns the port. @throws where it cannot listen */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(port, host, () => resolve());
    });
    return (this.#server.address() as { port: number }).port;
  }

  /** Ends once the requests under way are answered. */
  async close(): Promise<void> {
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status = 200, contentType, body } = await this.#answer(request);
    if (!this.#server.listening) response.setHeader('connection', 'close');
    response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
    response.end(body);
  }

  async #answer({ method = '', url = '' }: IncomingMessage): Promise<PlainAnswer> {
    const [path = '', ...query] = url.split('?');
    const route = method === 'GET' || method === 'HEAD' ? this.#routes.get(path) : undefined;
    if (route === undefined) return failure(404, `Route ${method}:${url} not found`);
    try {
      return await route(new URLSearchParams(query.join('?')));
    } catch (thrown) {
      return failure(500, messageOf(thrown));
    }
  }
}

const failure = (status: number, message: string): PlainAnswer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify({ message, error: STATUS_CODES[status], statusCode: status }),
});
