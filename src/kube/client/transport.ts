import type { Dispatcher, Pool } from 'undici';
import UndiciPool from 'undici/lib/dispatcher/pool.js';
import { systemClock, sleep, type Clock, type UniformRandom } from './clock.ts';
import type { Connection } from './connection.ts';
import { errorFromAnswer, unreachable } from './errors.ts';
import { AnswerStream, type AnswerHead } from './answer-stream.ts';
import { AnswerTooLarge, Patience, PendingCall, type HttpAnswer } from './pending-call.ts';

export interface TransportOptions {
  /** Connections for calls. 16: more only queue inside the API server. */
  readonly connections?: number;
  readonly userAgent?: string;
  readonly clock?: Clock;
  readonly random?: UniformRandom;
  readonly observer?: TransportObserver;
}

/** For metrics; may not throw. */
export interface TransportObserver {
  /**
   * A request is answered, or lost (no `status`). What the caller called off is neither.
   * @param verb the first word of {@link Call.what}
   */
  answered?(verb: string, status: number | undefined): void;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** For messages, the verb first: `list pods`. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Bytes of an answer that are taken; more is an {@link AnswerTooLarge}. */
  readonly maxBytes?: number | undefined;
  /** false: whoever calls wants to know whether it was done, and nothing else. Default true. */
  readonly keepAnswer?: boolean;
}

/** What is done at most about a 429 or 503 with `Retry-After`, and the longest single wait (ms). */
const MAX_RETRIES = 3;
const MAX_RETRY_WAIT = 5_000;
/** Go's API server closes idle connections after 90 s; we do it before, so that no request meets a closing one. */
const KEEP_ALIVE = 60_000;
/** A dead peer is noticed by the kernel: first probe after this (ms), then ten, a second apart. */
const TCP_PROBE_AFTER = 15_000;
/**
 * What a watch tells within this time (ms) is taken together: the first word at once, what follows it closely a moment
 * later. Each waking costs as much as the event itself, and who changes 1,000 Pods makes 400 events a second. What is much
 * already is not waited for: a hundred megabytes of one namespace's large objects stand before everybody's events.
 */
const TOGETHER_MS = 20;

/**
 * Bytes to and from one API server, over pooled keep-alive connections. HTTP/1.1 on purpose: every watch has a socket
 * of its own, so that a stalled one holds up nobody, and watches cannot use up the connections of the calls.
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
      // Deadlines are per call and per watch, kept here and by the reflector; undici's own would only interfere.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { ...connection.tls, timeout: 10_000, keepAliveInitialDelay: TCP_PROBE_AFTER },
    };
    this.#calls = new UndiciPool(origin, { ...common, connections: options.connections ?? 16 });
    this.#watches = new UndiciPool(origin, { ...common, connections: null });
  }

  /**
   * One call with its answer. Repeats it where the server asks for that (`Retry-After` says that nothing was done), after
   * a 401 with a renewed token, and, if it only reads, once after a lost connection.
   * @throws {ApiError} for an answer of 400 and above
   * @throws {MusterError} CLUSTER_UNREACHABLE where there was no answer in time
   */
  async call(call: Call): Promise<Buffer> {
    call.signal?.throwIfAborted();
    const patience = new Patience();
    const abort = (): void => patience.end(call.signal?.reason);
    call.signal?.addEventListener('abort', abort, { once: true });
    const cancel = this.#clock.after(call.timeoutMs, () => {
      const late = new Error(`nothing within ${call.timeoutMs / 1000} s`);
      patience.end(unreachable(call.what, this.server, late));
    });
    try {
      return await this.#persistently(call, patience);
    } finally {
      cancel();
      call.signal?.removeEventListener('abort', abort);
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
        // A keep-alive connection that the server had just closed. Whether a write got through is not known.
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
      await sleep(this.#clock, wait, call.signal);
    }
  }

  async #ask(call: Call, patience: Patience): Promise<HttpAnswer> {
    const request = await this.#requestOf(call);
    patience.throwIfEnded();
    const pending = new PendingCall(call.keepAnswer ?? true, call.maxBytes);
    patience.waitFor(pending);
    this.#calls.dispatch(request, pending);
    try {
      return await pending.answer;
    } finally {
      if (pending.status !== undefined || call.signal?.aborted !== true) {
        this.#observer.answered?.(verbOf(call), pending.status);
      }
    }
  }

  /**
   * A call whose answer goes on and on; its pieces as they come, together where many come within a moment. Ends with the
   * answer, throws as `call` does.
   * @param accepted called when the head of a good answer is there
   */
  async *stream(
    call: Omit<Call, 'timeoutMs'>,
    accepted?: () => void,
  ): AsyncGenerator<readonly Buffer[], void> {
    call.signal?.throwIfAborted();
    const answer = new AnswerStream();
    const cut = (): void => answer.cut(call.signal?.reason);
    call.signal?.addEventListener('abort', cut, { once: true });
    try {
      await this.#accept(call, answer);
      accepted?.();
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

  async #accept(call: Omit<Call, 'timeoutMs'>, answer: AnswerStream): Promise<void> {
    let head: AnswerHead | undefined;
    try {
      this.#watches.dispatch(await this.#requestOf(call), answer);
      head = await answer.head;
    } finally {
      if (head !== undefined || call.signal?.aborted !== true) {
        this.#observer.answered?.(verbOf(call), head?.status);
      }
    }
    if (head.status < 400) return;
    if (head.status === 401) this.#connection.refresh();
    const text: Buffer[] = [];
    for (let pieces = await answer.take(); pieces !== undefined; pieces = await answer.take())
      text.push(...pieces);
    throw errorFromAnswer(call.what, head.status, Buffer.concat(text).toString(), head.retryAfter);
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

  /** Errors of ours go through as they are; what undici or Node threw is a lost connection. */
  #lost(what: string, cause: unknown): unknown {
    const name = (cause as { name?: unknown } | undefined)?.name;
    return name === 'ApiError' || name === 'MusterError' ? cause : unreachable(what, this.server, cause);
  }

  /** Ends all connections, whatever is under way on them. */
  async close(): Promise<void> {
    await Promise.all([this.#calls.destroy(), this.#watches.destroy()]);
  }
}

const verbOf = ({ what }: Pick<Call, 'what'>): string => what.slice(0, what.indexOf(' '));
