import type { ShedReason } from '../telemetry/metrics.ts';
import type { Peer } from './connection.ts';
import { HttpFailure } from './failure.ts';

/** Limits of one process. Beyond them the API server is asked to retry, which it does by itself. */
export interface Limits {
  /** Bytes of one request body. Two objects of 3 MiB and their envelope fit, unless HTML escaping makes them longer. */
  readonly maxBodyBytes: number;
  /** Bytes of all request bodies held at once. */
  readonly maxInFlightBytes: number;
  /** Number of requests being received or answered at once. */
  readonly maxInFlight: number;
}

/** Seconds in `Retry-After`, after which the API server sends the review again inside the same call. */
const RETRY_AFTER_SECONDS = 1;

/** A review above this many bytes is large. Nearly all reviews are far below, and large ones must not crowd them out. */
export const LARGE_BYTES = 64 * 1024;

/** The share of the bytes in flight that large reviews may take. */
const LARGE_SHARE = 3 / 4;

/**
 * Milliseconds after which a body that has not arrived is slow, and its request may be evicted. Inside a cluster a body
 * takes some milliseconds.
 */
const SLOW_MS = 1000;

/** One request's share of the limits; it can be released only once. */
export interface Slot {
  /**
   * Accounts for `bytes` more of the body.
   * @returns the bytes of the body so far
   * @throws {HttpFailure} 413 or 503, also where the slot was released
   */
  grow(bytes: number): number;
  /** Called when the whole body has arrived: from then on the request is not evicted. */
  received(): void;
  release(): void;
}

interface Holder {
  readonly peer: Peer;
  readonly since: number;
  readonly onEvicted: (failure: HttpFailure) => void;
  readonly slot: Slot;
  /** Whether the body has not arrived yet. */
  receiving: boolean;
  /** The index in the list of all holders. */
  at: number;
}

/** Admits requests within the limits, and evicts slow ones where there is no room. */
export class AdmissionLimiter {
  requests = 0;
  bytes = 0;
  #largeBytes = 0;
  /** The order has no meaning: every review adds and removes one, and searches are rare. */
  readonly #holders: Holder[] = [];
  readonly #limits: Limits;
  readonly #maxLargeBytes: number;
  readonly #onShed: (reason: ShedReason) => void;
  readonly #now: () => number;

  constructor(limits: Limits, onShed: (reason: ShedReason) => void, now = () => performance.now()) {
    this.#limits = limits;
    this.#maxLargeBytes = Math.max(limits.maxInFlightBytes * LARGE_SHARE, limits.maxBodyBytes);
    this.#onShed = onShed;
    this.#now = now;
  }

  /**
   * Returns a slot for a request.
   * @param contentLength 0 where none was announced: the slot grows with the body
   * @param since when the request's headers had arrived, in milliseconds of `performance.now()`
   * @param onEvicted called where the request is evicted before its body has arrived; its slot is free by then
   * @throws {HttpFailure} 413 where the body is too large, 503 with Retry-After where there is no capacity now
   */
  admit(contentLength: number, peer: Peer, since: number, onEvicted: (failure: HttpFailure) => void): Slot {
    this.#checkSize(contentLength);
    this.#takeRequest(peer);
    this.#takeBytes(0, contentLength, peer);
    this.requests += 1;
    peer.requests += 1;
    let held = contentLength;
    let received = 0;
    let open = true;
    const slot: Slot = {
      grow: (count) => {
        if (!open) throw new HttpFailure(503, 'the request gave way to others');
        received += count;
        if (received <= held) return received;
        this.#checkSize(received);
        this.#takeBytes(held, received, peer, holder);
        held = received;
        return received;
      },
      received: () => {
        holder.receiving = false;
      },
      release: () => {
        if (!open) return;
        open = false;
        this.#remove(holder);
        this.requests -= 1;
        peer.requests -= 1;
        this.#account(held, 0, peer);
      },
    };
    const holder: Holder = { peer, since, onEvicted, slot, receiving: true, at: this.#holders.length };
    this.#holders.push(holder);
    return slot;
  }

  /** Counts a refusal that makes the API server retry. */
  shed(reason: ShedReason, why: string): HttpFailure {
    this.#onShed(reason);
    return new HttpFailure(503, `too busy or not ready: ${why}; the API server retries`, RETRY_AFTER_SECONDS);
  }

  #remove(holder: Holder): void {
    const last = this.#holders.pop();
    if (last === undefined || last === holder) return;
    this.#holders[holder.at] = last;
    last.at = holder.at;
  }

  #checkSize(bytes: number): void {
    const { maxBodyBytes } = this.#limits;
    if (bytes > maxBodyBytes) {
      throw new HttpFailure(
        413,
        `the review is larger than ${maxBodyBytes} bytes; make the object smaller, or raise server.webhooks.limits.maxBodyBytes`,
      );
    }
  }

  #takeRequest(peer: Peer): void {
    const { maxInFlight } = this.#limits;
    while (this.requests >= maxInFlight) {
      const why = `${this.requests} requests in flight, at most ${maxInFlight}`;
      if (!this.#evict('requests', why, peer, 1)) throw this.shed('requests', why);
    }
  }

  /** Takes bytes for a body that grows from `from` to `to`. */
  #takeBytes(from: number, to: number, peer: Peer, self?: Holder): void {
    const { maxInFlightBytes } = this.#limits;
    const more = to - from;
    const moreLarge = large(to) - large(from);
    while (this.bytes + more > maxInFlightBytes || this.#largeBytes + moreLarge > this.#maxLargeBytes) {
      if (moreLarge === 0 && this.bytes + more <= maxInFlightBytes) break;
      const why = `${this.bytes} bytes of reviews in flight, at most ${maxInFlightBytes}`;
      if (!this.#evict('bytes', why, peer, more, self)) throw this.shed('bytes', why);
    }
    this.#account(from, to, peer);
  }

  #account(from: number, to: number, peer: Peer): void {
    this.bytes += to - from;
    peer.bytes += to - from;
    this.#largeBytes += large(to) - large(from);
  }

  /**
   * Evicts one request whose body has not arrived yet: the oldest of the peer that holds the most, if that is more than
   * the newcomer's peer would hold; else the oldest of all, if its sender is slow.
   */
  #evict(of: 'requests' | 'bytes', why: string, peer: Peer, more: number, self?: Holder): boolean {
    let found: Holder | undefined;
    let oldest: Holder | undefined;
    for (const holder of this.#holders) {
      if (!holder.receiving || holder === self) continue;
      if (oldest === undefined || holder.since < oldest.since) oldest = holder;
      const held = holder.peer[of];
      const most = found?.peer[of] ?? peer[of] + more;
      if (held > most || (held === most && found !== undefined && holder.since < found.since)) found = holder;
    }
    if (oldest !== undefined && this.#now() - oldest.since > SLOW_MS) found ??= oldest;
    if (found === undefined) return false;
    found.slot.release();
    found.onEvicted(this.shed(of, why));
    return true;
  }
}

const large = (bytes: number): number => (bytes > LARGE_BYTES ? bytes : 0);
