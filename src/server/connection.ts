import type { Socket } from 'node:net';

/**
 * What a connection has shown so far. `handshake`: TLS is not done. `stranger`: nothing but that it can do TLS.
 * `known`: a review of its was decided upon, or its client certificate was verified.
 */
export type Standing = 'handshake' | 'stranger' | 'known';

/** Everything that one address holds, each list oldest first. */
export interface Peer {
  readonly address: string;
  readonly holds: Readonly<Record<Standing, Set<Connection>>>;
  /** Those whose handshake is done, and which are not paused: see Pauses. */
  readonly read: Set<Connection>;
  /** Its requests in flight, and the bytes of their bodies. */
  requests: number;
  bytes: number;
}

/** A peer that holds nothing yet. */
export const newPeer = (address: string): Peer => ({
  address,
  holds: { handshake: new Set(), stranger: new Set(), known: new Set() },
  read: new Set(),
  requests: 0,
  bytes: 0,
});

/** One connection of the webhook port, from the moment that it was accepted. */
export interface Connection {
  readonly peer: Peer;
  standing: Standing;
  /** Another object after the TLS handshake than before it. */
  socket: Socket;
  /** Why its client may not call, where client certificates are asked for. */
  refusal: string | undefined;
  /** From then on its next answer closes it, in milliseconds of `performance.now()`. */
  retireAt: number;
  /** When it last began a request; before the first, when it was accepted. */
  usedAt: number;
  /** Whether a request of it is under way. */
  busy: boolean;
}
