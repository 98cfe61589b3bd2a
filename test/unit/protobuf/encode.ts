/** Protocol Buffers as Kubernetes writes them, for tests: each function returns the bytes of one field. */

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  while (left >= 0x80n) {
    bytes.push(Number(left & 0x7fn) | 0x80);
    left >>= 7n;
  }
  return Buffer.from([...bytes, Number(left)]);
}

const tag = (number: number, type: number): Buffer => varint((number << 3) | type);

export const integer = (number: number, value: number | bigint): Buffer =>
  Buffer.concat([tag(number, 0), varint(value)]);

export const bytes = (number: number, value: Buffer | string): Buffer => {
  const content = Buffer.from(value as string);
  return Buffer.concat([tag(number, 2), varint(content.length), content]);
};

export const nested = (number: number, ...fields: readonly Buffer[]): Buffer =>
  bytes(number, Buffer.concat(fields));

export const fixed = (number: number, length: 4 | 8): Buffer =>
  Buffer.concat([tag(number, length === 4 ? 5 : 1), Buffer.alloc(length, 7)]);

/** An entry of a map. */
export const entry = (number: number, key: string, value: Buffer | string): Buffer =>
  nested(number, bytes(1, key), bytes(2, value));

/** An object, as it is stored and sent. */
export const unknown = (kind: string, ...fields: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('k8s\0'), nested(1, bytes(1, 'v1'), bytes(2, kind)), nested(2, ...fields)]);

/** An event of a watch: its length, its type and its object. */
export function frame(type: string, object: Buffer): Buffer {
  const event = Buffer.concat([bytes(1, type), nested(2, bytes(1, object))]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}
