import { describe, expect, test } from '@jest/globals';
import { newPeer } from '../../../src/server/connection.ts';
import type { HttpFailure } from '../../../src/server/failure.ts';
import {
  LARGE_BYTES,
  AdmissionLimiter,
  type Limits,
  type Slot,
} from '../../../src/server/admission-limiter.ts';

interface Tried {
  readonly load: AdmissionLimiter;
  readonly shed: string[];
  /** Numbers of the requests that had to give way, in order. */
  readonly gaveWay: number[];
  readonly enter: (contentLength: number, address?: string) => Slot;
}

const limits = (
  what: Limits = { maxBodyBytes: 100, maxInFlightBytes: 150, maxInFlight: 3 },
  now = { ms: 0 },
): Tried => {
  const shed: string[] = [];
  const load = new AdmissionLimiter(
    what,
    (reason) => shed.push(reason),
    () => now.ms,
  );
  const gaveWay: number[] = [];
  const peers = new Map<string, ReturnType<typeof newPeer>>();
  let count = 0;
  const enter = (contentLength: number, address = '10.0.0.1'): Slot => {
    const number = (count += 1);
    const peer = peers.get(address) ?? newPeer(address);
    peers.set(address, peer);
    return load.admit(contentLength, peer, now.ms + number / 1000, (failure: HttpFailure) => {
      expect(failure).toMatchObject({ code: 503, retryAfter: 1 });
      gaveWay.push(number);
    });
  };
  return { load, shed, gaveWay, enter };
};

describe('load limits', () => {
  test('what was taken is given back once', () => {
    const { load, enter } = limits();
    const slot = enter(60);
    slot.grow(40); // already announced
    slot.grow(30); // ten more than announced
    expect([load.requests, load.bytes]).toEqual([1, 70]);
    slot.release();
    slot.release();
    expect(() => slot.grow(50)).toThrow(expect.objectContaining({ code: 503 }));
    expect([load.requests, load.bytes]).toEqual([0, 0]);
  });

  test('a body that is too large is refused for good, whether announced or not', () => {
    const { load, shed, enter } = limits();
    expect(() => enter(101)).toThrow(expect.objectContaining({ code: 413, retryAfter: undefined }));
    const slot = enter(0);
    slot.grow(100);
    expect(() => slot.grow(1)).toThrow(expect.objectContaining({ code: 413 }));
    expect(load.bytes).toBe(100);
    expect(shed).toEqual([]);
  });

  test('no room is refused for now', () => {
    const { load, shed, enter } = limits();
    enter(90);
    expect(() => enter(61)).toThrow(expect.objectContaining({ code: 503, retryAfter: 1 }));
    const growing = enter(0);
    expect(() => growing.grow(61)).toThrow(expect.objectContaining({ code: 503 }));
    enter(0);
    expect(() => enter(0)).toThrow(/3 requests in flight, at most 3/);
    expect(shed).toEqual(['bytes', 'bytes', 'requests']);
    expect([load.requests, load.bytes]).toEqual([3, 90]);
  });

  describe('who gives way while its body is not there yet', () => {
    const three = { maxBodyBytes: 100, maxInFlightBytes: 300, maxInFlight: 3 };

    test('the oldest of the peer that has the most, where a newcomer’s would have less', () => {
      const { load, shed, gaveWay, enter } = limits(three);
      enter(10, 'many');
      enter(10, 'many');
      enter(10, 'many');
      enter(10, 'one');
      expect(gaveWay).toEqual([1]);
      // Two and one: with one more both would have two.
      expect(() => enter(10, 'one')).toThrow(/3 requests in flight/);
      expect([gaveWay, shed]).toEqual([[1], ['requests', 'requests']]);
      expect(load.requests).toBe(3);
    });

    test('by bytes as well, as many as are needed, and while a body grows', () => {
      const { load, gaveWay, enter } = limits({ ...three, maxInFlight: 9 });
      for (let count = 0; count < 3; count += 1) enter(100, 'many');
      const one = enter(0, 'one');
      one.grow(100);
      expect([gaveWay, load.bytes]).toEqual([[1], 300]);
      enter(60, 'other');
      expect([gaveWay, load.bytes]).toEqual([[1, 2], 260]);
    });

    test('not one whose body is there', () => {
      const { gaveWay, enter } = limits(three);
      for (let count = 0; count < 3; count += 1) enter(10, 'many').received();
      expect(() => enter(10, 'one')).toThrow(/3 requests in flight/);
      expect(gaveWay).toEqual([]);
    });

    test('of one peer alone the oldest, once it is slow', () => {
      const now = { ms: 0 };
      const { gaveWay, enter } = limits(three, now);
      for (let count = 0; count < 3; count += 1) enter(10);
      now.ms = 1000;
      expect(() => enter(10)).toThrow(/3 requests in flight/);
      now.ms = 1002;
      enter(10);
      expect(gaveWay).toEqual([1]);
    });
  });

  test('large reviews leave a quarter of the bytes to the others, but one of the largest always fits', () => {
    const most = 4 * LARGE_BYTES;
    const { enter } = limits({ maxBodyBytes: 2 * LARGE_BYTES, maxInFlightBytes: most, maxInFlight: 9 });
    enter(2 * LARGE_BYTES).received();
    expect(() => enter(2 * LARGE_BYTES)).toThrow(/bytes of reviews in flight/);
    enter(LARGE_BYTES).received();
    enter(LARGE_BYTES).received();
    expect(() => enter(1)).toThrow(/bytes of reviews in flight/);
    const whole = limits({ maxBodyBytes: most, maxInFlightBytes: most, maxInFlight: 9 });
    whole.enter(most);
  });
});
