import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { TokenBucket } from '../../../../src/kube/client/token-bucket.ts';
import type { Clock } from '../../../../src/kube/client/clock.ts';
import { FakeClock, settled } from '../loop/fake-clock.ts';

/** Takes as many at once, and notes when each of them went through. */
function taking(bucket: TokenBucket, clock: FakeClock, count: number): { name: number; at: number }[] {
  const gone: { name: number; at: number }[] = [];
  const from = clock.now();
  for (let name = 0; name < count; name += 1)
    void bucket.take().then(() => gone.push({ name, at: Math.round(clock.now() - from) }));
  return gone;
}

describe('a token bucket', () => {
  test('lets the burst through at once, and the rest in order at its rate', async () => {
    const clock = new FakeClock();
    const waits: number[] = [];
    const bucket = new TokenBucket({ qps: 10, burst: 3, clock, waited: (ms) => waits.push(Math.round(ms)) });
    const gone = taking(bucket, clock, 6);
    await clock.pass(0);
    expect(gone.map(({ name }) => name)).toEqual([0, 1, 2]);
    await clock.pass(1_000);
    expect(gone.slice(3)).toEqual([
      { name: 3, at: 100 },
      { name: 4, at: 200 },
      { name: 5, at: 300 },
    ]);
    expect(waits).toEqual([100, 200, 300]);
    expect(clock.waiting).toBe(0);
  });

  test('gathers tokens while nobody takes any, but no more than the burst', async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ qps: 10, burst: 3, clock });
    await clock.pass(60_000);
    const gone = taking(bucket, clock, 5);
    await clock.pass(0);
    expect(gone).toHaveLength(3);
  });

  test('nobody overtakes where the alarm comes late, as it does in a busy process', async () => {
    let now = 0;
    const alarms: (() => void)[] = [];
    const late: Clock = {
      now: () => now,
      date: () => new Date(now),
      after: (_, callback) => {
        alarms.push(callback);
        return () => undefined;
      },
    };
    const bucket = new TokenBucket({ qps: 10, burst: 1, clock: late });
    await bucket.take();
    const gone: string[] = [];
    void bucket.take().then(() => gone.push('first'));
    now = 150;
    void bucket.take().then(() => gone.push('second'));
    await settled();
    expect(gone).toEqual([]);
    alarms[0]?.();
    await settled();
    expect(gone).toEqual(['first']);
  });

  test('one that gives up loses its place to nobody’s harm', async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ qps: 1, burst: 1, clock });
    await bucket.take();
    const enough = new AbortController();
    const given = bucket.take(enough.signal);
    const gone = taking(bucket, clock, 1);
    enough.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await clock.pass(1_000);
    expect(gone).toEqual([{ name: 0, at: 1_000 }]);
    await expect(bucket.take(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    expect(clock.waiting).toBe(0);
  });

  test('when the last one gives up no alarm is left', async () => {
    const clock = new FakeClock();
    const bucket = new TokenBucket({ qps: 1, burst: 1, clock });
    await bucket.take();
    const enough = new AbortController();
    const given = bucket.take(enough.signal);
    expect(clock.waiting).toBe(1);
    enough.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    expect(clock.waiting).toBe(0);
  });

  test('a burst of 0 is one of 1: otherwise nothing would ever go through', async () => {
    const clock = new FakeClock();
    const gone = taking(new TokenBucket({ qps: 2, burst: 0, clock }), clock, 2);
    await clock.pass(500);
    expect(gone.map(({ at }) => at)).toEqual([0, 500]);
  });

  test('in any history nobody overtakes, and no stretch of time sees more than burst + rate × time', async () => {
    const step = fc.record({ pass: fc.integer({ min: 0, max: 400 }), take: fc.integer({ min: 0, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 5 }),
        fc.array(step, { maxLength: 12 }),
        async (qps, burst, steps) => {
          const clock = new FakeClock();
          const bucket = new TokenBucket({ qps, burst, clock });
          const gone: { name: number; at: number }[] = [];
          let asked = 0;
          for (const { pass, take } of steps) {
            for (let n = 0; n < take; n += 1) {
              const name = asked++;
              void bucket.take().then(() => gone.push({ name, at: clock.now() }));
            }
            await clock.pass(pass);
          }
          await clock.pass((asked / qps) * 1000 + 1_000);
          expect(gone.map(({ name }) => name)).toEqual(Array.from({ length: asked }, (_, n) => n));
          gone.forEach(({ at: from }, first) => {
            gone.slice(first).forEach(({ at }, more) => {
              expect(more + 1).toBeLessThanOrEqual(burst + ((at - from) * qps) / 1000 + 1e-3);
            });
          });
        },
      ),
      { numRuns: 60 },
    );
  });
});
