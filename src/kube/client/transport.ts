import type { Dispatcher, Pool } from 'undici';
import UndiciPool from 'undici/lib/dispatcher/pool.js';
import { systemClock, sleep, type Clock, type UniformRandom } from './clock.ts';
import { sharedTls, type Connection } from './connection.ts';
import { errorFromAnswer, unreachable } from './errors.ts';
import { AnswerStream, type AnswerHead } from './answer-stream.ts';
import { errorText } from './watch-frames.ts';
import { AnswerTooLarge, onAbort, Patience, PendingCall, type HttpAnswer } from './pending-call.ts';

export interface TransportOptions {
  /** Number of connections for calls. Default 16. */
  readonly connections?: number;
  readonly userAgent?: string;
  readonly clock?: Clock;
  readonly random?: UniformRandom;
  readonly observer?: TransportObserver;
}

/** Reports requests to the metrics; must not throw. */
export interface TransportObserver {
  /**
   * Called when a request was answered, or lost (no `status`); not when the caller aborted it.
   * @param verb the first word of {@link Call.what}
   * @param ms from the request to the end of the answer; undefined for a streamed answer
   */
  answered?(verb: string, status: number | undefined, ms?: number): void;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Includes the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Describes the call in messages, the verb first: `list pods`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** The largest answer in bytes; a larger one is rejected with {@link AnswerTooLarge}. */
  readonly maxBytes?: number | undefined;
  /** false: the answer's body is discarded, since the caller only needs to know whether the call succeeded. Default true. */
  readonly keepAnswer?: boolean;
  /** Waits until the rest before a retry is over and the call may be in flight again. */
  readonly resting?: ((rest: Promise<void>) => Promise<void>) | undefined;
}

/** Number of retries after a 429 or 5xx with `Retry-After`; the longest single wait (ms). */
const MAX_RETRIES = 3;
const MAX_RETRY_WAIT = 5_000;
/** Idle connections are closed after this time (ms): Go's API server closes them after 90 s. */
const KEEP_ALIVE = 60_000;
/** The kernel detects a dead peer: first probe after this time (ms), then ten probes, one second apart. */
const TCP_PROBE_AFTER = 15_000;
/**
 * Events of a watch within this time (ms) are delivered together: the first at once, those that closely follow a moment
 * later. Each wake-up costs as much as the event itself, and a change of 1,000 Pods makes 400 events a second. Large
 * amounts are delivered without waiting: a hundred megabytes of one namespace's large objects would delay all other
 * events.
 */
const TOGETHER_MS = 20;

/**
 * Bytes to and from one API server, over pooled keep-alive connections. Always HTTP/1.1: every watch has a socket of
 * its own, so a stalled watch blocks no other, and watches cannot use up the connections of the calls.
 */
export class Transport {
  readonly server: string;
  readonly #connection: Connection;
  readonly #calls: Pool;
  readonly #watches: Pool;
  readonly #prefix: string;
  readonly #userAgent: string;
  readonly #clock: Clock;
  readonly #random: UniformRandom;
  readonly #observer: TransportObserver;

  constructor(connection: Connection, options: TransportOptions = {}) {
    const { origin, pathname } = new URL(connection.server);
    this.server = connection.server;
    this.#connection = connection;
    this.#prefix = pathname.replace(/\/$/, '');
    this.#userAgent = options.userAgent ?? 'muster';
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#observer = options.observer ?? {};
    const common: Pool.Options = {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE,
      // Calls and watches have their own timeouts, here and in the reflector; undici's would interfere with them.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { ...sharedTls(connection), timeout: 10_000, keepAliveInitialDelay: TCP_PROBE_AFTER },
    };
    this.#calls = new UndiciPool(origin, { ...common, connections: options.connections ?? 16 });
    this.#watches = new UndiciPool(origin, { ...common, connections: null });
  }

  /**
   * Makes one call and returns its answer. Repeats it when the server asks for that (`Retry-After` says that nothing
   * was done), after a 401 with a renewed token, and, for reads, once after a lost connection.
   * @throws {ApiError} for an answer of 400 and above
   * @throws {MusterError} CLUSTER_UNREACHABLE when there was no answer in time
   */
  async call(call: Call): Promise<Buffer> {
    call.signal?.throwIfAborted();
    const patience = new Patience();
    const { signal } = call;
    const ended = signal && onAbort(signal, () => patience.end(signal.reason));
    const cancel = this.#clock.after(call.timeoutMs, () => {
      const late = new Error(`nothing within ${call.timeoutMs / 1000} s`);
      patience.end(unreachable(call.what, this.server, late));
    });
    try {
      return await this.#persistently(call, patience);
    } finally {
      cancel();
      ended?.();
    }
  }

  async #persistently(call: Call, patience: Patience): Promise<Buffer> {
    const startedAt = this.#clock.now();
    let renewed = false;
    let reconnected = false;
    for (let retries = 0; ;) {
      let answer: HttpAnswer;
      try {
        answer = await this.#ask(call, patience);
      } catch (cause) {
        patience.throwIfEnded();
        if (cause instanceof AnswerTooLarge) throw cause;
        // The server had just closed this keep-alive connection. Whether it received a write is unknown.
        if (call.method !== 'GET' || reconnected) throw this.#lost(call.what, cause);
        reconnected = true;
        continue;
      }
      const { status, retryAfter: after, body } = answer;
      if (status < 400) return body;
      const error = errorFromAnswer(call.what, status, body.toString(), after);
      if (status === 401 && !renewed && this.#connection.refresh()) {
        renewed = true;
        continue;
      }
      const overloaded = status === 429 || status >= 500;
      const wait = Math.min((error.retryAfter ?? 0) * 1000, MAX_RETRY_WAIT) + this.#random() * 100;
      const timeLeft = startedAt + call.timeoutMs - this.#clock.now();
      if (!overloaded || after === undefined || retries >= MAX_RETRIES || wait >= timeLeft) throw error;
      retries += 1;
      await (call.resting ?? ((rest) => rest))(sleep(this.#clock, wait, call.signal));
    }
  }

  async #ask(call: Call, patience: Patience): Promise<HttpAnswer> {
    const request = await this.#requestOf(call);
    patience.throwIfEnded();
    const pending = new PendingCall(call.keepAnswer ?? true, call.maxBytes);
    patience.waitFor(pending);
    const since = this.#clock.now();
    this.#calls.dispatch(request, pending);
    try {
      return await pending.answer;
    } finally {
      if (pending.status !== undefined || call.signal?.aborted !== true) {
        this.#observer.answered?.(verbOf(call), pending.status, this.#clock.now() - since);
      }
    }
  }

  /**
   * Makes a call with a streamed answer and yields its pieces as they arrive, those within a moment together. Ends with
   * the answer; throws as `call` does.
   * @param accepted called with the Content-Type when the headers of a successful answer have arrived
   */
  async *stream(
    call: Omit<Call, 'timeoutMs'>,
    accepted?: (contentType: string | undefined) => void,
  ): AsyncGenerator<readonly Buffer[], void> {
    call.signal?.throwIfAborted();
    const answer = new AnswerStream();
    const cut = (): void => answer.cut(call.signal?.reason);
    call.signal?.addEventListener('abort', cut, { once: true });
    try {
      accepted?.((await this.#accept(call, answer)).contentType);
      for (let pieces = await answer.take(); pieces !== undefined; pieces = await answer.take()) {
        const at = this.#clock.now();
        yield pieces;
        const early = at + TOGETHER_MS - this.#clock.now();
        if (early > 0) await answer.gather(this.#clock, early);
      }
    } catch (cause) {
      if (call.signal?.aborted) throw call.signal.reason;
      throw this.#lost(call.what, cause);
    } finally {
      call.signal?.removeEventListener('abort', cut);
      answer.cut(new Error('nobody reads on'));
    }
  }

  async #accept(call: Omit<Call, 'timeoutMs'>, answer: AnswerStream): Promise<AnswerHead> {
    let head: AnswerHead | undefined;
    try {
      this.#watches.dispatch(await this.#requestOf(call), answer);
      head = await answer.head;
    } finally {
      if (head !== undefined || call.signal?.aborted !== true) {
        this.#observer.answered?.(verbOf(call), head?.status);
      }
    }
    if (head.status < 400) return head;
    if (head.status === 401) this.#connection.refresh();
    const text: Buffer[] = [];
    for (let pieces = await answer.take(); pieces !== undefined; pieces = await answer.take())
      text.push(...pieces);
    throw errorFromAnswer(call.what, head.status, errorText(Buffer.concat(text)), head.retryAfter);
  }

  async #requestOf({
    method,
    path,
    headers,
    body,
  }: Omit<Call, 'timeoutMs'>): Promise<Dispatcher.RequestOptions> {
    return {
      method,
      path: this.#prefix + path,
      headers: {
        'user-agent': this.#userAgent,
        accept: 'application/json',
        ...headers,
        ...(await this.#connection.headers()),
      },
      body: body ?? null,
    };
  }

  /** Passes errors of Muster's on unchanged; an error of undici or Node becomes a lost connection. */
  #lost(what: string, cause: unknown): unknown {
    const name = (cause as { name?: unknown } | undefined)?.name;
    return name === 'ApiError' || name === 'MusterError' ? cause : unreachable(what, this.server, cause);
  }

  /** Closes all connections, including those with calls in progress. */
  async close(): Promise<void> {
    await Promise.all([this.#calls.destroy(), this.#watches.destroy()]);
  }
}

const verbOf = ({ what }: Pick<Call, 'what'>): string => what.slice(0, what.indexOf(' '));
