/** The part of Protocol Buffers that estimators use: strings, bytes, integers and messages. */

const VARINT = 0;
const EIGHT_BYTES = 1;
const BYTES = 2;
const FOUR_BYTES = 5;

/** An encoded field of a message. */
export type Field = Buffer;

export const message = (...fields: readonly (Field | readonly Field[])[]): Buffer =>
  Buffer.concat(fields.flat());

export const bytes = (number: number, value: Buffer): Field =>
  Buffer.concat([varint(BigInt((number << 3) | BYTES)), varint(BigInt(value.length)), value]);

/** An empty string is omitted: a missing field is decoded as empty. */
export const text = (number: number, value: string): readonly Field[] =>
  value === '' ? [] : [bytes(number, Buffer.from(value))];

export const integer = (number: number, value: number): readonly Field[] =>
  value === 0 ? [] : [message(varint(BigInt((number << 3) | VARINT)), varint(BigInt(value)))];

/** Negative numbers are encoded in 64 bits. */
function varint(value: bigint): Buffer {
  const found: number[] = [];
  let left = BigInt.asUintN(64, value);
  while (left > 0x7fn) {
    found.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  found.push(Number(left));
  return Buffer.from(found);
}

/**
 * Decodes an integer field of a message, 0 when it is missing. Other fields are skipped.
 * @throws RangeError when the message is malformed
 */
export function integerIn(encoded: Buffer, number: number): number {
  let at = 0;
  let found = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = encoded[at];
      if (byte === undefined) break;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('the answer is no protocol buffer');
  };
  while (at < encoded.length) {
    const tag = Number(BigInt.asUintN(32, next()));
    const kind = tag & 7;
    if (kind === VARINT) {
      const value = Number(BigInt.asIntN(64, next()));
      if (tag >>> 3 === number) found = value;
    } else if (kind === BYTES) at += Number(BigInt.asUintN(32, next()));
    else if (kind === EIGHT_BYTES) at += 8;
    else if (kind === FOUR_BYTES) at += 4;
    else throw new RangeError('the answer is no protocol buffer');
  }
  if (at > encoded.length) throw new RangeError('the answer is no protocol buffer');
  return found;
}
