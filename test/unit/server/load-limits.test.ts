import { describe, expect, test } from '@jest/globals';
import { LoadLimits } from '../../../src/server/load-limits.ts';

const limits = (): { load: LoadLimits; shed: string[] } => {
  const shed: string[] = [];
  const load = new LoadLimits({ maxBodyBytes: 100, maxInFlightBytes: 150, maxInFlight: 3 }, (reason) =>
    shed.push(reason),
  );
  return { load, shed };
};

describe('load limits', () => {
  test('what was taken is given back once', () => {
    const { load } = limits();
    const slot = load.enter(60);
    slot.grow(40); // already announced
    slot.grow(30); // ten more than announced
    expect([load.requests, load.bytes]).toEqual([1, 70]);
    slot.release();
    slot.release();
    slot.grow(50);
    expect([load.requests, load.bytes]).toEqual([0, 0]);
  });

  test('a body that is too large is refused for good, whether announced or not', () => {
    const { load, shed } = limits();
    expect(() => load.enter(101)).toThrow(expect.objectContaining({ code: 413, retryAfter: undefined }));
    const slot = load.enter(0);
    slot.grow(100);
    expect(() => slot.grow(1)).toThrow(expect.objectContaining({ code: 413 }));
    expect(load.bytes).toBe(100);
    expect(shed).toEqual([]);
  });

  test('no room is refused for now', () => {
    const { load, shed } = limits();
    load.enter(90);
    expect(() => load.enter(61)).toThrow(expect.objectContaining({ code: 503, retryAfter: 1 }));
    const growing = load.enter(0);
    expect(() => growing.grow(61)).toThrow(expect.objectContaining({ code: 503 }));
    load.enter(0);
    expect(() => load.enter(0)).toThrow(/3 requests in flight, at most 3/);
    expect(shed).toEqual(['bytes', 'bytes', 'requests']);
    expect([load.requests, load.bytes]).toEqual([3, 90]);
  });
});
