import type { Server, Socket } from 'node:net';
import { OnePerTick, RoundRobin } from './fair-queue.ts';

/** Milliseconds within which a client has to send its TLS hello. */
export const HELLO_TIMEOUT_MS = 5_000;

/**
 * Begins one TLS handshake per iteration of the event loop. A handshake takes about a millisecond of the one thread, and
 * Node would do all that have arrived before any review, so a client that connects often would delay all others.
 *
 * A handshake is queued when its first bytes arrive. The queue is round robin among addresses, and alternates between
 * addresses with a known connection and all others.
 */
export class HandshakeQueue {
  readonly #known = new RoundRobin<() => void>();
  readonly #others = new RoundRobin<() => void>();
  readonly #ticks = new OnePerTick(() => this.#next());
  #lastKnown = false;

  /** Replaces the server's own listener, which begins each handshake at once. */
  constructor(server: Server, isKnown: (address: string) => boolean) {
    for (const begin of server.listeners('connection')) {
      server.removeListener('connection', begin);
      server.on('connection', (socket: Socket) => {
        this.#whenReadable(socket, () => {
          const { remoteAddress = '' } = socket;
          const lane = isKnown(remoteAddress) ? this.#known : this.#others;
          lane.add(remoteAddress, () => {
            if (!socket.destroyed) begin.call(server, socket);
          });
          this.#ticks.schedule();
        });
      });
    }
  }

  #whenReadable(socket: Socket, readable: () => void): void {
    const timer = setTimeout(() => socket.destroy(), HELLO_TIMEOUT_MS);
    // Needed after the handshake as well: Node then listens on another object.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => clearTimeout(timer));
    // Node passes the bytes that were read so far to the handshake.
    socket.once('readable', () => {
      clearTimeout(timer);
      if (socket.readableLength > 0) readable();
      else socket.destroy();
    });
  }

  #next(): (() => void) | undefined {
    this.#lastKnown = !this.#lastKnown;
    const [first, second] = this.#lastKnown ? [this.#known, this.#others] : [this.#others, this.#known];
    return first.next() ?? second.next();
  }
}
