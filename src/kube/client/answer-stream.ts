import type { Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import { headerOf } from './pending-call.ts';
import { withoutLists, type UnreadList } from '../../json/unread-lists.ts';

/** The head of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** More than this (bytes) is not taken in before somebody has taken what is there. */
const MAX_WAITING = 1024 * 1024;
/** Of so much (bytes) more is not waited for: one waking for all of it is little beside reading it. */
const MUCH = 256 * 1024;

/**
 * An answer that goes on and on. What comes is kept until somebody takes it, all at once: whoever takes seldom is woken
 * seldom, however small the pieces are in which it comes.
 */
export class AnswerStream implements Dispatcher.DispatchHandler {
  readonly head: Promise<AnswerHead>;
  readonly #head: PromiseWithResolvers<AnswerHead>;
  #controller: Dispatcher.DispatchController | undefined;
  #chunks: Buffer[] = [];
  #waiting = 0;
  #ended: { readonly error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  #gathered: (() => void) | undefined;

  constructor() {
    this.#head = Promise.withResolvers<AnswerHead>();
    this.head = this.#head.promise;
    // Nobody has to wait for it.
    this.head.catch(() => undefined);
  }

  /** The pieces that have come since the last time, at least one; undefined at the end. @throws what it ended with */
  async take(): Promise<readonly Buffer[] | undefined> {
    if (this.#chunks.length === 0 && this.#ended === undefined) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    if (this.#chunks.length > 0) {
      const taken = this.#chunks;
      this.#chunks = [];
      this.#waiting = 0;
      this.#controller?.resume();
      return taken;
    }
    if (this.#ended !== undefined && 'error' in this.#ended) throw this.#ended.error;
    return undefined;
  }

  /** Waits so long for more, but not where much is there already, or as soon as it is; nor for what has ended. */
  async gather(clock: Clock, ms: number): Promise<void> {
    if (this.#hasMuch) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve);
      this.#gathered = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Ends it, and its connection; {@link take} and {@link head} reject with the reason. */
  cut(reason: unknown): void {
    // At its end the connection is free for the next request.
    if (this.#ended !== undefined) return;
    this.#end({ error: reason });
    this.#controller?.abort(reason as Error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#ended !== undefined) controller.abort(this.#ended.error as Error);
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status >= 200) this.#head.resolve({ status, retryAfter: headerOf(headers, 'retry-after') });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#ended !== undefined) return;
    this.#chunks.push(chunk);
    this.#waiting += chunk.length;
    if (this.#waiting > MAX_WAITING) controller.pause();
    this.#wakeUp();
  }

  onResponseEnd(): void {
    this.#end({});
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#end({ error });
  }

  #end(how: { readonly error?: unknown }): void {
    if (this.#ended !== undefined) return;
    this.#ended = how;
    if ('error' in how) this.#head.reject(how.error);
    this.#wakeUp();
  }

  get #hasMuch(): boolean {
    return this.#waiting >= MUCH || this.#ended !== undefined;
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
    if (!this.#hasMuch) return;
    this.#gathered?.();
    this.#gathered = undefined;
  }
}

/**
 * The longest line of a watch (bytes). etcd takes objects of 1.5 MiB, JSON escapes make at most six bytes of one; what is
 * longer is no watch event, and would only fill our memory.
 */
const MAX_LINE = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Cuts the bytes of a watch into lines, wherever the network cut them: in a line, or in a character. Gives all lines that
 * are complete together, since a busy watch has hundreds.
 * @param stream pieces, as many as there are at a time
 * @param unread lists that are left empty: of a Pod most bytes are in such as nobody who watches goes by
 * @throws where the stream ends inside a line: the event is lost, and whoever reads has to connect again
 */
export async function* linesOf(
  stream: AsyncIterable<readonly Buffer[]>,
  unread: readonly UnreadList[],
): AsyncGenerator<string[], void> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const pieces of stream) {
    const last = pieces.findLastIndex((piece) => piece.includes(NEWLINE));
    const piece = pieces[last];
    if (piece === undefined) {
      pending.push(...pieces);
      pendingBytes += bytesIn(pieces);
      if (pendingBytes > MAX_LINE) throw new Error(`a line of more than ${MAX_LINE} bytes`);
      continue;
    }
    const end = piece.lastIndexOf(NEWLINE);
    const whole = Buffer.concat([...pending, ...pieces.slice(0, last), piece.subarray(0, end)]);
    const rest = Buffer.concat([piece.subarray(end + 1), ...pieces.slice(last + 1)]);
    pending = rest.length === 0 ? [] : [rest];
    pendingBytes = rest.length;
    const lines = withoutLists(whole, unread)
      .split('\n')
      .filter((line) => line.trim() !== '');
    if (lines.length > 0) yield lines;
  }
  if (pendingBytes > 0 && Buffer.concat(pending).toString('utf8').trim() !== '')
    throw new Error('the stream ended inside an event');
}

const bytesIn = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);
