import type { Dispatcher } from 'undici';

/** An HTTP answer of the API server, successful or not. */
export interface HttpAnswer {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;
  /** Empty when the body was not kept. */
  readonly body: Buffer;
}

/**
 * One request and its answer, on undici's dispatcher interface. undici's `request` creates a stream, a signal and
 * several promises per request, which for small answers costs as much as the request itself.
 */
export class PendingCall implements Dispatcher.DispatchHandler {
  readonly answer: Promise<HttpAnswer>;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #keep: boolean;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #givenUp: { readonly reason: unknown } | undefined;
  #status: number | undefined;
  #retryAfter: string | undefined;

  readonly #most: number;
  #bytes = 0;

  /**
   * @param keep false: of an answer below 400 only the status is kept
   * @param most the largest answer in bytes
   */
  constructor(keep: boolean, most = Infinity) {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#keep = keep;
    this.#most = most;
  }

  /** Known once the headers of the answer have arrived; undefined before. */
  get status(): number | undefined {
    return this.#status;
  }

  /** Rejects {@link answer} at once, and cancels the request or closes its connection. */
  giveUp(reason: unknown): void {
    this.#givenUp = { reason };
    this.#reject(reason);
    this.#controller?.abort(reason as Error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#givenUp === undefined) this.#controller = controller;
    else controller.abort(this.#givenUp.reason as Error);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // Informational answers (1xx) precede the final one.
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = headerOf(headers, 'retry-after');
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#keep && (this.#status ?? 0) < 400) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#most) this.giveUp(new AnswerTooLarge(this.#most));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first = EMPTY, ...more] = this.#chunks;
    const body = more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status ?? 0, retryAfter: this.#retryAfter, body });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}

/** An answer is larger than the caller accepts. Repeating the same request gives the same result. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';

  constructor(bytes: number) {
    super(`the answer has more than ${Math.floor(bytes / 2 ** 20)} MiB`);
  }
}

const EMPTY = Buffer.alloc(0);

/** How long a caller waits for a call including its retries: until the timeout, or until the caller's signal is aborted. */
export class Patience {
  #ended: { readonly reason: unknown } | undefined;
  #pending: PendingCall | undefined;

  waitFor(pending: PendingCall): void {
    this.#pending = pending;
  }

  end(reason: unknown): void {
    this.#ended ??= { reason };
    this.#pending?.giveUp(reason);
  }

  throwIfEnded(): void {
    if (this.#ended !== undefined) throw this.#ended.reason;
  }
}

type Listener = () => void;
const listeners = new WeakMap<AbortSignal, Set<Listener>>();

/**
 * Calls `aborted`, which must not throw, once the signal is aborted. A signal has one event listener for all calls in flight:
 * to remove one of several hundred, Node compares it with each.
 * @returns a function that ends this
 */
export function onAbort(signal: AbortSignal, aborted: Listener): () => void {
  let all = listeners.get(signal);
  if (all === undefined) {
    const waiting = new Set<Listener>();
    all = waiting;
    listeners.set(signal, waiting);
    signal.addEventListener('abort', () => waiting.forEach((listener) => listener()), { once: true });
  }
  const known = all;
  known.add(aborted);
  return () => known.delete(aborted);
}

export function headerOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
