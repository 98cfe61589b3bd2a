import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { systemClock } from '../../../../src/kube/client/clock.ts';
import { ApiError, unreachable } from '../../../../src/kube/client/errors.ts';
import {
  KeyedController,
  startWorkers,
  type KeyedControllerOptions,
  type Reconcile,
} from '../../../../src/kube/loop/keyed-controller.ts';
import { WorkQueue } from '../../../../src/kube/loop/work-queue.ts';
import { FakeClock, settled } from './fake-clock.ts';

const BACKOFF = { baseMs: 100, maxMs: 1_000 };
const queueAt = (clock: FakeClock, random = () => 1): WorkQueue =>
  new WorkQueue({ clock, random, backoff: BACKOFF });

describe('a controller by key', () => {
  const clock = new FakeClock();
  let term = new AbortController();
  let ended: Promise<void> | undefined;

  /** One that leads from now on. */
  function leading(
    reconcile: Reconcile,
    more: Partial<KeyedControllerOptions> = {},
    keys: readonly string[] = [],
  ): KeyedController {
    term = new AbortController();
    const controller = new KeyedController({
      ...{ name: 'toys', watches: [], concurrency: 2, clock, random: () => 1, backoff: BACKOFF },
      begin: () => ({ reconcile, keys }),
      ...more,
    });
    ended = controller.lead(term.signal);
    return controller;
  }

  const endTerm = async (): Promise<void> => {
    term.abort(new Error('another replica leads'));
    await clock.pass(500);
    await ended;
  };

  test('reconciles the keys it begins with, and those that are added', async () => {
    const seen: string[] = [];
    const controller = leading((key) => Promise.resolve(void seen.push(key)), {}, ['a/first']);
    controller.add('b/second');
    controller.addAfter('c/later', 300);
    await settled();
    expect(seen).toEqual(['a/first', 'b/second']);
    await clock.pass(300);
    expect(seen).toEqual(['a/first', 'b/second', 'c/later']);
    await endTerm();
  });

  test('lets others have the thread while it goes through keys that wait for nothing', async () => {
    let done = 0;
    const busy = (): Promise<void> => {
      for (const until = performance.now() + 1; performance.now() < until;);
      done += 1;
      return Promise.resolve();
    };
    const keys = Array.from({ length: 100 }, (_, index) => `a/${index}`);
    leading(busy, { clock: systemClock }, keys);
    await settled();
    expect(done).toBeLessThan(50);
    while (done < keys.length) await settled();
    await endTerm();
  });

  test('never runs one key twice at once, and runs it again where it was added meanwhile', async () => {
    const runs: (() => void)[] = [];
    const controller = leading(() => new Promise((resolve) => runs.push(resolve)));
    controller.add('a/gang');
    await settled();
    controller.add('a/gang');
    controller.add('a/gang');
    await settled();
    expect(runs).toHaveLength(1);
    runs[0]?.();
    await settled();
    expect(runs).toHaveLength(2);
    runs[1]?.();
    await settled();
    expect(runs).toHaveLength(2);
    await endTerm();
  });

  test('lets a key that fails wait longer each time, and says so', async () => {
    const told: [string, string, number][] = [];
    let retried = 0;
    const controller = leading((key) => Promise.reject(new Error(`no ${key}`)), {
      failed: (key, error, retryInMs) => told.push([key, (error as Error).message, retryInMs]),
      retried: () => (retried += 1),
    });
    controller.add('a/gang');
    await clock.pass(300);
    expect(told).toEqual([
      ['a/gang', 'no a/gang', 100],
      ['a/gang', 'no a/gang', 200],
      ['a/gang', 'no a/gang', 400],
    ]);
    expect(retried).toBe(3);
    await endTerm();
  });

  test('runs a key again after the time that its result asks for', async () => {
    const at: number[] = [];
    const controller = leading(() =>
      Promise.resolve(at.push(clock.now()) === 1 ? { requeueAfterMs: 700 } : undefined),
    );
    controller.add('a/gang');
    await clock.pass(10_000);
    expect(at).toHaveLength(2);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(700);
    await endTerm();
  });

  test('runs nothing while it does not lead, and begins each term anew', async () => {
    const seen: string[] = [];
    let begun = 0;
    const reconcile: Reconcile = (key) => Promise.resolve(void seen.push(key));
    const controller = new KeyedController({
      ...{ name: 'toys', watches: [], concurrency: 1, clock, eventsWait: true },
      begin: () => ({ reconcile, keys: [`term/${(begun += 1)}`] }),
    });
    controller.add('a/before');
    controller.addAfter('a/before', 10);
    await clock.pass(20);
    expect([controller.leads, controller.busy(), controller.queue, seen]).toEqual([
      false,
      false,
      undefined,
      [],
    ]);
    for (const which of [1, 2]) {
      term = new AbortController();
      const lead = controller.lead(term.signal);
      expect([controller.leads, controller.busy(), controller.queue?.longestRunningMs]).toEqual([
        true,
        true,
        0,
      ]);
      await settled();
      expect(seen.pop()).toBe(`term/${which}`);
      controller.addAfter('a/later', 1_000);
      term.abort();
      await lead;
      controller.add('a/after');
      await clock.pass(2_000);
      expect([controller.leads, seen]).toEqual([false, []]);
    }
  });

  test('counts as busy only where Events are to wait for its work', async () => {
    const never: Reconcile = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    const quiet = leading(never, {}, ['a/gang']);
    expect(quiet.busy()).toBe(false);
    await endTerm();
    const urgent = leading(never, { eventsWait: true }, ['a/gang']);
    expect(urgent.busy()).toBe(true);
    await endTerm();
    expect(urgent.busy()).toBe(false);
  });

  test('waits for what runs when its term ends, and aborts it after the deadline', async () => {
    const log: string[] = [];
    const hangs: Reconcile = (key, signal) =>
      new Promise((_, reject) => {
        log.push(`began ${key}`);
        signal.addEventListener('abort', () => {
          log.push(`aborted ${key}`);
          reject(new Error('aborted'));
        });
      });
    const controller = leading(hangs, {
      begin: () => ({ reconcile: hangs, end: () => void log.push('the term ends') }),
      failed: () => log.push('failed'),
    });
    controller.add('a/gang');
    await settled();
    let over = false;
    term.abort();
    void ended?.then(() => (over = true));
    await clock.pass(499);
    expect([over, log]).toEqual([false, ['began a/gang', 'the term ends']]);
    await clock.pass(1);
    expect([over, log]).toEqual([true, ['began a/gang', 'the term ends', 'aborted a/gang']]);
  });

  test('does not wait for the deadline where nothing hangs', async () => {
    let finish: (() => void) | undefined;
    leading(() => new Promise((resolve) => (finish = resolve)), {}, ['a/gang']);
    await settled();
    term.abort();
    finish?.();
    await expect(ended).resolves.toBeUndefined();
  });

  test('gives its term up where it cannot begin', async () => {
    const controller = leading(() => Promise.resolve(), {
      begin: () => {
        throw new Error('no memory');
      },
    });
    await expect(ended).rejects.toThrow('no memory');
    expect(controller.leads).toBe(false);
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
