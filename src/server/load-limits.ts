import type { ShedReason } from '../telemetry/metrics.ts';
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

/** What one request holds of the limits; given back once. */
export interface Slot {
  /** Accounts for `bytes` more of the body. @throws {HttpFailure} 413 or 503 */
  grow(bytes: number): void;
  release(): void;
}

/** Counts what is in flight. */
export class LoadLimits {
  requests = 0;
  bytes = 0;
  readonly #limits: Limits;
  readonly #onShed: (reason: ShedReason) => void;

  constructor(limits: Limits, onShed: (reason: ShedReason) => void) {
    this.#limits = limits;
    this.#onShed = onShed;
  }

  /**
   * A slot for a request whose body is announced with `contentLength` bytes (0: not announced, it grows).
   * @throws {HttpFailure} 413 where the body is too large, 503 with Retry-After where there is no room now
   */
  enter(contentLength: number): Slot {
    this.#checkSize(contentLength);
    if (this.requests >= this.#limits.maxInFlight) {
      throw this.shed('requests', `${this.requests} requests in flight, at most ${this.#limits.maxInFlight}`);
    }
    this.#checkRoom(contentLength);
    this.requests += 1;
    this.bytes += contentLength;
    let held = contentLength;
    let received = 0;
    let open = true;
    return {
      grow: (count) => {
        received += count;
        if (received <= held || !open) return;
        this.#checkSize(received);
        this.#checkRoom(received - held);
        this.bytes += received - held;
        held = received;
      },
      release: () => {
        if (!open) return;
        open = false;
        this.requests -= 1;
        this.bytes -= held;
      },
    };
  }

  /** The failure that makes the API server try again, counted. */
  shed(reason: ShedReason, why: string): HttpFailure {
    this.#onShed(reason);
    return new HttpFailure(503, `too busy or not ready: ${why}; the API server retries`, RETRY_AFTER_SECONDS);
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

  #checkRoom(more: number): void {
    const { maxInFlightBytes } = this.#limits;
    if (this.bytes + more > maxInFlightBytes) {
      throw this.shed('bytes', `${this.bytes} bytes of reviews in flight, at most ${maxInFlightBytes}`);
    }
  }
}
