import type { Server, Socket } from 'node:net';
import { OneARound, Rotation } from './rotation.ts';

/** A client says hello at once. Whoever does not has so many milliseconds. */
export const HELLO_TIMEOUT_MS = 5_000;

/**
 * Handshakes of TLS one after the other. Each takes about a millisecond of the one thread; all that have come since the
 * last round of the event loop would be done before any review, so whoever connects often makes everybody wait.
 *
 * A handshake is begun when its first bytes are there, one in a round: of each address in turn, and of those from which
 * reviews have come in turn with all others.
 */
export class Handshakes {
  readonly #known = new Rotation<() => void>();
  readonly #strange = new Rotation<() => void>();
  readonly #rounds = new OneARound(() => this.#next());
  #lastKnown = false;

  /** Takes the place of the server's own way to begin them, which is at once. */
  constructor(server: Server, isKnown: (address: string) => boolean) {
    for (const begin of server.listeners('connection')) {
      server.removeListener('connection', begin);
      server.on('connection', (socket: Socket) => {
        this.#whenHeard(socket, () => {
          const { remoteAddress = '' } = socket;
          const lane = isKnown(remoteAddress) ? this.#known : this.#strange;
          lane.add(remoteAddress, () => {
            if (!socket.destroyed) begin.call(server, socket);
          });
          this.#rounds.schedule();
        });
      });
    }
  }

  #whenHeard(socket: Socket, heard: () => void): void {
    const timer = setTimeout(() => socket.destroy(), HELLO_TIMEOUT_MS);
    // Also for later, when Node listens on an object of its own.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => clearTimeout(timer));
    // Node hands what was read so far to the handshake.
    socket.once('readable', () => {
      clearTimeout(timer);
      if (socket.readableLength > 0) heard();
      else socket.destroy();
    });
  }

  #next(): (() => void) | undefined {
    this.#lastKnown = !this.#lastKnown;
    const [first, second] = this.#lastKnown ? [this.#known, this.#strange] : [this.#strange, this.#known];
    return first.next() ?? second.next();
  }
}
