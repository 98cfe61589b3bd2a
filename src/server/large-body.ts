import { HttpFailure } from './failure.ts';
import { JsonBounds } from '../json/bounds.ts';

const FIRST_BYTES = 256 * 1024;

/** @throws {HttpFailure} 413, where there is a reason not to parse a body */
export function refuse(tooMuch: string | undefined): void {
  if (tooMuch !== undefined) throw new HttpFailure(413, `the review is too costly to parse: ${tooMuch}`);
}

/**
 * A body that is put together and judged piece by piece, as it comes. To join 8 MB at its end would hold everybody up for
 * ten milliseconds.
 */
export class LargeBody {
  readonly #bounds = new JsonBounds();
  // Grows with what comes: what is only announced takes no memory, and makes V8 collect no garbage for it.
  #memory = new ArrayBuffer(FIRST_BYTES);
  #bytes = Buffer.from(this.#memory);
  #length = 0;

  /** @throws {HttpFailure} 413 */
  push(piece: Buffer): void {
    const length = this.#length + piece.length;
    if (length > this.#bytes.length) {
      // What was there is given back at once, and not when garbage is collected next.
      this.#memory = this.#memory.transfer(Math.max(length, this.#bytes.length * 2));
      this.#bytes = Buffer.from(this.#memory);
    }
    piece.copy(this.#bytes, this.#length);
    this.#length = length;
    refuse(this.#bounds.push(piece));
  }

  /** @throws {HttpFailure} 413 */
  whole(): Buffer {
    refuse(this.#bounds.verdict());
    return this.#bytes.subarray(0, this.#length);
  }
}
