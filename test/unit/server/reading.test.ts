import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { isLong, Reading } from '../../../src/server/reading.ts';

const KIB = 1024;

/** A body of which any amount is there at once. */
function body(reading: Reading, address: string, kib: number, isAnswered = () => false) {
  const request = new Readable({ read: () => undefined, highWaterMark: 16 * KIB * KIB });
  for (let sent = 0; sent < kib; sent += 16) request.push(Buffer.alloc(16 * KIB));
  request.push(null);
  reading.slowDown(request as IncomingMessage, address, isAnswered);
  let read = 0;
  let ended = false;
  request.on('data', (chunk: Buffer) => (read += chunk.length / KIB));
  request.on('end', () => (ended = true));
  return { read: () => read, ended: () => ended };
}

describe('a large body', () => {
  test('is read 256 KiB at a time, and to its end', async () => {
    const one = body(new Reading(), 'a', 1000);
    const seen = new Set<number>();
    while (!one.ended()) {
      await nextRound();
      seen.add(one.read());
    }
    expect([...seen].filter((kib) => kib > 0)).toEqual([256, 512, 768, 1008]);
  });

  test('is read 64 KiB at a time once it has its answer, since the rest is thrown away', async () => {
    const one = body(new Reading(), 'a', 500, () => one.read() >= 256);
    const seen = new Set<number>();
    while (!one.ended()) {
      await nextRound();
      seen.add(one.read());
    }
    expect([...seen].filter((kib) => kib > 0)).toEqual([256, 320, 384, 448, 512]);
  });

  test('takes turns with those of other addresses', async () => {
    const reading = new Reading();
    const many = Array.from({ length: 4 }, () => body(reading, 'a', 2048));
    const other = body(reading, 'b', 1024);
    while (!other.ended()) await nextRound();
    // Each had its first part at once; from then on `b` had every second turn.
    expect(many.reduce((sum, one) => sum + one.read(), 0)).toBeLessThan(3072);
    while (many.some((one) => !one.ended())) await nextRound();
    expect(many.map((one) => one.read())).toEqual([2048, 2048, 2048, 2048]);
  });
});

test.each([
  [undefined, true],
  ['8192', false],
  [String(KIB * KIB), false],
  [String(KIB * KIB + 1), true],
])('a body announced with %s bytes may be large: %s', (length, long) => {
  expect(isLong({ headers: { 'content-length': length } } as IncomingMessage)).toBe(long);
});
