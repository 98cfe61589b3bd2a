import type { Dispatcher } from 'undici';

/** What the API server said, whatever it is. */
export interface HttpAnswer {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;
  /** Empty where it was not to be kept. */
  readonly body: Buffer;
}

/**
 * One request and its answer, at undici's lowest interface. Its convenient one gives every request a stream, a signal and
 * several promises of its own, which for the small answers here costs as much again as the request itself.
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
   * @param keep false: of an answer below 400 only the status is wanted
   * @param most bytes of an answer that are taken
   */
  constructor(keep: boolean, most = Infinity) {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#keep = keep;
    this.#most = most;
  }

  /** Known as soon as the head of the answer is there; undefined for none. */
  get status(): number | undefined {
    return this.#status;
  }

  /** Nobody waits any more: {@link answer} is rejected at once, and the request is not sent, or its connection closed. */
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
    // Heads below 200 come before the one that counts.
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

/** There is more of an answer than whoever asked wants to hold. Asking again in the same way gives the same. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';

  constructor(bytes: number) {
    super(`the answer has more than ${Math.floor(bytes / 2 ** 20)} MiB`);
  }
}

const EMPTY = Buffer.alloc(0);

/** How long somebody waits for a call, its repetitions included: until its time is over, or its caller's signal says so. */
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

export function headerOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  name: string,
): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
