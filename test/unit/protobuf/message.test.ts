import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Json } from '../../../src/json/json.ts';
import {
  boolField,
  int32Field,
  messagesField,
  messageWith,
  messageField,
  quantityMapField,
  readMessage,
  textField,
  textMapField,
  textsField,
  timeField,
} from '../../../src/protobuf/message.ts';
import { Wire } from '../../../src/protobuf/wire.ts';
import { bytes, entry, fixed, integer, nested, varint } from './encode.ts';

const THING = messageWith({
  1: textField('name'),
  2: int32Field('priority'),
  3: boolField('controller'),
  4: textsField('command'),
  5: messagesField('gates', messageWith({ 1: textField('name') })),
  6: textMapField('labels'),
  7: quantityMapField('limits'),
  8: timeField('at'),
  900: messageField('far', messageWith({ 1: textField('away') })),
});
const read = (...fields: readonly Buffer[]): Json => {
  const all = Buffer.concat(fields);
  return readMessage(new Wire(all), all.length, THING);
};

test('reads each kind of field as JSON has it', () => {
  expect(
    read(
      bytes(1, 'größe'),
      integer(2, -10),
      integer(3, 1),
      bytes(4, 'python'),
      bytes(4, ''),
      nested(5, bytes(1, 'a')),
      nested(5),
      entry(6, 'app', 'llama'),
      entry(6, 'empty', ''),
      entry(6, '__proto__', 'a label like any other'),
      entry(7, 'cpu', bytes(1, '500m')),
      nested(8, integer(1, 1_795_766_400), integer(2, 5)),
      nested(900, bytes(1, 'y')),
    ),
  ).toEqual(
    JSON.parse(`{
      "name": "größe", "priority": -10, "controller": true, "command": ["python", ""], "gates": [{"name": "a"}, {}],
      "labels": {"app": "llama", "empty": "", "__proto__": "a label like any other"}, "limits": {"cpu": "500m"},
      "at": "2026-11-27T08:00:00Z", "far": {"away": "y"}
    }`),
  );
});

test.each<[string, Buffer, Json]>([
  ['an empty text', bytes(1, ''), {}],
  ['a zero time', nested(8), {}],
  ['a priority of 0', integer(2, 0), { priority: 0 }],
  ['the least priority', integer(2, -2_147_483_648), { priority: -2_147_483_648 }],
  ['the highest priority', integer(2, 2_000_001_000), { priority: 2_000_001_000 }],
  ['nothing', Buffer.alloc(0), {}],
])('%s is what JSON has for it', (_, given, expected) => {
  expect(read(given)).toEqual(expected);
});

test.each<[string, Buffer, string]>([
  [
    'a text that is longer than the message',
    Buffer.concat([varint(10), varint(99)]),
    '99 bytes where there are',
  ],
  ['an integer in the place of a text', integer(1, 7), 'name is written as type 0'],
  ['a text in the place of an integer', bytes(2, 'x'), 'priority is written as type 2'],
  ['a group', varint((50 << 3) | 3), 'the unknown type 3'],
  ['a varint that does not end', Buffer.concat([varint(16), Buffer.alloc(12, 0xff)]), 'without an end'],
  [
    'the same where nobody reads it',
    Buffer.concat([varint(50 << 3), Buffer.alloc(12, 0xff)]),
    'without an end',
  ],
  ['a message that ends in a field', varint(16), 'ends inside a field'],
  ['an inner message whose field is longer', nested(5, Buffer.from([10, 9])), 'bytes where there are fewer'],
  [
    'one that reads into the next',
    Buffer.concat([nested(5, Buffer.from([10, 3])), bytes(1, 'abc')]),
    'after its',
  ],
])('%s is refused', (_, given, why) => {
  expect(() => read(given)).toThrow(why);
});

const name = fc.string({ minLength: 1 });
const thing = fc.record(
  {
    name,
    priority: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    controller: fc.boolean(),
    command: fc.array(fc.string(), { minLength: 1 }),
    labels: fc.dictionary(fc.string(), fc.string(), { minKeys: 1 }),
    far: fc.record({ away: name }),
  },
  { requiredKeys: [] },
);
/** Fields that nobody reads, as later releases add them. */
const others = fc.array(
  fc.oneof(
    fc
      .tuple(fc.integer({ min: 10, max: 899 }), fc.uint8Array())
      .map(([at, value]) => bytes(at, Buffer.from(value))),
    fc
      .tuple(fc.integer({ min: 10, max: 899 }), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
      .map(([at, value]) => integer(at, value)),
    fc
      .tuple(fc.integer({ min: 10, max: 899 }), fc.constantFrom(4 as const, 8 as const))
      .map(([at, length]) => fixed(at, length)),
  ),
);

test('reads what was written, whatever other fields are beside it', () => {
  fc.assert(
    fc.property(thing, others, others, (given, before, after) => {
      const { name: called, priority, controller, command, labels, far } = given;
      const written = [
        ...(called === undefined ? [] : [bytes(1, called)]),
        ...(priority === undefined ? [] : [integer(2, priority)]),
        ...(controller === undefined ? [] : [integer(3, controller ? 1 : 0)]),
        ...(command ?? []).map((word) => bytes(4, word)),
        ...Object.entries(labels ?? {}).map(([key, value]) => entry(6, key, value)),
        ...(far === undefined ? [] : [nested(900, bytes(1, far.away))]),
      ];
      expect(read(...before, ...written, ...after)).toEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});

test('any bytes are a message or an Error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (given) => {
      try {
        expect(typeof read(Buffer.from(given))).toBe('object');
      } catch (error) {
        expect((error as Error).constructor).toBe(Error);
      }
    }),
    { numRuns: 2_000 },
  );
});
