import { isAscii, isUtf8 } from 'node:buffer';
import {
  MAX_DEPTH,
  sampledDensity,
  SAMPLED_BYTES,
  TOO_DEEP,
  tooMuchInSteps,
  tooMuchJson,
  JsonBounds,
} from '../json/bounds.ts';
import { parsedAround, type FoundSpec } from '../json/known-specs.ts';
import { parseInPieces, TooDeep } from '../json/pieces.ts';
import type { SpecTexts } from '../json/spec-texts.ts';
import { partsWithoutLists, textOf, withoutLists, type UnreadList } from '../json/unread-lists.ts';
import { ALL_READ, type BodyHead, type WebhookEndpoint } from '../api/webhook-endpoint.ts';
import { HttpFailure } from './failure.ts';
import type { IncomingMessage } from 'node:http';
import type { Slot } from './admission-limiter.ts';

/** Matches the namespace in the head of a body; {@link OPERATION} matches the operation, within {@link HEAD_BYTES}. */
const NAMESPACE = /"namespace":"([a-z0-9-]{1,63})"/;
const OPERATION = /"operation":"([A-Za-z]{1,63})"/;
const HEAD_BYTES = 1024;

/** Reads the head of a body before it is parsed. */
export class FirstBytes implements BodyHead {
  readonly #text: string;

  constructor(bytes: Buffer) {
    this.#text = bytes.toString('latin1', 0, HEAD_BYTES);
  }

  get namespace(): string {
    return NAMESPACE.exec(this.#text)?.[1] ?? '';
  }

  get operation(): string {
    return OPERATION.exec(this.#text)?.[1] ?? '';
  }
}

/** The lists of `bytes` that are left out before it is parsed. */
export const unreadOf = (
  { unread = ALL_READ }: Pick<WebhookEndpoint, 'unread'>,
  bytes: Buffer,
): readonly UnreadList[] => (typeof unread === 'function' ? unread(new FirstBytes(bytes)) : unread);

/**
 * Parses a small body.
 * @param unread lists that are left out
 * @param found a spec in it that need not be parsed, where it fits
 * @throws {HttpFailure} 400, or 413 where parsing it would cost too much
 */
export function parseJson(bytes: Buffer, unread = ALL_READ, found?: FoundSpec, texts?: SpecTexts): unknown {
  const encoding = encodingOf(bytes);
  // `LargeBody` has checked larger bodies.
  if (bytes.length <= SAMPLED_BYTES) refuse(tooMuchJson(bytes));
  const around = found && parsedAround(bytes, found, encoding);
  return around ?? parsed(withoutLists(bytes, unread, encoding), unread === ALL_READ ? undefined : texts);
}

/** Bytes that are parsed in one step, counted after unread lists are left out. */
const AT_ONCE_BYTES = 48 * 1024;
/** Bytes that are parsed in one step where a sample shows less structure than {@link SPARSE}. */
const SPARSE_BYTES = 256 * 1024;
const SPARSE = 1 / 10;

/**
 * Parses a large body in steps of less than a millisecond.
 * @param unread lists that are left out
 * @throws {HttpFailure} 400, or 413 where parsing it would cost too much
 */
export function* parseLarge(bytes: Buffer, unread: readonly UnreadList[]): Generator<void, unknown> {
  const encoding = encodingOf(bytes);
  // `LargeBody` has checked larger bodies.
  if (bytes.length <= SAMPLED_BYTES) refuse(yield* tooMuchInSteps(bytes));
  const parts = yield* partsWithoutLists(bytes, unread);
  const left = parts.reduce((sum, { start, end }) => sum + end - start, 0);
  const sparse = left <= SPARSE_BYTES && sampledDensity(bytes, parts) <= SPARSE;
  if (sparse || left <= AT_ONCE_BYTES) return parsed(textOf(bytes, parts, encoding));
  try {
    return yield* parseInPieces(bytes, parts, { encoding, maxDepth: MAX_DEPTH });
  } catch (thrown) {
    if (thrown instanceof TooDeep) refuse(TOO_DEEP);
    throw notJson(thrown);
  }
}

/** @throws {HttpFailure} 400 where it is no UTF-8 */
function encodingOf(bytes: Buffer): 'latin1' | 'utf8' {
  if (bytes.length === 0) throw new HttpFailure(400, 'the body is empty, JSON is needed');
  if (isAscii(bytes)) return 'latin1';
  // JavaScript would read broken UTF-8 as U+FFFD, and the decision would be about another object than the stored one.
  if (!isUtf8(bytes)) throw new HttpFailure(400, 'the body is not valid UTF-8');
  return 'utf8';
}

/** @throws {HttpFailure} 400 */
function parsed(text: string, texts?: SpecTexts): unknown {
  try {
    return texts === undefined ? (JSON.parse(text) as unknown) : texts.parse(text);
  } catch (thrown) {
    throw notJson(thrown);
  }
}

const notJson = (thrown: unknown): HttpFailure =>
  new HttpFailure(400, `the body is not JSON: ${withoutQuotation((thrown as Error).message)}`);

/** Removes what V8 quotes of the text around an error, since no part of an object may be in the log. */
const withoutQuotation = (message: string): string =>
  message.replace(/, (?:\.\.\.)?".*is not valid JSON$/s, '');

/** @throws {HttpFailure} 413 where there is a reason not to parse the body */
export function refuse(tooMuch: string | undefined): void {
  if (tooMuch !== undefined) throw new HttpFailure(413, `the review is too costly to parse: ${tooMuch}`);
}

/**
 * Collects a request body, counting its bytes against the request's slot.
 * @param announced Content-Length, 0 where there is none
 * @param done called once, with the whole body
 * @param failed called instead where there is no whole body: 400, 413 or 503
 */
export function readBody(
  request: IncomingMessage,
  announced: number,
  slot: Slot,
  done: (body: Buffer) => void,
  failed: (failure: HttpFailure) => void,
): void {
  let chunks: Buffer[] = [];
  let large: LargeBody | undefined;
  // A flag is cheaper than removing the listeners, which costs more than the rest of this function.
  let finished = false;
  const fail = (failure: HttpFailure): void => {
    finished = true;
    chunks = [];
    large = undefined;
    failed(failure);
  };
  request.on('data', (chunk: Buffer) => {
    if (finished) return;
    try {
      const received = slot.grow(chunk.length);
      if (large === undefined && (announced > SAMPLED_BYTES || received > SAMPLED_BYTES)) {
        large = new LargeBody();
        for (const earlier of chunks.splice(0)) large.push(earlier);
      }
      if (large === undefined) chunks.push(chunk);
      else {
        large.push(chunk);
        freeChunk(chunk);
      }
    } catch (failure) {
      fail(failure as HttpFailure);
    }
  });
  request.on('end', () => {
    if (finished) return;
    slot.received();
    let body: Buffer;
    try {
      body = large?.whole() ?? (chunks.length === 1 ? chunks[0] : undefined) ?? joined(chunks);
    } catch (failure) {
      fail(failure as HttpFailure);
      return;
    }
    finished = true;
    done(body);
  });
  request.on('error', () => {
    if (!finished) fail(new HttpFailure(400, 'the request ended before its body did'));
  });
}

function joined(chunks: readonly Buffer[]): Buffer {
  const whole = Buffer.concat(chunks);
  for (const chunk of chunks) freeChunk(chunk);
  return whole;
}

/**
 * Frees a chunk at once instead of at the next garbage collection. V8 counts the bytes of bodies as its own, so a few dozen
 * bodies of half a megabyte would start a collection of the whole heap. For small bodies this saves a twentieth of a review.
 *
 * A chunk that shares its memory is left alone: the next request could be in the same memory.
 */
export function freeChunk({ buffer, length }: Buffer): void {
  if (length === buffer.byteLength) free(buffer);
}

/**
 * Frees a whole body. Its buffer may be longer than the body; Buffer's pool, of which one buffer never takes half, is left
 * alone.
 */
export function freeBody({ buffer, length }: Buffer): void {
  if (length * 2 >= buffer.byteLength) free(buffer);
}

function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

const FIRST_BYTES = 256 * 1024;

/**
 * A body that is copied and checked chunk by chunk: to join 8 MB at the end would block the event loop for ten milliseconds.
 */
class LargeBody {
  readonly #bounds = new JsonBounds();
  // The memory grows with the bytes received: an announced length alone takes none.
  #memory = new ArrayBuffer(FIRST_BYTES);
  #bytes = Buffer.from(this.#memory);
  #length = 0;

  /** @throws {HttpFailure} 413 */
  push(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) {
      // `transfer` frees the old memory at once.
      this.#memory = this.#memory.transfer(Math.max(length, this.#bytes.length * 2));
      this.#bytes = Buffer.from(this.#memory);
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
    refuse(this.#bounds.push(chunk));
  }

  /** @throws {HttpFailure} 413 */
  whole(): Buffer {
    refuse(this.#bounds.verdict());
    return this.#bytes.subarray(0, this.#length);
  }
}
