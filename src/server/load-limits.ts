import type { ShedReason } from '../telemetry/metrics.ts';
import type { Peer } from './connection.ts';
import { HttpFailure } from './failure.ts';

/** What one process takes on at a time. Beyond it the API server is asked to come back, which it does by itself. */
export interface Limits {
  /** One request body. Two objects of 3 MiB and their envelope fit; what HTML escaping blows up beyond is refused. */
  readonly maxBodyBytes: number;
  /** All request bodies held at once. */
  readonly maxInFlightBytes: number;
  /** Requests being received or answered at once. */
  readonly maxInFlight: number;
}

/** Seconds in `Retry-After`: the API server waits that long, then sends the review again inside the same call. */
const RETRY_AFTER_SECONDS = 1;

/** A review above this many bytes is large: nearly all are far below, and what is above never crowds them out. */
export const LARGE_BYTES = 64 * 1024;

/** Of the bytes in flight, what large reviews may take. */
const LARGE_SHARE = 3 / 4;

/** A body inside a cluster is there within some milliseconds. One that takes longer gives way where there is no room. */
const SLOW_MS = 1000;

/** What one request holds of the limits; given back once. */
export interface Slot {
  /**
   * Accounts for `bytes` more of the body.
   * @returns how many came so far
   * @throws {HttpFailure} 413 or 503, and where it was given back already
   */
  grow(bytes: number): number;
  /** To be called when the whole body is there: from then on the request gives way to none. */
  received(): void;
  release(): void;
}

interface Holder {
  readonly peer: Peer;
  readonly since: number;
  readonly giveUp: (failure: HttpFailure) => void;
  readonly slot: Slot;
  /** Whether its body is not there yet. */
  receiving: boolean;
  /** Its place in the list of all. */
  at: number;
}

/** Counts what is in flight. */
export class LoadLimits {
  requests = 0;
  bytes = 0;
  #largeBytes = 0;
  /** In no order: putting one in and taking it out is what every review pays for, finding one hardly any. */
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
   * A slot for a request whose body is announced with `contentLength` bytes (0: not announced, it grows).
   * @param since when its headers had come, in milliseconds of `performance.now()`
   * @param giveUp called where the request has to give way while its body is not there yet; its slot is free then
   * @throws {HttpFailure} 413 where the body is too large, 503 with Retry-After where there is no room now
   */
  enter(contentLength: number, peer: Peer, since: number, giveUp: (failure: HttpFailure) => void): Slot {
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
    const holder: Holder = { peer, since, giveUp, slot, receiving: true, at: this.#holders.length };
    this.#holders.push(holder);
    return slot;
  }

  /** The failure that makes the API server try again, counted. */
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
      if (!this.#makeRoom('requests', why, peer, 1)) throw this.shed('requests', why);
    }
  }

  /** Room for a body that grows from `from` bytes to `to`. */
  #takeBytes(from: number, to: number, peer: Peer, self?: Holder): void {
    const { maxInFlightBytes } = this.#limits;
    const more = to - from;
    const moreLarge = large(to) - large(from);
    while (this.bytes + more > maxInFlightBytes || this.#largeBytes + moreLarge > this.#maxLargeBytes) {
      if (moreLarge === 0 && this.bytes + more <= maxInFlightBytes) break;
      const why = `${this.bytes} bytes of reviews in flight, at most ${maxInFlightBytes}`;
      if (!this.#makeRoom('bytes', why, peer, more, self)) throw this.shed('bytes', why);
    }
    this.#account(from, to, peer);
  }

  #account(from: number, to: number, peer: Peer): void {
    this.bytes += to - from;
    peer.bytes += to - from;
    this.#largeBytes += large(to) - large(from);
  }

  /**
   * Ends one request whose body is not there yet: the oldest of the peer that holds the most, if that is more than the
   * newcomer's peer would hold; else the oldest of all, if its sender is slow.
   */
  #makeRoom(of: 'requests' | 'bytes', why: string, peer: Peer, more: number, self?: Holder): boolean {
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
    found.giveUp(this.shed(of, why));
    return true;
  }
}

const large = (bytes: number): number => (bytes > LARGE_BYTES ? bytes : 0);
