/** How many calls are in flight: what makes the window larger and smaller, whose turn it is, what an aborted call leaves. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CallWindow, MOST_CALLS } from '../../../../src/kube/loop/call-window.ts';
import { FakeClock, settled } from './fake-clock.ts';

const LEAST = 16;
let clock: FakeClock;
let window: CallWindow;
let ends: { lane: string; end: () => void }[];
beforeEach(() => {
  clock = new FakeClock();
  window = new CallWindow(clock);
  ends = [];
});

const call = (lane: string, signal?: AbortSignal): Promise<void> =>
  window.run(lane, () => new Promise((resolve) => ends.push({ lane, end: resolve })), { signal });
const calls = (lane: string, count: number): Promise<void>[] =>
  Array.from({ length: count }, () => call(lane));
const began = (lane: string): number => ends.filter((one) => one.lane === lane).length;
/** One call after the other ends with such an answer. */
const answers = async (count: number, status: number | undefined, ms = 5): Promise<void> => {
  for (let at = 0; at < count; at += 1) {
    window.answered('patch', status, ms);
    ends.shift()?.end();
    await settled();
  }
};

describe('the window', () => {
  test('grows by one with each answer in time while calls wait, up to its most', async () => {
    void calls('a', 10_000);
    await settled();
    await answers(LEAST, 200);
    expect(window.limit).toBe(2 * LEAST);
    await answers(MOST_CALLS, 201);
    expect(window.limit).toBe(MOST_CALLS);
  });

  test('stays where nothing waits, where answers take longer, and with what is not compared', async () => {
    window.answered('patch', 200, 5);
    expect(window.limit).toBe(LEAST);
    void calls('a', 1_000);
    await settled();
    await answers(5, 200, 31);
    window.answered('list', 200, 1);
    window.answered('watch', 200);
    window.answered('patch', 409, 31);
    expect(window.limit).toBe(LEAST);
    await answers(5, 200, 30);
    expect(window.limit).toBe(LEAST + 5);
  });

  test('takes an API server that has become slower for the new measure', async () => {
    void calls('a', 1_000);
    await settled();
    await answers(1, 200, 5);
    await clock.pass(3_001);
    await answers(1, 200, 400);
    await clock.pass(3_001);
    expect(window.limit).toBe(LEAST + 1);
    await answers(3, 200, 400);
    expect(window.limit).toBe(LEAST + 4);
  });

  test('shrinks by what is refused, down to its least, and by half where an answer is lost', async () => {
    void calls('a', 5_000);
    await settled();
    await answers(MOST_CALLS, 200);
    const [before] = [window.limit];
    for (const status of [429, 503, 504]) window.answered('patch', status, 1);
    expect(window.limit).toBe(before - 15);
    window.answered('patch', undefined);
    window.answered('patch', undefined);
    expect(window.limit).toBe(Math.floor((before - 15) / 2));
    await clock.pass(1_001);
    for (let at = 0; at < 100; at += 1) window.answered('evict', 429, 1);
    expect(window.limit).toBeGreaterThan(LEAST);
    for (let at = 0; at < 100; at += 1) window.answered('create', 429, 1);
    window.answered('patch', undefined);
    expect(window.limit).toBe(LEAST);
  });

  test('a tenth of refusals leaves it growing', async () => {
    void calls('a', 5_000);
    await settled();
    for (let at = 0; at < 100; at += 1) {
      await answers(9, 200);
      window.answered('patch', 429, 1);
    }
    expect(window.limit).toBe(MOST_CALLS - 5);
  });

  test('starts anew after it was idle', async () => {
    const all = calls('a', 500);
    await settled();
    await answers(500, 200);
    await Promise.all(all);
    expect(window).toMatchObject({ limit: MOST_CALLS, inFlight: 0, waiting: 0 });
    await clock.pass(30_001);
    void call('a');
    expect(window.limit).toBe(LEAST);
  });
});

describe('lanes', () => {
  test('a quarter is for those with nothing in flight, and those that wait take turns', async () => {
    void calls('a', 100);
    await settled();
    expect(began('a')).toBe((LEAST * 3) / 4);
    void calls('b', 100);
    void calls('c', 1);
    await settled();
    expect([began('b'), began('c')]).toEqual([LEAST / 4, 0]);
    for (let at = 0; at < 3; at += 1) {
      ends.shift()?.end();
      await settled();
    }
    expect(began('c')).toBe(1);
    expect(window.inFlight).toBe(LEAST);
  });

  test('what fails gives its place back, and who is aborted loses only his own', async () => {
    await expect(window.run('a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(window.inFlight).toBe(0);
    void calls('a', 100);
    const abort = new AbortController();
    const waiting = call('a', abort.signal);
    abort.abort(new Error('over'));
    await expect(waiting).rejects.toThrow('over');
    await expect(call('b', abort.signal)).rejects.toThrow('over');
    void calls('b', 100);
    await settled();
    while (ends.length > 0) {
      ends.shift()?.end();
      await settled();
      expect(window.inFlight).toBeLessThanOrEqual(LEAST);
    }
    expect(window).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  test('what comes first does so in its lane alone', async () => {
    void calls('a', LEAST);
    void calls('b', LEAST);
    await settled();
    const began: string[] = [];
    const named = (lane: string, name: string, first: boolean): Promise<void> =>
      window.run(lane, () => Promise.resolve(void began.push(name)), { first });
    const all = [named('c', 'c1', false), named('c', 'c2', false), named('d', 'd1', false)];
    all.push(named('c', 'gate', true), named('c', 'gate 2', true));
    while (ends.length > 0) {
      ends.shift()?.end();
      await settled();
    }
    await Promise.all(all);
    expect(began).toEqual(['gate', 'd1', 'gate 2', 'c1', 'c2']);
  });

  test('a call that rests leaves its place to another, and then comes first; or not, where it is aborted meanwhile', async () => {
    const rests: (() => void)[] = [];
    const began: string[] = [];
    const abort = new AbortController();
    const twice = (name: string): Promise<void> =>
      window.run(
        'a',
        async (resting) => {
          await resting(new Promise((resolve) => rests.push(resolve)));
          began.push(name);
        },
        { signal: abort.signal },
      );
    const tried = twice('again');
    await settled();
    expect(window.inFlight).toBe(0);
    void calls('a', 100);
    await settled();
    rests.shift()?.();
    await settled();
    expect(began).toEqual([]);
    ends.shift()?.end();
    await tried;
    expect(began).toEqual(['again']);

    const given = expect(twice('given up')).rejects.toThrow('over');
    while (rests.length === 0) {
      ends.shift()?.end();
      await settled();
    }
    void calls('a', 100);
    await settled();
    rests.shift()?.();
    await settled();
    abort.abort(new Error('over'));
    await given;
    while (ends.length > 0) {
      ends.shift()?.end();
      await settled();
    }
    expect(window).toMatchObject({ inFlight: 0, waiting: 0 });
    expect(began).toEqual(['again']);
  });

  test('whatever is answered, no more are in flight than may be, and each call has its turn', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ lane: fc.constantFrom('a', 'b', 'c'), many: fc.integer({ min: 1, max: 60 }) }),
        fc.record({ status: fc.constantFrom(200, 409, 429, 504, undefined), ms: fc.integer({ max: 300 }) }),
      ),
      { maxLength: 80 },
    );
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        clock = new FakeClock();
        window = new CallWindow(clock);
        ends = [];
        const all: Promise<void>[] = [];
        for (const step of given) {
          const before = window.inFlight;
          if ('lane' in step) all.push(...calls(step.lane, step.many));
          else await answers(1, step.status, step.ms);
          await settled();
          expect(window.limit).toBeGreaterThanOrEqual(LEAST);
          expect(window.limit).toBeLessThanOrEqual(MOST_CALLS);
          expect(window.inFlight).toBeLessThanOrEqual(Math.max(before, window.limit));
          expect(window.inFlight).toBe(ends.length);
        }
        while (ends.length > 0) {
          ends.shift()?.end();
          await settled();
        }
        await Promise.all(all);
      }),
      { numRuns: 60 },
    );
  });
});
