import { readFile } from 'node:fs/promises';
import { MusterError, messageOf } from '../../errors.ts';
import type { Clock } from './clock.ts';
/** What a TLS socket needs to know; PEM texts. */
export interface ConnectionTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** Where the API server is and how we prove who we are. */
export interface Connection {
  /** `https://host:port`, with a path where the server lies below one. */
  readonly server: string;
  readonly tls: ConnectionTls;
  /** Namespace of the kubeconfig's context, or of our own Pod. */
  readonly namespace: string | undefined;
  /** Where all this was found, for messages. */
  readonly source: string;
  /** Headers for one request. Asked every time, since tokens rotate. */
  headers(): Promise<Readonly<Record<string, string | string[]>>>;
  /** The server answered 401: what is cached must not be used again. @returns whether a second try makes sense */
  refresh(): boolean;
}

/**
 * How long a token that was read is used (ms). The kubelet renews a projected token when 80 % of its life are gone, an
 * hour at least; a minute behind is early enough, and a 401 makes us look at once.
 */
const FRESH_FOR = 60_000;

/** A bearer token in a file that somebody else rotates. */
export class TokenFile {
  readonly #path: string;
  readonly #clock: Clock;
  #token = '';
  #readAt = -Infinity;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** @throws {MusterError} where the file was never readable; a token once read outlives a failed reading */
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

  /** After a 401: the next request reads the file again. */
  forget(): void {
    this.#readAt = -Infinity;
  }
}
