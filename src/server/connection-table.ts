import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { checkClientName } from '../tls/options.ts';
import {
  newPeer,
  type ConnectionCounts,
  type ConnectionState,
  type InboundConnection,
  type Peer,
} from './connection.ts';
import { evictedFor } from './eviction.ts';

/** The connections of the webhook port, by remote address and state. */
export class ConnectionTable implements ConnectionCounts {
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

  /** The peer of this address. The caller must call {@link add} next. */
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

/**
 * Each connection is asked to end after 60 ± 20 s. API servers keep connections for as long as they can and pool them by
 * service name, so a replica that joins later would never get its share.
 */
export const RETIRE_AFTER_MS = 60_000;
const JITTER = 1 / 3;

/**
 * The connections of the webhook port, including those in a TLS handshake. None is closed only because it is idle, since a
 * POST on its way would be lost. When all places are taken, one is evicted: see {@link ConnectionTable}.
 */
export class Connections {
  readonly #accepted = new Map<string, InboundConnection>();
  readonly #open = new Map<Socket, InboundConnection>();
  readonly #table = new ConnectionTable();
  readonly #max: number;
  readonly #allowedNames: readonly string[] | undefined;
  readonly #retireAfterMs: number;
  readonly #onEvicted: (connection: InboundConnection) => void;
  #ended = false;
  #waiting: (() => void)[] = [];
  draining = false;

  /**
   * @param options.allowedNames common names of client certificates that may call; undefined: none is required
   * @param options.onEvicted called with each connection that is evicted
   */
  constructor(options: {
    readonly max: number;
    readonly allowedNames?: readonly string[] | undefined;
    readonly retireAfterMs?: number | undefined;
    readonly onEvicted: (connection: InboundConnection) => void;
  }) {
    this.#max = options.max;
    this.#allowedNames = options.allowedNames;
    this.#retireAfterMs = options.retireAfterMs ?? RETIRE_AFTER_MS;
    this.#onEvicted = options.onEvicted;
  }

  /** Connections whose TLS handshake is done. */
  get size(): number {
    return this.#open.size;
  }

  count(state: ConnectionState): number {
    return this.#table.count(state);
  }

  /** Called once for every connection that is accepted. */
  accept(socket: Socket): void {
    const connection: InboundConnection = {
      peer: this.#table.peer(socket.remoteAddress ?? ''),
      state: 'handshake',
      socket,
      refusal: undefined,
      retireAt: Infinity,
      usedAt: performance.now(),
      busy: false,
    };
    const key = keyOf(socket);
    this.#table.add(connection);
    this.#accepted.set(key, connection);
    socket.once('close', () => {
      if (this.#accepted.get(key) !== connection) return;
      this.#accepted.delete(key);
      this.#table.remove(connection);
    });
    const evicted = evictedFor(connection, this.#table, this.#max);
    if (evicted === undefined) return;
    this.#accepted.delete(keyOf(evicted.socket));
    this.#table.remove(evicted);
    this.#onEvicted(evicted);
    evicted.socket.destroy();
  }

  /** Called when the TLS handshake is done: from then on Node uses another object for the same connection. */
  establish(socket: TLSSocket): void {
    const key = keyOf(socket);
    const connection = this.#accepted.get(key);
    this.#accepted.delete(key);
    if (this.#ended || connection === undefined) {
      socket.destroy();
      return;
    }
    connection.socket = socket;
    connection.retireAt = performance.now() + this.#retireAfterMs * (1 + (Math.random() * 2 - 1) * JITTER);
    connection.refusal = this.#allowedNames && checkClientName(socket, this.#allowedNames);
    const verified = this.#allowedNames !== undefined && connection.refusal === undefined;
    this.#table.move(connection, verified ? 'known' : 'stranger');
    this.#open.set(socket, connection);
    connection.peer.read.add(connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      connection.peer.read.delete(connection);
      this.#table.remove(connection);
      if (this.#open.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  of(socket: Socket): InboundConnection | undefined {
    return this.#open.get(socket);
  }

  /** Whether a connection from this address is known. */
  isKnown(address: string): boolean {
    return this.#table.isKnown(address);
  }

  /** Whether all connections come from one address. */
  get ofOnePeer(): boolean {
    return this.#table.peers.size < 2;
  }

  /** Called when a review of the connection was decided. */
  markKnown(connection: InboundConnection): void {
    if (connection.state === 'stranger') this.#table.move(connection, 'known');
  }

  /** Whether the next answer on this connection closes it. */
  shouldClose(connection: InboundConnection): boolean {
    return this.draining || performance.now() >= connection.retireAt;
  }

  /** Resolves as soon as no connection is open. */
  async empty(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Destroys all connections, also those in a TLS handshake: one of them would keep the server open. */
  destroyAll(): void {
    this.#ended = true;
    for (const { socket } of [...this.#open.values(), ...this.#accepted.values()]) socket.destroy();
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress ?? ''} ${remotePort ?? 0}`;
