import type { InboundConnection, Peer } from './connection.ts';
import { RoundRobin, OnePerTick } from './fair-queue.ts';
import type { IncomingMessage } from 'node:http';
import { LARGE_BYTES } from './admission-limiter.ts';

/** Milliseconds of one iteration of the event loop after which the busiest peer is paused. */
const ITERATION_MS = 0.25;
/** Paused connections that are resumed per iteration: about as many as have their reviews decided in it. */
const RESUMED_PER_ITERATION = 8;

/**
 * Pauses reads from peers that use many connections. In one iteration of the event loop Node reads every connection on which
 * data has come, so a handshake, which takes several iterations, would wait each time for the reviews of all peers.
 *
 * 1. Once an iteration has lasted for {@link ITERATION_MS}, the connections of a peer that sends more than its share of
 *    requests are paused, also those that Node has not reached in this iteration.
 * 2. In the following iterations they are resumed, {@link RESUMED_PER_ITERATION} at a time, round robin among peers.
 *
 * Data that a paused connection sends waits in the kernel. A peer that is alone is never paused.
 */
export class ConnectionThrottle {
  readonly #paused = new RoundRobin<InboundConnection>();
  readonly #isAlone: () => boolean;
  readonly #now: () => number;
  /** Requests of the iteration under way, by peer. */
  readonly #requests = new Map<Peer, number>();
  #total = 0;
  #since: number | undefined;

  constructor(isAlone: () => boolean, now: () => number = () => performance.now()) {
    this.#isAlone = isAlone;
    this.#now = now;
  }

  /** Called with each request of a connection, before its body is read. */
  requested(connection: InboundConnection): void {
    if (this.#isAlone()) return;
    const { peer } = connection;
    const requests = (this.#requests.get(peer) ?? 0) + 1;
    this.#requests.set(peer, requests);
    this.#total += 1;
    if (this.#since === undefined) this.#begin();
    else if (this.#now() - this.#since >= ITERATION_MS && requests * this.#requests.size >= this.#total) {
      this.#pause(peer, connection);
    }
  }

  #begin(): void {
    this.#since = this.#now();
    setImmediate(this.#end);
  }

  /** Pauses all connections of the peer but the one that sends: Node reads on in the body that it has begun. */
  #pause({ address, read }: Peer, sending: InboundConnection): void {
    for (const connection of read) {
      if (connection === sending) continue;
      read.delete(connection);
      connection.socket.pause();
      this.#paused.add(address, connection);
    }
  }

  readonly #end = (): void => {
    this.#since = undefined;
    this.#requests.clear();
    this.#total = 0;
    for (let resumed = 0; resumed < RESUMED_PER_ITERATION; resumed += 1) {
      const connection = this.#paused.next();
      if (connection === undefined) return;
      if (connection.socket.destroyed) continue;
      connection.peer.read.add(connection);
      connection.socket.resume();
    }
    if (!this.#paused.isEmpty) this.#begin();
  };
}

/** Bytes of one body that are read per iteration: half a millisecond's work. */
const PART_BYTES = 256 * 1024;
/** Bytes of a discarded body (one that was answered early) that are read at a time; as much as Node reads at once. */
const DISCARDED_PART_BYTES = 64 * 1024;
/**
 * Milliseconds between two parts of discarded bodies, those of all senders together. Decrypting them takes a fiftieth of the
 * thread, and a sender who reads the answer last is done with 8 MB before his connection is closed.
 */
const DISCARD_MS = 10;
/**
 * A body up to this size is read without pauses, which would cost a tenth of a review of half a megabyte; all such bodies
 * together are read up to this many bytes per iteration, two milliseconds' work.
 */
const LONG_BYTES = 1024 * 1024;

/**
 * Reads large bodies in parts, one part per iteration of the event loop, round robin among addresses. Node by itself reads
 * a socket for as long as data is there, two megabytes and more, before it reads the next. Bodies up to {@link LONG_BYTES}
 * are read in parts only where many come at once: a tenant's hundred Pods of 0.9 MB would be a single iteration.
 */
export class BodyThrottle {
  readonly #waiting = new RoundRobin<() => void>();
  readonly #ticks = new OnePerTick(() => this.#waiting.next());
  readonly #discarded = new RoundRobin<() => void>();
  readonly #discards = new OnePerTick(
    () => this.#discarded.next(),
    (run) => setTimeout(run, DISCARD_MS).unref(),
  );
  /** Bytes of large bodies in the present iteration; undefined before the first. */
  #inIteration: number | undefined;

  /**
   * Called before the body is read.
   * @param isAnswered whether the rest of the body is discarded
   */
  throttle(request: IncomingMessage, address: string, isAnswered: () => boolean): void {
    let inParts = mayBeLong(request);
    let since = 0;
    request.on('data', (chunk: Buffer) => {
      since += chunk.length;
      const isTooMuch = this.#count(chunk.length) > LONG_BYTES;
      if (!isTooMuch && !inParts) return;
      const isDiscarded = isAnswered();
      if (!isTooMuch && since < (isDiscarded ? DISCARDED_PART_BYTES : PART_BYTES)) return;
      inParts = true;
      since = 0;
      request.pause();
      const [queue, ticks] = isDiscarded ? [this.#discarded, this.#discards] : [this.#waiting, this.#ticks];
      queue.add(address, () => request.resume());
      ticks.schedule();
    });
  }

  /** @returns the bytes of this iteration so far */
  #count(bytes: number): number {
    if (this.#inIteration === undefined) setImmediate(this.#endIteration);
    this.#inIteration = (this.#inIteration ?? 0) + bytes;
    return this.#inIteration;
  }

  readonly #endIteration = (): void => {
    this.#inIteration = undefined;
  };
}

/** Whether the body may be so long that it is always read in parts. */
export const mayBeLong = (request: IncomingMessage): boolean => announces(request, LONG_BYTES);

/** Whether the body may be so large that it is read in parts while others are being read. */
export const mayBeLarge = (request: IncomingMessage): boolean => announces(request, LARGE_BYTES);

const announces = ({ headers }: IncomingMessage, bytes: number): boolean =>
  headers['content-length'] === undefined || Number(headers['content-length']) > bytes;
