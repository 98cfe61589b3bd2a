import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { MusterError, messageOf } from '../../errors.ts';
import type { Clock } from './clock.ts';
/** TLS settings of a connection; PEM texts. */
export interface ConnectionTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** The address of the API server and the client's credentials. */
export interface Connection {
  /** `https://host:port`, with a path when the server is below one. */
  readonly server: string;
  readonly tls: ConnectionTls;
  /** Namespace of the kubeconfig's context, or of Muster's own Pod. */
  readonly namespace: string | undefined;
  /** Where the settings were found, for messages. */
  readonly source: string;
  /** Headers of one request. Called for every request, since tokens rotate. */
  headers(): Promise<Readonly<Record<string, string | string[]>>>;
  /** Drops cached credentials after a 401. @returns whether a second attempt makes sense */
  refresh(): boolean;
}

/**
 * TLS settings with one context for all connections: otherwise each of several hundred parses the certificates and keeps
 * them. Without it where they are unusable, which the first connection then reports.
 */
export function sharedTls({
  server,
  tls,
}: Pick<Connection, 'server' | 'tls'>): ConnectionTls & { readonly secureContext?: SecureContext } {
  if (!server.startsWith('https:')) return tls;
  try {
    return { ...tls, secureContext: createSecureContext(tls) };
  } catch {
    return tls;
  }
}

/**
 * How long (ms) a token is used before it is read again. The kubelet renews a projected token after 80 % of its
 * lifetime, which is at least an hour; a minute's delay is short enough, and a 401 makes the token be read at once.
 */
const FRESH_FOR = 60_000;

/** A bearer token in a file that is rotated by others. */
export class TokenFile {
  readonly #path: string;
  readonly #clock: Clock;
  #token = '';
  #readAt = -Infinity;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** @throws {MusterError} when the file was never readable; a token that was read once is kept when a later read fails */
  async current(): Promise<string> {
    if (this.#clock.now() - this.#readAt < FRESH_FOR) return this.#token;
    try {
      const token = (await readFile(this.#path, 'utf8')).trim();
      if (token === '') throw new Error('it is empty');
      this.#token = token;
    } catch (cause) {
      if (this.#token === '')
        throw new MusterError(
          'CLUSTER_UNREACHABLE',
          `no token in ${this.#path}: ${messageOf(cause)}`,
          'Mount a service account token there, or give a kubeconfig.',
          { cause },
        );
    }
    this.#readAt = this.#clock.now();
    return this.#token;
  }

  /** Makes the next request read the file again, after a 401. */
  forget(): void {
    this.#readAt = -Infinity;
  }
}
