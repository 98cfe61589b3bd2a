import type { Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import { headerOf } from './pending-call.ts';
import { withoutLists, type UnreadList } from '../../json/unread-lists.ts';

/** Status and headers of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly contentType: string | undefined;
}

/** Reading from the socket pauses while more than this many bytes wait to be taken. */
const MAX_WAITING = 256 * 1024;
/** From this many bytes on, a take is not delayed to gather more: one wake-up is cheap compared with parsing them. */
const MUCH = 64 * 1024;

/**
 * A streamed answer. Its pieces are kept until {@link take} returns them all at once, so a reader that takes seldom is
 * woken seldom, however small the pieces are.
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
    // Prevents an unhandled rejection when nobody awaits `head`.
    this.head.catch(() => undefined);
  }

  /** The pieces since the last call, at least one; undefined at the end. @throws the error that ended the answer */
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

  /** Waits `ms` for more pieces; returns earlier when {@link MUCH} bytes are waiting or the answer has ended. */
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

  /** Aborts the answer and its connection; {@link take} and {@link head} reject with the reason. */
  cut(reason: unknown): void {
    // After a complete answer the connection is reused for the next request, so it must not be closed.
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
    if (status < 200) return;
    const [retryAfter, contentType] = [headerOf(headers, 'retry-after'), headerOf(headers, 'content-type')];
    this.#head.resolve({ status, retryAfter, contentType });
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
 * The longest line of a watch (bytes). etcd accepts objects of 1.5 MiB, and JSON escapes turn one byte into six at
 * most; a longer line is no watch event and would only fill the memory.
 */
const MAX_LINE = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/** The bytes that are split at a time: to search and decode a megabyte takes as long as a few reviews. */
const PORTION = 64 * 1024;

/**
 * Splits the bytes of a watch into lines, wherever the network has split them: inside a line, or inside a character.
 * Yields many lines together, since a busy watch has hundreds.
 * @param stream batches of pieces
 * @param unread lists that are emptied before parsing: most bytes of a Pod are in lists that watchers do not use
 * @throws when the stream ends inside a line: an event was lost, and the caller has to connect again
 */
export async function* linesOf(
  stream: AsyncIterable<readonly Buffer[]>,
  unread: readonly UnreadList[],
): AsyncGenerator<string[], void> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const pieces of inPortions(stream)) {
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

export async function* inPortions(
  stream: AsyncIterable<readonly Buffer[]>,
): AsyncGenerator<readonly Buffer[]> {
  for await (const pieces of stream) {
    let from = 0;
    let bytes = 0;
    for (const [index, { length }] of pieces.entries()) {
      bytes += length;
      if (bytes < PORTION && index < pieces.length - 1) continue;
      yield pieces.slice(from, index + 1);
      [from, bytes] = [index + 1, 0];
    }
  }
}

export const bytesIn = (pieces: readonly Buffer[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0);

/** Decides how a stream is read when its first piece has arrived, which is after its headers. */
export async function* chosen<Piece, Part>(
  stream: AsyncGenerator<Piece, void>,
  read: (pieces: AsyncIterable<Piece>) => AsyncIterable<Part>,
): AsyncGenerator<Part, void> {
  const first = await stream.next();
  if (first.done === true) return;
  const pieces = async function* (): AsyncGenerator<Piece, void> {
    try {
      yield first.value;
      yield* stream;
    } finally {
      await stream.return();
    }
  };
  yield* read(pieces());
}
