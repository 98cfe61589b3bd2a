import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/**
 * The TLS handshakes under way. Whoever opens connections and says nothing would otherwise hold every place for the
 * whole handshake timeout. So once all places are taken, the oldest unfinished handshake gives way to a new
 * connection: a real client is done within some milliseconds. Where no handshake is open, the new one has to go.
 */
export class Handshakes {
  readonly #open = new Map<string, Socket>();
  readonly #maxConnections: number;
  readonly #established: () => number;

  constructor(maxConnections: number, established: () => number) {
    this.#maxConnections = maxConnections;
    this.#established = established;
  }

  /** To be called for every accepted connection. */
  begin(socket: Socket): void {
    const key = keyOf(socket);
    this.#open.set(key, socket);
    socket.once('close', () => {
      if (this.#open.get(key) === socket) this.#open.delete(key);
    });
    if (this.#open.size + this.#established() <= this.#maxConnections) return;
    const [oldest] = this.#open;
    if (oldest === undefined) return;
    this.#open.delete(oldest[0]);
    oldest[1].destroy();
  }

  destroyAll(): void {
    for (const socket of this.#open.values()) socket.destroy();
  }

  /** To be called when the handshake is done; Node gives another object for the same connection then. */
  end(socket: TLSSocket): void {
    this.#open.delete(keyOf(socket));
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress ?? ''} ${remotePort ?? 0}`;
