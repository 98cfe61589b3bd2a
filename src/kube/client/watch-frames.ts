import {
  messageWith,
  messageField,
  int32Field,
  readMessage,
  textField,
  type Message,
} from '../../protobuf/message.ts';
import { DELIMITED, Wire } from '../../protobuf/wire.ts';
import { messageOf } from '../../errors.ts';
import type { Json } from '../../json/json.ts';
import { printable } from '../../text/printable.ts';
import { bytesIn, inPortions } from './answer-stream.ts';
import { isWatchEvent } from './watch-events.ts';

/** What is no protobuf of a watch: JSON is asked for from then on. */
export class Illegible extends Error {
  constructor(cause: unknown) {
    super(`protobuf that cannot be read, JSON comes next: ${messageOf(cause)}`, { cause });
  }
}

/** What a watch asks for that reads protobuf: resources that are not served so, and errors of proxies, are JSON. */
export const PROTOBUF_OR_JSON = 'application/vnd.kubernetes.protobuf;stream=watch,application/json';

export const isProtobuf = (contentType: string | undefined): boolean =>
  contentType?.startsWith('application/vnd.kubernetes.protobuf') === true;

/** Bytes of the length before each event. */
const LENGTH = 4;
/** The largest event (bytes): etcd accepts objects of 1.5 MiB. A larger one would only fill the memory. */
const MAX_FRAME = 16 * 1024 * 1024;

/** Bytes of the buffer that all but large events are read from. */
const USUAL = 256 * 1024;

/**
 * Splits the bytes of a watch in protobuf into its events, wherever the network has split them.
 *
 * Events of one batch lie in a buffer that the next batch overwrites: a list of 100,000 Pods would else leave half a
 * gigabyte of buffers to the garbage collection.
 * @throws when the stream ends inside an event, which was lost then
 * @throws {Illegible} for the length of an event that is too large
 */
export async function* framesOf(stream: AsyncIterable<readonly Buffer[]>): AsyncGenerator<Buffer[], void> {
  let buffer: Buffer = Buffer.allocUnsafeSlow(USUAL);
  let filled = 0;
  for await (const pieces of inPortions(stream)) {
    const size = filled + bytesIn(pieces);
    if (size > buffer.length) buffer = moved(buffer, filled, Math.max(size, 2 * buffer.length));
    for (const piece of pieces) filled += piece.copy(buffer, filled);
    const frames: Buffer[] = [];
    let at = 0;
    while (at + LENGTH <= filled) {
      const length = buffer.readUInt32BE(at);
      if (length > MAX_FRAME) throw new Illegible(`an event of ${length} bytes`);
      if (at + LENGTH + length > filled) break;
      at += LENGTH;
      frames.push(buffer.subarray(at, at + length));
      at += length;
    }
    if (frames.length > 0) yield frames;
    buffer.copyWithin(0, at, filled);
    filled -= at;
    if (buffer.length > USUAL && filled < USUAL) buffer = moved(buffer, filled, USUAL);
  }
  if (filled > 0) throw new Error('the stream ended inside an event');
}

function moved(from: Buffer, bytes: number, size: number): Buffer {
  const to = Buffer.allocUnsafeSlow(size);
  from.copy(to, 0, 0, bytes);
  return to;
}

/** `k8s` and a zero byte, before each object. */
const MAGIC = Buffer.from('k8s\0');
/** The numbers of the fields of an event, of what holds its object, and of that object's bytes. */
const TYPE = 1;
const OBJECT = 2;
const RAW = 1;
const RAW_OF_UNKNOWN = 2;

/** The Status of an error, as far as it is read. */
const STATUS = messageWith({
  3: textField('message'),
  4: textField('reason'),
  5: messageField('details', messageWith({ 5: int32Field('retryAfterSeconds') })),
  6: int32Field('code'),
});

/** Reads an event as JSON has it, with these fields of its object. @throws {Illegible} for what is none */
export function readEvent(frame: Buffer, fields: Message): { type: string; object: Json } {
  try {
    const event = readFrame(frame, fields);
    if (event.type === 'ERROR' || isWatchEvent(event)) return event;
    throw new Error(`no event of a watch, of the type "${printable(event.type, 40)}"`);
  } catch (cause) {
    throw new Illegible(cause);
  }
}

function readFrame(frame: Buffer, fields: Message): { type: string; object: Json } {
  const wire = new Wire(frame);
  const type = findField(wire, frame.length, TYPE) ? wire.text() : '';
  wire.at = 0;
  const found = findField(wire, frame.length, OBJECT) && findField(wire, wire.enter(), RAW);
  const object = found ? readObject(wire, wire.enter(), type === 'ERROR' ? STATUS : fields) : undefined;
  return { type, object: object ?? null };
}

/** The text of an error's answer; a Status in protobuf as JSON. @throws for a Status that is cut off */
export const errorText = (bytes: Buffer): string =>
  JSON.stringify(readObject(new Wire(bytes), bytes.length, STATUS)) ?? bytes.toString();

function readObject(wire: Wire, end: number, fields: Message): Json | undefined {
  if (!wire.goesOnWith(MAGIC)) return undefined;
  return findField(wire, end, RAW_OF_UNKNOWN) ? readMessage(wire, wire.enter(), fields) : undefined;
}

/** Goes on to a field of stated length, whose length comes next then. @returns false where the message has none */
function findField(wire: Wire, end: number, number: number): boolean {
  while (wire.at < end) {
    const tag = wire.varint();
    if (tag === ((number << 3) | DELIMITED)) return true;
    wire.skip(tag & 7);
  }
  return false;
}
