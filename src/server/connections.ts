import type { Socket } from 'node:net';
import { checkClientName } from '../tls/options.ts';
import type { TLSSocket } from 'node:tls';

/** What is known of one connection. */
interface Connection {
  /** From then on its next answer closes it, in milliseconds of `performance.now()`. */
  readonly retireAt: number;
  /** Why its client may not call, where client certificates are asked for. */
  readonly refusal: string | undefined;
}

/**
 * API servers keep their connections for as long as they can and pool them by service name, so a replica that joins
 * later would never get its share: each connection is asked to end after 60 ± 20 s.
 */
export const RETIRE_AFTER_MS = 60_000;
const JITTER = 1 / 3;

/** The open connections of the webhook port. None is ever closed while idle: a POST on its way would be lost. */
export class Connections {
  readonly #open = new Set<Socket>();
  readonly #known = new WeakMap<Socket, Connection>();
  readonly #allowedNames: readonly string[] | undefined;
  readonly #retireAfterMs: number;
  #ended = false;
  #waiting: (() => void)[] = [];
  draining = false;

  /** @param allowedNames common names of client certificates that may call; undefined: none is asked for */
  constructor(allowedNames: readonly string[] | undefined, retireAfterMs = RETIRE_AFTER_MS) {
    this.#allowedNames = allowedNames;
    this.#retireAfterMs = retireAfterMs;
  }

  get size(): number {
    return this.#open.size;
  }

  /** To be called once for every connection whose TLS handshake is done. */
  add(socket: TLSSocket): void {
    if (this.#ended) {
      socket.destroy();
      return;
    }
    const retireAt = performance.now() + this.#retireAfterMs * (1 + (Math.random() * 2 - 1) * JITTER);
    const refusal = this.#allowedNames && checkClientName(socket, this.#allowedNames);
    this.#known.set(socket, { retireAt, refusal });
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  /** Why the client of this connection may not call; undefined where it may. */
  refusalOf(socket: Socket): string | undefined {
    return this.#known.get(socket)?.refusal;
  }

  /** Whether the answer on this connection should be its last. */
  shouldClose(socket: Socket): boolean {
    return this.draining || performance.now() >= (this.#known.get(socket)?.retireAt ?? Infinity);
  }

  /** Resolves as soon as no connection is open. */
  async empty(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all connections, and those that are just coming in as well: one of them would keep the server open. */
  destroyAll(): void {
    this.#ended = true;
    for (const socket of this.#open) socket.destroy();
  }
}
