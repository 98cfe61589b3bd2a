import type { IncomingMessage } from 'node:http';
import { JsonBounds, SAMPLED_BYTES } from '../json/bounds.ts';
import type { Slot } from './admission-limiter.ts';
import { HttpFailure } from './failure.ts';
import { refuse } from './parse-body.ts';

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
  // Cheaper than taking the listeners off, which costs more than the rest of this function.
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

/** Frees a whole body. Its buffer may be longer than it, but Buffer's pool, of which a buffer never has half, is left alone. */
export function freeBody({ buffer, length }: Buffer): void {
  if (length * 2 >= buffer.byteLength) free(buffer);
}

function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

const FIRST_BYTES = 256 * 1024;

/** A body that is copied and checked chunk by chunk: to join 8 MB at its end would block the event loop for ten milliseconds. */
export class LargeBody {
  readonly #bounds = new JsonBounds();
  // Grows with what has come: an announced length alone takes no memory.
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
