import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { checkClientName } from '../tls/options.ts';
import type { Connection, Standing } from './connection.ts';
import { Places } from './places.ts';

/**
 * API servers keep their connections for as long as they can and pool them by service name, so a replica that joins
 * later would never get its share: each connection is asked to end after 60 ± 20 s.
 */
export const RETIRE_AFTER_MS = 60_000;
const JITTER = 1 / 3;

/**
 * The connections of the webhook port, handshakes under way included. None of them is closed only because it is idle: a
 * POST on its way would be lost. It gives way where all places are taken: see {@link Places}.
 */
export class Connections {
  readonly #accepted = new Map<string, Connection>();
  readonly #open = new Map<Socket, Connection>();
  readonly #places: Places;
  readonly #allowedNames: readonly string[] | undefined;
  readonly #retireAfterMs: number;
  readonly #gaveWay: (connection: Connection) => void;
  #ended = false;
  #waiting: (() => void)[] = [];
  draining = false;

  /**
   * @param options.allowedNames common names of client certificates that may call; undefined: none is asked for
   * @param options.gaveWay told of each connection that was closed to make room
   */
  constructor(options: {
    readonly max: number;
    readonly allowedNames?: readonly string[] | undefined;
    readonly retireAfterMs?: number | undefined;
    readonly gaveWay: (connection: Connection) => void;
  }) {
    this.#places = new Places(options.max);
    this.#allowedNames = options.allowedNames;
    this.#retireAfterMs = options.retireAfterMs ?? RETIRE_AFTER_MS;
    this.#gaveWay = options.gaveWay;
  }

  /** Those whose TLS handshake is done. */
  get size(): number {
    return this.#open.size;
  }

  taken(standing: Standing): number {
    return this.#places.taken(standing);
  }

  /** To be called once for every connection that is accepted. */
  accept(socket: Socket): void {
    const connection: Connection = {
      peer: this.#places.peer(socket.remoteAddress ?? ''),
      standing: 'handshake',
      socket,
      refusal: undefined,
      retireAt: Infinity,
      usedAt: performance.now(),
      busy: false,
    };
    const key = keyOf(socket);
    this.#places.take(connection);
    this.#accepted.set(key, connection);
    socket.once('close', () => {
      if (this.#accepted.get(key) !== connection) return;
      this.#accepted.delete(key);
      this.#places.leave(connection);
    });
    const evicted = this.#places.givesWayTo(connection);
    if (evicted === undefined) return;
    this.#accepted.delete(keyOf(evicted.socket));
    this.#places.leave(evicted);
    this.#gaveWay(evicted);
    evicted.socket.destroy();
  }

  /** To be called when its TLS handshake is done: Node gives another object for the same connection then. */
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
    this.#places.move(connection, verified ? 'known' : 'stranger');
    this.#open.set(socket, connection);
    connection.peer.read.add(connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      connection.peer.read.delete(connection);
      this.#places.leave(connection);
      if (this.#open.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
    });
  }

  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket);
  }

  /** Whether a connection from there has shown who it is. */
  isKnown(address: string): boolean {
    return this.#places.isKnown(address);
  }

  /** Whether all there are come from one address. */
  get ofOnePeer(): boolean {
    return this.#places.peers < 2;
  }

  /** To be called when a review of it was decided upon. */
  decided(connection: Connection): void {
    if (connection.standing === 'stranger') this.#places.move(connection, 'known');
  }

  /** Whether the answer on this connection should be its last. */
  shouldClose(connection: Connection): boolean {
    return this.draining || performance.now() >= connection.retireAt;
  }

  /** Resolves as soon as no connection is open. */
  async empty(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all connections, and those that are just coming in as well: one of them would keep the server open. */
  destroyAll(): void {
    this.#ended = true;
    for (const { socket } of [...this.#open.values(), ...this.#accepted.values()]) socket.destroy();
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress ?? ''} ${remotePort ?? 0}`;
