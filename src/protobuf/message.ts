import type { Json } from '../json/json.ts';
import { DELIMITED, VARINT, type Wire } from './wire.ts';

/** A field of a message, as JSON has it. */
interface Field {
  readonly name: string;
  readonly type: typeof VARINT | typeof DELIMITED;
  /** @returns undefined for what JSON leaves out */
  readonly read: (wire: Wire) => Json | undefined;
  readonly repeated: 'no' | 'list' | 'map';
}

/** The fields of a message that are read, by their numbers; all others are skipped. */
export type Message = readonly (Field | undefined)[];

type Kind = (name: string) => Field;
type Fields = Readonly<Record<number, Field>>;

/** @param fields by their numbers in Kubernetes' generated.proto */
export function messageWith(fields: Fields): Message {
  const byNumber: (Field | undefined)[] = [];
  for (const [number, field] of Object.entries(fields)) byNumber[Number(number)] = field;
  return Array.from(byNumber);
}

const once =
  (type: Field['type'], read: Field['read']): Kind =>
  (name) => ({ name, type, read, repeated: 'no' });

/** Kubernetes writes empty texts, which its JSON leaves out. */
export const textField = once(DELIMITED, (wire) => wire.text() || undefined);
/** Only fields that may be absent: others are written as 0 or false, too. */
export const int32Field = once(VARINT, (wire) => wire.int32());
export const boolField = once(VARINT, (wire) => wire.varint() !== 0);
export const textsField: Kind = (name) => ({
  ...{ name, type: DELIMITED, repeated: 'list' },
  read: (wire) => wire.text(),
});

const reader =
  (fields: Message): Field['read'] =>
  (wire) =>
    readMessage(wire, wire.enter(), fields);
export const messageField = (name: string, fields: Message): Field => once(DELIMITED, reader(fields))(name);
export const messagesField = (name: string, fields: Message): Field => ({
  ...messageField(name, fields),
  repeated: 'list',
});

/** To the second, as JSON has it; a zero time is an empty message. */
export const timeField = once(DELIMITED, (wire) => {
  const { seconds } = readMessage(wire, wire.enter(), TIME) as { seconds?: number };
  return seconds === undefined ? undefined : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
});
const TIME = messageWith({ 1: once(VARINT, (wire) => wire.varint())('seconds') });

/** A map is a list of messages with a key and a value. */
const mapOf =
  (value: Field): Kind =>
  (name) => {
    const entry = messageWith({ 1: textField('key'), 2: value });
    return { name, type: DELIMITED, read: reader(entry), repeated: 'map' };
  };
export const textMapField = mapOf(textField('value'));
/** Amounts by resource, each a message with the text. */
export const quantityMapField = mapOf(
  once(DELIMITED, (wire) => {
    const { string } = readMessage(wire, wire.enter(), QUANTITY) as { string?: string };
    return string;
  })('value'),
);
const QUANTITY = messageWith({ 1: textField('string') });

/** Reads a message from the present place to `end`. @throws for what is no such message */
export function readMessage(wire: Wire, end: number, fields: Message): Record<string, Json> {
  const object: Record<string, Json> = {};
  while (wire.at < end) {
    const tag = wire.varint();
    const type = tag & 7;
    const field = fields[tag >>> 3];
    if (field === undefined) {
      wire.skip(type);
      continue;
    }
    if (field.type !== type) throw new Error(`${field.name} is written as type ${type}`);
    const value = field.read(wire);
    if (value === undefined) continue;
    if (field.repeated === 'no') object[field.name] = value;
    else if (field.repeated === 'list') ((object[field.name] ??= []) as Json[]).push(value);
    else putEntry((object[field.name] ??= {}) as Record<string, Json>, value);
  }
  if (wire.at !== end) throw new Error('a field that ends after its message');
  return object;
}

function putEntry(map: Record<string, Json>, entry: Json): void {
  const { key = '', value = '' } = entry as { key?: string; value?: Json };
  // Assigned, it would be the prototype.
  if (key === '__proto__') Object.defineProperty(map, key, { value, enumerable: true });
  else map[key] = value;
}
