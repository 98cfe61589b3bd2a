import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isLarge, isLong, Reading } from '../../../src/server/reading.ts';

const KIB = 1024;

/** A body of which any amount is there at once. */
function body(
  reading: Reading,
  address: string,
  kib: number,
  { isAnswered = () => false, announced = kib }: { isAnswered?: () => boolean; announced?: number } = {},
) {
  const request = new Readable({ read: () => undefined, highWaterMark: 16 * KIB * KIB });
  for (let sent = 0; sent < kib; sent += 16) request.push(Buffer.alloc(16 * KIB));
  request.push(null);
  const headers = { 'content-length': String(announced * KIB) };
  reading.slowDown(Object.assign(request, { headers }) as unknown as IncomingMessage, address, isAnswered);
  let read = 0;
  let ended = false;
  request.on('data', (chunk: Buffer) => (read += chunk.length / KIB));
  request.on('end', () => (ended = true));
  return { read: () => read, ended: () => ended };
}

describe('a large body', () => {
  test('is read 256 KiB at a time, and to its end', async () => {
    const one = body(new Reading(), 'a', 1000, { announced: 2000 });
    const seen = new Set<number>();
    while (!one.ended()) {
      await nextRound();
      seen.add(one.read());
    }
    expect([...seen].filter((kib) => kib > 0)).toEqual([256, 512, 768, 1008]);
  });

  test('is read 64 KiB at a time once it has its answer, since the rest is thrown away', async () => {
    const one = body(new Reading(), 'a', 500, { isAnswered: () => one.read() >= 256, announced: 2000 });
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
    const other = body(reading, 'b', 1024, { announced: 1025 });
    while (!other.ended()) await nextRound();
    // Each had its first part at once; from then on `b` had every second turn.
    expect(many.reduce((sum, one) => sum + one.read(), 0)).toBeLessThan(3072);
    while (many.some((one) => !one.ended())) await nextRound();
    expect(many.map((one) => one.read())).toEqual([2048, 2048, 2048, 2048]);
  });
});

describe('a body of less than a megabyte', () => {
  /** The most that was read in one round, KiB, and what was read in all. */
  async function rounds(bodies: readonly ReturnType<typeof body>[]): Promise<[number, number]> {
    const read = (): number => bodies.reduce((sum, one) => sum + one.read(), 0);
    let [most, before] = [0, 0];
    while (bodies.some((one) => !one.ended())) {
      await nextRound();
      most = Math.max(most, read() - before);
      before = read();
    }
    return [most, before];
  }

  test('is read as it comes where it is alone, and so is one round after the other', async () => {
    const reading = new Reading();
    for (let index = 0; index < 3; index += 1) {
      expect(await rounds([body(reading, 'a', 1008)])).toEqual([1008, 1008]);
      await nextRound();
    }
  });

  test('is read in parts where many come at once, of one address: no round is as long as all of them', async () => {
    const reading = new Reading();
    const bodies = Array.from({ length: 96 }, () => body(reading, 'a', 912));
    const [most, all] = await rounds(bodies);
    expect(all).toBe(96 * 912);
    // A megabyte, and of each of the others the piece that was already on its way.
    expect(most).toBeLessThanOrEqual(1024 + 96 * 16);
  });

  test('property: whatever comes, all is read, and no round is longer than that', async () => {
    const given = fc.array(
      fc.record({ kib: fc.integer({ min: 4, max: 63 }), of: fc.constantFrom('a', 'b') }),
      {
        minLength: 1,
        maxLength: 40,
      },
    );
    await fc.assert(
      fc.asyncProperty(given, async (some) => {
        const reading = new Reading();
        const bodies = some.map(({ kib, of }) => body(reading, of, 16 * kib));
        const [most, all] = await rounds(bodies);
        expect(all).toBe(some.reduce((sum, { kib }) => sum + 16 * kib, 0));
        expect(most).toBeLessThanOrEqual(1024 + 16 * some.length + 256);
      }),
      { numRuns: 40 },
    );
  });
});

test.each([
  ['65536', false],
  ['65537', true],
  [undefined, true],
])('a body announced with %s bytes is read in parts beside others: %s', (length, large) => {
  expect(isLarge({ headers: { 'content-length': length } } as IncomingMessage)).toBe(large);
});

test.each([
  [undefined, true],
  ['8192', false],
  [String(KIB * KIB), false],
  [String(KIB * KIB + 1), true],
])('a body announced with %s bytes may be large: %s', (length, long) => {
  expect(isLong({ headers: { 'content-length': length } } as IncomingMessage)).toBe(long);
});
