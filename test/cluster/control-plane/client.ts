import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { readKubeconfig } from './kubeconfig.ts';

/** The parts of an answer that tests look at; a call gives a narrower type where it knows one. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
  /** Of a `Status`, the answer to a request that failed. */
  readonly message?: string;
  readonly reason?: string;
}

export interface KubeList<T = KubeObject> {
  readonly items: readonly T[];
}

export interface RequestOptions {
  /** Default: `application/json`; of a PATCH, JSON patch for an array and merge patch for an object. */
  readonly contentType?: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Impersonation; the client's own user must be allowed to. */
  readonly as?: string;
  readonly asGroups?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface KubeResponse<T> {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Texts of the `Warning` headers, which kubectl prints as `Warning: ...`. */
  readonly warnings: readonly string[];
  /** The parsed JSON, or the bare text where the answer is not JSON. */
  readonly body: T;
}

export interface Client {
  /** Answers with whatever status came. Rejects only when there was no answer. */
  request<T = KubeObject>(
    method: string,
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ): Promise<KubeResponse<T>>;
  /** Like `request`, gives the body, and rejects with {@link RequestRefused} when the status is 400 or more. */
  ok<T = KubeObject>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T>;
  close(): void;
}

/** The server answered with an error; `status` and `body` are its answer. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly status: number;
  readonly body: unknown;

  constructor(what: string, status: number, body: unknown) {
    const message = (body as { message?: string } | undefined)?.message ?? JSON.stringify(body);
    super(`${what}: ${status} ${message}`);
    this.status = status;
    this.body = body;
  }
}

/** Milliseconds without a byte from the server before a request is given up. */
const SILENCE = 60_000;

/**
 * A client over a kubeconfig that `writeKubeconfig` wrote, on pooled keep-alive connections.
 * @param sockets connections at most; further requests wait for one
 */
export async function createClient(kubeconfig: string, sockets = 32): Promise<Client> {
  const { url, ca, identity } = await readKubeconfig(kubeconfig);
  const agent = new Agent({
    keepAlive: true,
    maxSockets: sockets,
    ca,
    ...('token' in identity ? {} : { cert: identity.certificate, key: identity.key }),
  });
  const authorization = 'token' in identity ? { authorization: `Bearer ${identity.token}` } : {};

  const request = async <T>(
    method: string,
    path: string,
    body?: unknown,
    options: RequestOptions = {},
  ): Promise<KubeResponse<T>> => {
    const target = new URL(path, url);
    for (const [name, value] of Object.entries(options.query ?? {})) {
      target.searchParams.append(name, String(value));
    }
    const payload =
      body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpsRequest(target, {
        method,
        agent,
        timeout: SILENCE,
        headers: {
          accept: 'application/json',
          ...authorization,
          ...(options.as === undefined ? {} : { 'impersonate-user': options.as }),
          ...(options.asGroups === undefined ? {} : { 'impersonate-group': [...options.asGroups] }),
          ...(payload === undefined
            ? {}
            : {
                'content-type': options.contentType ?? defaultContentType(method, body),
                'content-length': payload.length,
              }),
        },
        ...(options.signal ? { signal: options.signal } : {}),
      });
      outgoing.once('response', resolve);
      outgoing.once('timeout', () => {
        outgoing.destroy(new Error(`${method} ${path}: no answer within ${SILENCE / 1000} s`));
      });
      outgoing.once('error', reject);
      outgoing.end(payload);
    });
    const text = await readAll(response);
    const isJson = response.headers['content-type']?.startsWith('application/json') === true;
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      warnings: warningTexts(response),
      body: (isJson ? JSON.parse(text) : text) as T,
    };
  };

  return {
    request,
    ok: async <T>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T> => {
      const response = await request<T>(method, path, body, options);
      if (response.status >= 400)
        throw new RequestRefused(`${method} ${path}`, response.status, response.body);
      return response.body;
    },
    close: () => {
      agent.destroy();
    },
  };
}

function defaultContentType(method: string, body: unknown): string {
  if (method !== 'PATCH') return 'application/json';
  return Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json';
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** `299 - "text"`: each Warning header is one text, quotes and backslashes inside it escaped by a backslash. */
function warningTexts(response: IncomingMessage): string[] {
  const headers = response.headersDistinct['warning'] ?? [];
  return headers.flatMap((header) =>
    [...header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
      text.replace(/\\(.)/g, '$1'),
    ),
  );
}
