import type { Socket } from 'node:net';

/**
 * How far a connection is known. `handshake`: TLS is not done. `stranger`: TLS is done. `known`: a review of the connection
 * was decided, or its client certificate was verified.
 */
export type ConnectionState = 'handshake' | 'stranger' | 'known';

/** One connection of the webhook port, from the moment it was accepted. */
export interface InboundConnection {
  readonly peer: Peer;
  state: ConnectionState;
  /** Node replaces the object when the TLS handshake is done. */
  socket: Socket;
  /** Why the client may not call, where client certificates are required. */
  refusal: string | undefined;
  /** The first answer after this moment closes the connection, in milliseconds of `performance.now()`. */
  retireAt: number;
  /** When the last request began; before the first request, when the connection was accepted. */
  usedAt: number;
  /** Whether a request of the connection is under way. */
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

/** Counts the connections of the webhook port by state. */
export interface ConnectionCounts {
  readonly size: number;
  readonly peers: ReadonlyMap<string, Peer>;
  count(state: ConnectionState): number;
}
