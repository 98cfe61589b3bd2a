import { describe, expect, test } from '@jest/globals';
import { WorkQueue } from '../../../../src/kube/loop/work-queue.ts';
import { FakeClock } from './fake-clock.ts';

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
