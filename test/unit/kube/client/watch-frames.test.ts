import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { errorText, framesOf, isProtobuf, readEvent } from '../../../../src/kube/client/watch-frames.ts';
import { MEMBER_POD_FIELDS } from '../../../../src/controller/watch/member-pod-fields.ts';
import { bytes, entry, frame, integer, nested, unknown } from '../../protobuf/encode.ts';

const pod = (name: string): Buffer =>
  unknown('Pod', nested(1, bytes(1, name), bytes(2, ''), bytes(6, '7'), entry(11, 'app', 'llama')));
const events = [
  frame('ADDED', pod('a')),
  frame('MODIFIED', pod('b'.repeat(5_000))),
  frame('DELETED', pod('c')),
];

async function read(pieces: readonly Buffer[]): Promise<unknown[]> {
  // eslint-disable-next-line @typescript-eslint/require-await -- a stream is asynchronous
  const stream = async function* (): AsyncGenerator<readonly Buffer[]> {
    for (const piece of pieces) yield [piece];
  };
  const found: unknown[] = [];
  for await (const frames of framesOf(stream()))
    found.push(...frames.map((each) => readEvent(each, MEMBER_POD_FIELDS)));
  return found;
}
const named = (type: string, name: string): object => ({
  type,
  object: { metadata: { name, resourceVersion: '7', labels: { app: 'llama' } } },
});
const ALL = [named('ADDED', 'a'), named('MODIFIED', 'b'.repeat(5_000)), named('DELETED', 'c')];

test('events are whole, wherever the network splits them', async () => {
  const whole = Buffer.concat(events);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: whole.length }), { maxLength: 8 }), async (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), whole.length];
      const pieces = at.slice(1).map((end, index) => whole.subarray(at[index], end));
      expect(await read(pieces)).toEqual(ALL);
    }),
  );
  expect(await read(Array.from(whole, (_, index) => whole.subarray(index, index + 1)))).toEqual(ALL);
});

test('a stream that ends inside an event has lost it', async () => {
  const whole = Buffer.concat(events);
  await expect(read([whole.subarray(0, -1)])).rejects.toThrow('the stream ended inside an event');
  await expect(read([whole.subarray(0, 3)])).rejects.toThrow('the stream ended inside an event');
});

test('an event of a gigabyte is refused before it is waited for', async () => {
  await expect(read([Buffer.from([0x40, 0, 0, 0, 1])])).rejects.toThrow(
    'protobuf that cannot be read, JSON comes next: an event of 1073741824 bytes',
  );
});

const EXPIRED = unknown(
  'Status',
  bytes(2, 'Failure'),
  bytes(3, 'too old'),
  bytes(4, 'Expired'),
  nested(5, integer(5, 3)),
  integer(6, 410),
);
const AS_JSON = { message: 'too old', reason: 'Expired', details: { retryAfterSeconds: 3 }, code: 410 };

test('the object of an error is a Status', () => {
  expect(readEvent(frame('ERROR', EXPIRED).subarray(4), MEMBER_POD_FIELDS)).toEqual({
    type: 'ERROR',
    object: AS_JSON,
  });
});

test('an answer that is an error may be a Status in protobuf, or any text', () => {
  expect(JSON.parse(errorText(EXPIRED))).toEqual(AS_JSON);
  expect(errorText(Buffer.from('Too many requests'))).toBe('Too many requests');
  expect(errorText(Buffer.alloc(0))).toBe('');
});

test.each([
  ['no object', bytes(1, 'ADDED')],
  ['an empty object', Buffer.concat([bytes(1, 'ADDED'), nested(2)])],
  ['an object in JSON', Buffer.concat([bytes(1, 'ADDED'), nested(2, bytes(1, '{"metadata":{}}'))])],
  ['an object without content', Buffer.concat([bytes(1, 'ADDED'), nested(2, bytes(1, 'k8s\0'))])],
  ['an object without a name', frame('ADDED', unknown('Pod', nested(1, bytes(6, '7')))).subarray(4)],
])('an event with %s is none', (_, given) => {
  expect(() => readEvent(given, MEMBER_POD_FIELDS)).toThrow(
    'protobuf that cannot be read, JSON comes next: no event of a watch, of the type "ADDED"',
  );
});

test('protobuf is told from JSON by the Content-Type', () => {
  const types = ['application/vnd.kubernetes.protobuf;stream=watch', 'application/json', undefined];
  expect(types.map(isProtobuf)).toEqual([true, false, false]);
});
