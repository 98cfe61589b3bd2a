import type { Socket } from 'node:net';

/**
 * What a connection has shown so far. `handshake`: TLS is not done. `stranger`: TLS alone. `known`: a review of it was
 * decided, or its client certificate was verified.
 */
export type ConnectionState = 'handshake' | 'stranger' | 'known';

/** One connection of the webhook port, from the moment it was accepted. */
export interface InboundConnection {
  readonly peer: Peer;
  state: ConnectionState;
  /** Node replaces the object when the TLS handshake is done. */
  socket: Socket;
  /** Why its client may not call, where client certificates are required. */
  refusal: string | undefined;
  /** Its first answer after this moment closes it, in milliseconds of `performance.now()`. */
  retireAt: number;
  /** When its last request began; before the first, when it was accepted. */
  usedAt: number;
  /** Whether a request of it is under way. */
  busy: boolean;
}

/** All connections of one remote address. */
export interface Peer {
  readonly address: string;
  /** Each set is in the order of acceptance. */
  readonly holds: Readonly<Record<ConnectionState, Set<InboundConnection>>>;
  /** Connections that are read: TLS is done, and the read throttle has not paused them. */
  readonly read: Set<InboundConnection>;
  /** Requests in flight, and the bytes of their bodies. */
  requests: number;
  bytes: number;
}

/** A peer without connections. */
export const newPeer = (address: string): Peer => ({
  address,
  holds: { handshake: new Set(), stranger: new Set(), known: new Set() },
  read: new Set(),
  requests: 0,
  bytes: 0,
});

/** The connections of the webhook port, by remote address and state. */
export class ConnectionTable {
  readonly #peers = new Map<string, Peer>();
  readonly #counts: Record<ConnectionState, number> = { handshake: 0, stranger: 0, known: 0 };

  count(state: ConnectionState): number {
    return this.#counts[state];
  }

  get size(): number {
    return this.#counts.handshake + this.#counts.stranger + this.#counts.known;
  }

  get peers(): ReadonlyMap<string, Peer> {
    return this.#peers;
  }

  /** Whether a connection from this address is known. */
  isKnown(address: string): boolean {
    return (this.#peers.get(address)?.holds.known.size ?? 0) > 0;
  }

  /** The peer of this address; {@link add} has to follow. */
  peer(address: string): Peer {
    const found = this.#peers.get(address);
    if (found !== undefined) return found;
    const peer = newPeer(address);
    this.#peers.set(address, peer);
    return peer;
  }

  add(connection: InboundConnection): void {
    connection.peer.holds[connection.state].add(connection);
    this.#counts[connection.state] += 1;
  }

  move(connection: InboundConnection, to: ConnectionState): void {
    if (connection.state === to || !this.#drop(connection)) return;
    connection.state = to;
    this.add(connection);
  }

  remove(connection: InboundConnection): void {
    const { peer } = connection;
    if (!this.#drop(connection)) return;
    if (Object.values(peer.holds).every(({ size }) => size === 0)) this.#peers.delete(peer.address);
  }

  #drop(connection: InboundConnection): boolean {
    if (!connection.peer.holds[connection.state].delete(connection)) return false;
    this.#counts[connection.state] -= 1;
    return true;
  }
}
