/** What one namespace puts into the queue, and what it costs the others: a turn, and never all workers. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { systemClock } from '../../../../src/kube/client/clock.ts';
import { startWorkers, type Concurrency } from '../../../../src/kube/loop/keyed-controller.ts';
import type { GangRecord } from '../../../../src/gang/records.ts';
import { weightIn } from '../../../../src/controller/watch/gang-view.ts';
import { WorkQueue } from '../../../../src/kube/loop/work-queue.ts';
import { settled } from './fake-clock.ts';

const many = (namespace: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${namespace}/gang-${index}`);

/** Workers whose work ends when the test says so. */
function held(queue: WorkQueue, concurrency: Concurrency) {
  const atWork = new Map<string, () => void>();
  const began: string[] = [];
  const workers = startWorkers({
    queue,
    concurrency,
    // One that stands still: all that may begin do so in one turn of the event loop, however slow the machine.
    clock: { ...systemClock, now: () => 0 },
    reconcile: (key, signal) => {
      began.push(key);
      return new Promise((resolve) => {
        atWork.set(key, () => resolve());
        signal.addEventListener('abort', () => resolve());
      });
    },
  });
  const end = async (key: string): Promise<void> => {
    atWork.get(key)?.();
    atWork.delete(key);
    await settled();
  };
  const of = (namespace: string): number =>
    [...atWork.keys()].filter((key) => key.startsWith(`${namespace}/`)).length;
  return { atWork, began, end, of, stop: () => workers.stop(0) };
}

describe('the queue', () => {
  test('lets namespaces take turns: a thousand gangs of one are one turn for another', async () => {
    const queue = new WorkQueue();
    for (const key of [...many('flood', 1_000), 'good/a', 'other/a', 'good/b']) queue.add(key);
    const first = await Promise.all(Array.from({ length: 7 }, () => queue.take()));
    expect(first).toEqual([
      'flood/gang-0',
      'good/a',
      'other/a',
      'flood/gang-1',
      'good/b',
      'flood/gang-2',
      'flood/gang-3',
    ]);
  });

  test('keeps workers for those who come later, however long a namespace’s work takes', async () => {
    const queue = new WorkQueue();
    const { of, end, stop } = held(queue, 3);
    for (const key of many('flood', 50)) queue.add(key);
    await settled();
    expect(of('flood')).toBe(3);
    for (const key of many('good', 50)) queue.add(key);
    await settled();
    expect([of('flood'), of('good')]).toEqual([3, 2]);
    queue.add('third/a');
    await settled();
    expect(of('third')).toBe(1);
    // What ends makes room for whoever has least.
    await end('flood/gang-0');
    await end('flood/gang-1');
    expect([of('flood'), of('good'), of('third')]).toEqual([2, 2, 1]);
    await stop();
  });

  test('gives one namespace alone all that it may have at a time, also where that is one', async () => {
    for (const concurrency of [1, 2, 5]) {
      const queue = new WorkQueue();
      const { of, stop } = held(queue, concurrency);
      for (const key of many('only', 20)) queue.add(key);
      await settled();
      expect(of('only')).toBe(concurrency);
      await stop();
    }
  });

  test('what takes long counts as much: one namespace has few large gangs at work, and another’s small ones all the same', async () => {
    const groups: Readonly<Record<string, number>> = { large: 1_500, middle: 500, small: 250 };
    const get = (_namespace: string, name: string) =>
      ({
        spec: { groups: Array.from({ length: groups[name.split('-')[0] ?? ''] ?? 0 }) },
      }) as unknown as GangRecord;
    const weightOf = weightIn({ gangs: { get } });
    expect(['a/large-1', 'a/middle-1', 'a/small-1', 'a/unknown-1'].map(weightOf)).toEqual([6, 2, 1, 1]);

    const queue = new WorkQueue({ weightOf });
    const { atWork, of, end, stop } = held(queue, 5);
    for (let index = 0; index < 60; index += 1) queue.add(`flood/large-${index}`);
    for (let index = 0; index < 9; index += 1) queue.add(`other/middle-${index}`);
    await settled();
    expect([of('flood'), of('other')]).toEqual([1, 3]);
    for (let index = 0; index < 9; index += 1) queue.add(`good/small-${index}`);
    await settled();
    expect([of('flood'), of('other'), of('good')]).toEqual([1, 3, 3]);
    // Each of them is dealt with, however large: alone any may be worked on.
    let done = 0;
    for (let key = [...atWork.keys()][0]; key !== undefined; key = [...atWork.keys()][0], done += 1)
      await end(key);
    expect(done).toBe(60 + 9 + 9);
    await stop();
  });

  test('a number of workers that changes: more begin when there are more, and large gangs have the same share of them', async () => {
    let concurrency = 5;
    const queue = new WorkQueue({ weightOf: (key) => (key.startsWith('flood/') ? 6 : 1) });
    const { of, end, stop } = held(queue, () => concurrency);
    expect(queue.slots).toBe(10);
    for (const key of [...many('flood', 60), ...many('good', 60)]) queue.add(key);
    await settled();
    expect([of('flood'), of('good')]).toEqual([1, 5]);
    concurrency = 50;
    await end('good/gang-0');
    expect(queue.slots).toBe(100);
    // One of a hundred counts for sixty of them, as one of ten for six; the first one began among ten.
    expect([of('flood'), of('good')]).toEqual([2, 49]);
    await end('flood/gang-0');
    expect([of('flood'), of('good')]).toEqual([1, 50]);
    concurrency = 5;
    await end('flood/gang-1');
    expect([of('flood'), of('good')]).toEqual([0, 50]);
    for (let index = 1; index <= 50; index += 1) await end(`good/gang-${index}`);
    expect([of('flood'), of('good')]).toEqual([1, 5]);
    await stop();
  });

  test('without workers nothing has a share, whatever it weighs', async () => {
    const queue = new WorkQueue({ weightOf: () => 6 });
    for (const key of many('only', 3)) queue.add(key);
    for (const key of many('only', 3)) {
      expect(await queue.take()).toBe(key);
      queue.done(key);
    }
  });

  test('property: everybody’s keys are worked on, nobody has more than his share, and a turn comes soon', async () => {
    const additions = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 30 })), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(additions, fc.integer({ min: 1, max: 4 }), fc.nat(), async (added, share, seed) => {
        const queue = new WorkQueue();
        const { atWork, began, end, of, stop } = held(queue, share);
        const names = [...new Set(added.map(([namespace]) => `ns-${namespace}`))];
        const keys = new Set<string>();
        for (const [namespace, count] of added) {
          for (const key of many(`ns-${namespace}`, count)) keys.add(key);
          for (const key of many(`ns-${namespace}`, count)) queue.add(key);
          await settled();
        }
        for (let step = seed % 97; atWork.size > 0; step = (step * 31 + 7) % 9_973) {
          expect(atWork.size).toBeLessThanOrEqual(2 * share);
          for (const name of names) expect(of(name)).toBeLessThanOrEqual(share);
          // Whoever waits and has nothing under work waits only because all workers are busy.
          for (const name of names) {
            const waits = [...keys].some((key) => key.startsWith(`${name}/`) && !began.includes(key));
            if (waits && of(name) === 0) expect(atWork.size).toBe(2 * share);
          }
          await end([...atWork.keys()][step % atWork.size] as string);
        }
        expect(new Set(began)).toEqual(keys);
        await stop();
      }),
      { numRuns: 60 },
    );
  });
});
