import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startWorkers } from '../../../../src/kube/loop/work-queue-workers.ts';
import { ApiError, unreachable } from '../../../../src/kube/client/errors.ts';
import { WorkQueue } from '../../../../src/kube/loop/work-queue.ts';
import { FakeClock, settled } from './fake-clock.ts';

const BACKOFF = { baseMs: 100, maxMs: 1_000 };
const queueAt = (clock: FakeClock, random = () => 1): WorkQueue =>
  new WorkQueue({ clock, random, backoff: BACKOFF });

describe('the queue', () => {
  test('holds a key once, and gives keys in order', async () => {
    const queue = queueAt(new FakeClock());
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
    expect(queue.depth).toBe(3);
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual(['a', 'b', 'c']);
    expect(queue.depth).toBe(0);
  });

  test('gives a key that is added under work again afterwards, once', async () => {
    const queue = queueAt(new FakeClock());
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await queue.take()).toBe('a');
    queue.done('a');
    expect(queue.depth).toBe(0);
  });

  test('lets takers wait for a key, and for the end', async () => {
    const queue = queueAt(new FakeClock());
    const [first, second, third] = [queue.take(), queue.take(), queue.take()];
    queue.add('a');
    queue.add('b');
    expect([await first, await second]).toEqual(['a', 'b']);
    queue.close();
    expect(await third).toBeUndefined();
    queue.add('c');
    queue.addAfter('c', 10);
    expect(await queue.take()).toBeUndefined();
  });

  test('delays a key until the earliest of its times', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    queue.addAfter('a', 500);
    queue.addAfter('a', 300);
    queue.addAfter('a', 900);
    await clock.pass(299);
    expect(queue.depth).toBe(0);
    await clock.pass(1);
    expect(queue.depth).toBe(1);
    queue.addAfter('b', 0);
    expect(queue.depth).toBe(2);
  });

  test('does not cancel what was to come later when the key comes now', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    queue.addAfter('a', 500);
    queue.add('a');
    queue.done((await queue.take()) ?? '');
    await clock.pass(500);
    expect(queue.depth).toBe(1);
  });

  test('retries later and later, up to a limit, and from the start after a success', () => {
    const queue = queueAt(new FakeClock());
    const waits = Array.from({ length: 6 }, () => queue.retry('a'));
    expect(waits).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(queue.retry('b')).toBe(100);
    queue.forget('a');
    expect(queue.retry('a')).toBe(100);
  });

  test('waits no longer than the limit of a kind of failure, and those past it count no more', () => {
    const queue = queueAt(new FakeClock());
    expect(Array.from({ length: 9 }, () => queue.retry('a', 300))).toEqual([100, 200, ...Array(7).fill(300)]);
    expect(queue.retry('a')).toBe(400);
  });

  test('spreads retries over the upper half of the wait', () => {
    const values = [0, 0.25, 0.999];
    const queue = queueAt(new FakeClock(), () => values.shift() ?? 0);
    expect([queue.retry('a'), queue.retry('b'), queue.retry('c')].map(Math.round)).toEqual([50, 63, 100]);
  });

  test('says how long the first has been ready', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock });
    expect(queue.oldestMs).toBe(0);
    queue.add('a');
    await clock.pass(100);
    queue.add('b');
    await clock.pass(50);
    expect(queue.oldestMs).toBe(150);
    await queue.take();
    expect(queue.oldestMs).toBe(50);
  });

  test('says how long the longest work has taken, and tells of retries', async () => {
    const clock = new FakeClock();
    let retried = 0;
    const queue = new WorkQueue({ clock, random: () => 0, retried: () => (retried += 1) });
    queue.add('a');
    await clock.pass(20);
    await queue.take();
    await clock.pass(30);
    expect([queue.longestRunningMs, queue.depth]).toEqual([30, 0]);
    queue.retry('a');
    queue.done('a');
    await clock.pass(25);
    expect([queue.longestRunningMs, queue.depth, retried]).toEqual([0, 1, 1]);
  });
});

describe('workers', () => {
  test('go on at once when the API server is back, however long it was away', async () => {
    const clock = new FakeClock();
    const queue = new WorkQueue({ clock, random: () => 1 });
    let failure: Error | undefined = unreachable('patch pods', 'https://a', new Error('refused'));
    let done = 0;
    const reconcile = (): Promise<void> => {
      if (failure !== undefined) return Promise.reject(failure);
      done += 1;
      return Promise.resolve();
    };
    const workers = startWorkers({ queue, clock, concurrency: 1, reconcile });
    queue.add('a');
    await clock.pass(10 * 60_000);
    failure = new ApiError('patch pods', { status: 403, message: 'roles not read yet' });
    await clock.pass(30_000);
    failure = undefined;
    await clock.pass(2_000);
    expect(done).toBe(1);
    await workers.stop();
  });

  test('retry what throws, and come back when asked to', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    const seen: string[] = [];
    const failures: unknown[] = [];
    const workers = startWorkers({
      queue,
      clock,
      concurrency: 2,
      failed: (key, error, retryInMs) => failures.push([key, (error as Error).message, retryInMs]),
      reconcile: (key) => {
        const times = seen.filter((one) => one === key).length;
        seen.push(key);
        if (key === 'flaky' && times < 2) return Promise.reject(new Error('not yet'));
        return Promise.resolve(key === 'later' && times === 0 ? { requeueAfterMs: 700 } : undefined);
      },
    });
    for (const key of ['flaky', 'later', 'fine']) queue.add(key);
    await clock.pass(2_000);
    expect(seen.filter((key) => key === 'flaky')).toHaveLength(3);
    expect(seen.filter((key) => key === 'later')).toHaveLength(2);
    expect(failures).toEqual([
      ['flaky', 'not yet', 100],
      ['flaky', 'not yet', 200],
    ]);
    expect(queue.retry('flaky')).toBe(100);
    await workers.stop();
  });

  test.each([0, 0.5, 0.999])(
    'what fails for ever is tried a few times at first and then at most twice a minute (%d)',
    async (chance) => {
      const clock = new FakeClock();
      let retried = 0;
      const queue = new WorkQueue({
        clock,
        random: () => chance,
        retried: () => (retried += 1),
      });
      const tries: number[] = [];
      const workers = startWorkers({
        queue,
        clock,
        concurrency: 5,
        reconcile: () => {
          tries.push(clock.now());
          return Promise.reject(new Error('403'));
        },
      });
      queue.add('gang');
      await clock.pass(60_000);
      const [first, rest] = [tries.length, 60];
      expect(first).toBeLessThanOrEqual(14);
      await clock.pass(rest * 60_000);
      const later = tries.length - first;
      expect(later).toBeLessThanOrEqual(2 * rest + 1);
      expect(later).toBeGreaterThanOrEqual(rest - 1);
      expect(retried).toBe(tries.length);
      await workers.stop(0);
    },
  );

  test('stop: work under way may end, no more is begun, and what hangs is aborted', async () => {
    const clock = new FakeClock();
    const queue = queueAt(clock);
    const log: string[] = [];
    const workers = startWorkers({
      queue,
      clock,
      concurrency: 1,
      reconcile: (key, signal) =>
        new Promise((_, reject) => {
          log.push(`began ${key}`);
          signal.addEventListener('abort', () => {
            log.push(`aborted ${key}`);
            reject(new Error('aborted'));
          });
        }),
    });
    queue.add('a');
    queue.add('b');
    await settled();
    const stopped = workers.stop(1_000);
    await clock.pass(999);
    expect(log).toEqual(['began a']);
    await clock.pass(1);
    await stopped;
    expect(log).toEqual(['began a', 'aborted a']);
  });
});

/** What may happen from outside; `work` finishes the oldest work under way, well or badly. */
const happening = fc.oneof(
  fc.record({ do: fc.constant('add' as const), key: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('after' as const), key: fc.integer({ min: 0, max: 4 }), ms: fc.nat(500) }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.nat(300) }),
  fc.record({ do: fc.constant('finish' as const), nth: fc.nat(3), ok: fc.boolean() }),
);

test('no key is ever lost, and none is worked on twice at a time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { maxLength: 60 }),
      fc.integer({ min: 1, max: 3 }),
      async (history, concurrency) => {
        const clock = new FakeClock();
        const queue = queueAt(clock, () => 0.5);
        const wanted = new Map<string, number>();
        const under = new Map<string, (ok: boolean) => void>();
        let versions = 0;
        const workers = startWorkers({
          queue,
          clock,
          concurrency,
          reconcile: async (key) => {
            expect(under.has(key)).toBe(false);
            expect(under.size).toBeLessThan(concurrency);
            const saw = wanted.get(key);
            const ok = await new Promise<boolean>((resolve) => under.set(key, resolve));
            under.delete(key);
            if (!ok) throw new Error('failed');
            // Whoever added it meanwhile wants another look: only what was seen is done with.
            if (wanted.get(key) === saw) wanted.delete(key);
          },
        });
        const want = (key: number): string => {
          wanted.set(`k${key}`, (versions += 1));
          return `k${key}`;
        };
        for (const step of history) {
          if (step.do === 'add') queue.add(want(step.key));
          else if (step.do === 'after') queue.addAfter(want(step.key), step.ms);
          else if (step.do === 'pass') await clock.pass(step.ms);
          else [...under.values()][step.nth % Math.max(under.size, 1)]?.(step.ok);
          await settled();
        }
        for (let round = 0; round < 20; round += 1) {
          for (const finish of [...under.values()]) finish(true);
          await clock.pass(2_000);
        }
        expect([...wanted.keys()]).toEqual([]);
        expect([queue.depth, queue.longestRunningMs, clock.waiting]).toEqual([0, 0, 0]);
        await workers.stop();
      },
    ),
    { numRuns: 150 },
  );
});
