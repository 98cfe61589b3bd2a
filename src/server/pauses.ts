import type { Connection, Peer } from './connection.ts';
import { Rotation } from './rotation.ts';

/** Milliseconds of one turn of the event loop after which whoever asks most is not read any further in it. */
const TURN_MS = 0.25;
/** So many connections are read again in the next turn: about as many as have their reviews done in it. */
const AGAIN = 8;

/**
 * Who asks over many connections is read in parts. In one turn of the event loop Node reads every connection on which
 * something has come, so a handshake, which takes several turns, would wait for all the others' reviews each time.
 *
 * When a turn has lasted for long enough, the connections of a peer that asks more than its share are not read any more:
 * also those that are still to come in this very turn. In the turns that follow they are read again, so many at a time, of
 * each peer in turn. What they have sent waits in the kernel, and nothing of it is lost. Where only one peer is there, it
 * has all there is.
 */
export class Pauses {
  readonly #paused = new Rotation<Connection>();
  readonly #isAlone: () => boolean;
  readonly #now: () => number;
  /** Requests of the turn under way, by peer. */
  readonly #asked = new Map<Peer, number>();
  #total = 0;
  #since: number | undefined;

  constructor(isAlone: () => boolean, now: () => number = () => performance.now()) {
    this.#isAlone = isAlone;
    this.#now = now;
  }

  /** To be called with each request of a connection, before its body is read. */
  asked(connection: Connection): void {
    if (this.#isAlone()) return;
    const { peer } = connection;
    const asked = (this.#asked.get(peer) ?? 0) + 1;
    this.#asked.set(peer, asked);
    this.#total += 1;
    if (this.#since === undefined) this.#begin();
    else if (this.#now() - this.#since >= TURN_MS && asked * this.#asked.size >= this.#total) {
      this.#pause(peer, connection);
    }
  }

  #begin(): void {
    this.#since = this.#now();
    setImmediate(this.#end);
  }

  /** But for the one that asks: Node reads on by itself for the body that it has begun. */
  #pause({ address, read }: Peer, asking: Connection): void {
    for (const connection of read) {
      if (connection === asking) continue;
      read.delete(connection);
      connection.socket.pause();
      this.#paused.add(address, connection);
    }
  }

  readonly #end = (): void => {
    this.#since = undefined;
    this.#asked.clear();
    this.#total = 0;
    for (let again = 0; again < AGAIN; again += 1) {
      const connection = this.#paused.next();
      if (connection === undefined) return;
      // Who has left meanwhile is read by nobody.
      if (connection.socket.destroyed) continue;
      connection.peer.read.add(connection);
      connection.socket.resume();
    }
    if (!this.#paused.isEmpty) this.#begin();
  };
}
