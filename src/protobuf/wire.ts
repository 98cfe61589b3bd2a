import { plain } from '../json/unread-lists.ts';

/** A varint has at most ten bytes. */
const MAX_VARINT = 10;

/** How a field is written, by the last three bits of its tag. */
export const VARINT = 0;
const FIXED_64 = 1;
export const DELIMITED = 2;
const FIXED_32 = 5;

/** Reads the wire format of Protocol Buffers from one place to the next. @throws for what is not of that format */
export class Wire {
  at = 0;
  readonly #bytes: Buffer;
  readonly #view: Uint8Array;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#view = plain(bytes);
  }

  /** An unsigned integer: exact up to 2^53. */
  varint(): number {
    const first = this.#byte();
    if (first < 0x80) return first;
    let value = first & 0x7f;
    let unit = 0x80;
    for (let index = 1; index < MAX_VARINT; index += 1) {
      const byte = this.#byte();
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) return value;
      unit *= 0x80;
    }
    throw new Error('a varint without an end');
  }

  /** A signed integer of 32 bits, of which a negative one is written with 64. */
  int32(): number {
    let value = 0;
    for (let index = 0; index < MAX_VARINT; index += 1) {
      const byte = this.#byte();
      if (index < 5) value |= (byte & 0x7f) << (7 * index);
      if (byte < 0x80) return value;
    }
    throw new Error('a varint without an end');
  }

  /** Goes into something of stated length. @returns where that ends */
  enter(): number {
    const length = this.varint();
    const end = this.at + length;
    if (end > this.#view.length) throw new Error(`a field of ${length} bytes where there are fewer`);
    return end;
  }

  text(): string {
    const end = this.enter();
    const text = this.#bytes.toString('utf8', this.at, end);
    this.at = end;
    return text;
  }

  /** Passes these bytes. @returns false, at the same place, where others follow */
  goesOnWith(bytes: Buffer): boolean {
    if (bytes.some((byte, index) => this.#view[this.at + index] !== byte)) return false;
    this.at += bytes.length;
    return true;
  }

  skip(type: number): void {
    if (type === DELIMITED) this.at = this.enter();
    else if (type === VARINT) this.varint();
    else if (type === FIXED_64) this.at += 8;
    else if (type === FIXED_32) this.at += 4;
    else throw new Error(`a field of the unknown type ${type}`);
  }

  #byte(): number {
    const byte = this.#view[this.at];
    if (byte === undefined) throw new Error('a message that ends inside a field');
    this.at += 1;
    return byte;
  }
}
