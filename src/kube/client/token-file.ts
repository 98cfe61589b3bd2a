import { readFile } from 'node:fs/promises';
import { MusterError, messageOf } from '../../errors.ts';
import type { Clock } from './clock.ts';

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
